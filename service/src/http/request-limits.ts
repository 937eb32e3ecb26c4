import { createHash } from 'node:crypto';
import { BlockList } from 'node:net';
import type { Context } from 'hono';
import { Rates } from '../limits/rates.ts';
import type { Refusal } from '../limits/rates.ts';
import { rateWindow } from '../limits/rate-share.ts';
import type { Counters } from '../limits/rate-share.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { clientAddress, clientNetwork } from './client-address.ts';
import type { TrustedProxies } from './client-address.ts';
import { ServiceError } from './errors.ts';

/** How much may be asked for in a minute, over all nodes; 0 for no limit, as is what is not given. */
export interface RequestRates {
  /** Runs of one tenant's plugins. */
  readonly tenantRuns?: number;
  /** Runs of one environment's plugins. */
  readonly environmentRuns?: number;
  /** Requests with one token, but for runs. */
  readonly tokenRequests?: number;
  /** Requests of one address without a token that is good. */
  readonly addressRequests?: number;
}

export interface RequestLimitsOptions {
  readonly rates?: RequestRates;
  /** The proxies whose word on who the client is counts (default: none). */
  readonly trustedProxies?: TrustedProxies;
  /** How long a request waits for a share in ms, before the database counts as lost; see {@link Rates} for the default. */
  readonly leaseTimeout?: number;
  /** The clock: milliseconds since the epoch. */
  readonly now: () => number;
}

/** One of the rates, with its name in the headers and what messages call it. */
interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly what: string;
}

/**
 * Refuses, with 429, what is past a rate. To be asked before the body of a request is read. Each method returns a promise
 * only where it has to wait for this node's share.
 */
export class RequestLimits {
  readonly #rates: Rates;
  readonly #now: () => number;
  readonly #trustedProxies: TrustedProxies;
  readonly #tenantRuns: Policy;
  readonly #environmentRuns: Policy;
  readonly #tokenRequests: Policy;
  readonly #addressRequests: Policy;

  constructor(counters: Counters, options: RequestLimitsOptions) {
    const { rates = {}, trustedProxies, leaseTimeout, now } = options;
    this.#rates = new Rates(counters, { now, ...(leaseTimeout !== undefined && { leaseTimeout }) });
    this.#now = now;
    this.#trustedProxies = trustedProxies ?? new BlockList();
    const policy = (name: string, quota = 0, what: string): Policy => ({ name, quota, what });
    this.#tenantRuns = policy('tenant-runs', rates.tenantRuns, 'runs a minute for this tenant');
    this.#environmentRuns = policy(
      'environment-runs',
      rates.environmentRuns,
      'runs a minute for this environment',
    );
    this.#tokenRequests = policy('token-requests', rates.tokenRequests, 'requests a minute with one token');
    this.#addressRequests = policy(
      'address-requests',
      rates.addressRequests,
      'requests a minute of one address without a valid token',
    );
  }

  /** Counts a run for its tenant and its environment. Throws 429 where either has had all of theirs. */
  async takeRun({ environment, tenant }: PluginKey): Promise<void> {
    const tenantKey = rateKey('tenant', environment, tenant);
    if (this.#tenantRuns.quota) await this.#take(this.#tenantRuns, tenantKey);
    if (!this.#environmentRuns.quota) return;
    try {
      await this.#take(this.#environmentRuns, rateKey('environment', environment));
    } catch (error) {
      // One tenant that the environment has no more runs for has not had this one.
      if (this.#tenantRuns.quota) this.#rates.refund(tenantKey);
      throw error;
    }
  }

  /**
   * Counts a request with a token, whose hash this is, around the look-up that finds out whether it is good: before it where
   * the token was good a moment ago, so that a request too many costs no look-up, else after it, so that only tokens that
   * are good are remembered. Throws 429 where the token has had all of its requests.
   */
  async takeToken<T>(hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#tokenRequests;
    if (!policy.quota) return lookUp();
    const key = `token ${Buffer.from(hash).toString('base64url')}`;
    const isKnown = this.#rates.has(key);
    if (isKnown) await this.#take(policy, key);
    const found = await lookUp();
    if (!isKnown) await this.#take(policy, key);
    return found;
  }

  /** Counts a request without a token that is good for the client's address. Throws 429 where it has had all of its own. */
  async takeAddress(c: Context): Promise<void> {
    const policy = this.#addressRequests;
    if (!policy.quota) return;
    const address = clientAddress(c, this.#trustedProxies);
    if (address !== undefined) await this.#take(policy, `address ${clientNetwork(address)}`);
  }

  close(): void {
    this.#rates.close();
  }

  async #take(policy: Policy, key: string): Promise<void> {
    const refusal = await this.#rates.take(key, policy.quota);
    if (refusal) throw tooManyRequests(policy, refusal, this.#now());
  }
}

/** The longest key that is written out, in characters: an index of the database takes no keys of some thousand bytes. */
const longestKey = 200;

/** Written out, which costs less than a hash, unless the names are long. */
function rateKey(kind: string, ...names: readonly string[]): string {
  const key = `${kind} ${JSON.stringify(names)}`;
  return key.length <= longestKey ? key : `${kind} ${createHash('sha256').update(key).digest('base64url')}`;
}

/** The answer past a rate, with the headers of draft-ietf-httpapi-ratelimit-headers. */
function tooManyRequests({ name, quota, what }: Policy, { endsAt }: Refusal, now: number): ServiceError {
  const seconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
  return new ServiceError(
    429,
    'too-many-requests',
    `The limit of ${quota} ${what} is reached; try again in ${seconds} s.`,
    {
      headers: {
        'retry-after': String(seconds),
        ratelimit: `"${name}";r=0;t=${seconds}`,
        'ratelimit-policy': `"${name}";q=${quota};w=${rateWindow / 1000}`,
      },
    },
  );
}
