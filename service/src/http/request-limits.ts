import { createHash } from 'node:crypto';
import { BlockList } from 'node:net';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import { Throttle } from '../limits/throttle.ts';
import { Rates } from '../limits/rates.ts';
import type { RateExceeded } from '../limits/rates.ts';
import { rateWindow } from '../limits/rate-share.ts';
import type { Counters } from '../limits/rate-share.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { clientAddress, clientNetwork } from './client-address.ts';
import type { TrustedProxies } from './client-address.ts';
import { ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';
import { StorageUnavailableError } from '../storage/unavailable.ts';

/** How many requests and runs are permitted in a minute, over all nodes; 0 or nothing for no limit. */
export interface RequestRates {
  /** Runs of one tenant's plugins. */
  readonly tenantRuns?: number;
  /** Runs of one environment's plugins. */
  readonly environmentRuns?: number;
  /** Requests with one token, but for runs. */
  readonly tokenRequests?: number;
  /** Requests of one address without a valid token. */
  readonly addressRequests?: number;
}

export interface RequestLimitsOptions {
  readonly rates?: RequestRates;
  /** The proxies whose `X-Forwarded-For` is believed (default: none). */
  readonly trustedProxies?: TrustedProxies;
  /** How long a request waits for a lease before the database counts as lost, in ms; see {@link Rates} for the default. */
  readonly leaseTimeout?: number;
  /** The clock: milliseconds since the epoch. */
  readonly now: () => number;
}

/** One of the rates. */
interface Policy {
  /** Its name in the headers of a response. */
  readonly name: string;
  /** How many are permitted in a minute; 0 for no limit. */
  readonly quota: number;
  /** What is counted, for messages, such as "runs a minute for this tenant". */
  readonly counted: string;
}

/** How many tokens that were valid are remembered, and for how long after their last use, in ms. */
const validTokens = { max: 50_000, ttl: 2 * rateWindow };

/** How fast unknown tokens are looked up for an address that is past its rate, because a valid one may be among them. */
const lookUpThrottle = { interval: 100, waiting: 20 };

/** Refuses, with 429, requests that are past a rate. To be called before the body of a request is read. */
export class RequestLimits {
  readonly #rates: Rates;
  readonly #now: () => number;
  readonly #trustedProxies: TrustedProxies;
  /** The tokens that were valid a short while ago, by their hash. */
  readonly #validTokens = new LRUCache<string, true>(validTokens);
  readonly #lookUps = new Throttle(lookUpThrottle);
  readonly #tenantRuns: Policy;
  readonly #environmentRuns: Policy;
  readonly #tokenRequests: Policy;
  readonly #addressRequests: Policy;

  constructor(counters: Counters, options: RequestLimitsOptions) {
    const { rates = {}, trustedProxies, leaseTimeout, now } = options;
    this.#rates = new Rates(counters, { now, ...(leaseTimeout !== undefined && { leaseTimeout }) });
    this.#now = now;
    this.#trustedProxies = trustedProxies ?? new BlockList();
    const policy = (name: string, quota = 0, counted: string): Policy => ({ name, quota, counted });
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

  /**
   * Counts a run for its tenant and its environment. Throws 429 when either has used up its rate.
   * @param quota the tenant's own limit of runs a minute (default: that of the settings)
   */
  async takeRun({ environment, tenant }: PluginKey, quota = this.#tenantRuns.quota): Promise<void> {
    const tenantKey = rateKey('tenant', environment, tenant);
    if (quota) await this.#take({ ...this.#tenantRuns, quota }, tenantKey);
    if (!this.#environmentRuns.quota) return;
    try {
      await this.#take(this.#environmentRuns, rateKey('environment', environment));
    } catch (error) {
      // The run was refused for the environment, so it must not count for the tenant.
      if (quota) this.#rates.refund(tenantKey);
      throw error;
    }
  }

  /**
   * Looks up the token with this hash, and counts the request for the token's rate. A token that was valid a moment ago is
   * counted before the look-up, so that a request past the rate costs no look-up; any other one after it, so that only valid
   * tokens are remembered. Throws 429 when the rate is used up, and as {@link checkToken}.
   */
  async takeToken<T>(c: Context, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#tokenRequests;
    if (!policy.quota) return this.checkToken(c, hash, lookUp);
    const key = tokenKey(hash);
    const isKnown = this.#validTokens.has(key);
    if (isKnown) await this.#take(policy, key);
    const found = await this.checkToken(c, hash, lookUp);
    if (!isKnown) await this.#take(policy, key);
    return found;
  }

  /**
   * Looks up the token with this hash; `lookUp` throws 401 for an invalid one. A request with a token that this node does not
   * know is counted for the rate of the client's address before the look-up, and not counted any more if the token is valid. Past
   * that rate, tokens are looked up slowly: a flood of guesses does not become a flood of look-ups, and a valid token still gets
   * through. Throws 429 past the rate for an invalid token, and for one that would have to wait too long.
   */
  async checkToken<T>(c: Context, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const key = tokenKey(hash);
    const isKnown = this.#validTokens.has(key);
    try {
      const found = await (isKnown ? lookUp() : this.#tryToken(c, lookUp));
      this.#validTokens.set(key, true);
      requestInfo(c).isAuthenticated = true;
      return found;
    } catch (error) {
      if (!isKnown || !isUnauthorized(error)) throw error;
      this.#validTokens.delete(key);
      await this.takeAddress(c);
      throw error;
    }
  }

  /** Counts a request without a valid token for the client's address, once. Throws 429 when the rate is used up. */
  async takeAddress(c: Context): Promise<void> {
    const info = requestInfo(c);
    if (info.isCounted) return;
    info.isCounted = true;
    const key = this.#addressKey(c, 'address');
    if (key !== undefined) await this.#take(this.#addressRequests, key);
  }

  /**
   * Counts a request for the editor's page for the client's address. Pages have a count of their own beside the other requests,
   * so that one person's failing requests do not keep others at the same address from opening the editor.
   */
  async takePage(c: Context): Promise<void> {
    const key = this.#addressKey(c, 'page');
    if (key !== undefined) await this.#take(this.#addressRequests, key);
  }

  close(): void {
    this.#rates.close();
  }

  async #take(policy: Policy, key: string): Promise<void> {
    const exceeded = await this.#rates.take(key, policy.quota);
    if (exceeded) throw this.#refusal(policy, exceeded);
  }

  #refusal(policy: Policy, exceeded: RateExceeded): Error {
    return exceeded.isUnknown
      ? new StorageUnavailableError(new Error(`the rate ${policy.name} cannot be asked for`))
      : tooManyRequests(policy, exceeded, this.#now());
  }

  async #tryToken<T>(c: Context, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#addressRequests;
    const key = this.#addressKey(c, 'address');
    if (key === undefined) return lookUp();
    const exceeded = await this.#rates.take(key, policy.quota);
    if (exceeded && !(await this.#lookUps.take(key))) throw this.#refusal(policy, exceeded);
    let isGuess = false;
    try {
      return await lookUp();
    } catch (error) {
      isGuess = isUnauthorized(error);
      throw isGuess && exceeded ? this.#refusal(policy, exceeded) : error;
    } finally {
      if (!isGuess && !exceeded) this.#rates.refund(key);
    }
  }

  /** The key that the client's address is counted by; `undefined` where addresses are not counted, or this one is unknown. */
  #addressKey(c: Context, kind: 'address' | 'page'): string | undefined {
    if (!this.#addressRequests.quota) return undefined;
    const address = clientAddress(c, this.#trustedProxies);
    return address === undefined ? undefined : `${kind} ${clientNetwork(address)}`;
  }
}

const isUnauthorized = (error: unknown) => error instanceof ServiceError && error.status === 401;

const tokenKey = (hash: Uint8Array) => `token ${Buffer.from(hash).toString('base64url')}`;

/** How many characters a key has at the most. A longer one is hashed, because an index of PostgreSQL takes none above 2.7 kB. */
const longestKey = 200;

/** The key of a rate, as plain text, because hashing costs more; hashed where the names are long. */
function rateKey(kind: string, ...names: readonly string[]): string {
  const key = `${kind} ${JSON.stringify(names)}`;
  return key.length <= longestKey ? key : `${kind} ${createHash('sha256').update(key).digest('base64url')}`;
}

/** The error past a rate, with the headers of draft-ietf-httpapi-ratelimit-headers. */
function tooManyRequests(
  { name, quota, counted }: Policy,
  { endsAt }: RateExceeded,
  now: number,
): ServiceError {
  const seconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
  return new ServiceError(
    429,
    'too-many-requests',
    `The limit of ${quota} ${counted} is reached; try again in ${seconds} s.`,
    {
      headers: {
        'retry-after': String(seconds),
        ratelimit: `"${name}";r=0;t=${seconds}`,
        'ratelimit-policy': `"${name}";q=${quota};w=${rateWindow / 1000}`,
      },
    },
  );
}
