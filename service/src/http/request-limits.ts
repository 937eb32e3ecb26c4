import { createHash } from 'node:crypto';
import { BlockList } from 'node:net';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import { PacedTurns } from '../limits/paced-turns.ts';
import { Rates } from '../limits/rates.ts';
import type { Refusal } from '../limits/rates.ts';
import { rateWindow } from '../limits/rate-share.ts';
import type { Counters } from '../limits/rate-share.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { clientAddress, clientNetwork } from './client-address.ts';
import type { TrustedProxies } from './client-address.ts';
import { ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';
import { StorageUnavailableError } from '../storage/unavailable.ts';

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

/** How many tokens that were good are known, and for how long after their last use, in ms. */
const goodTokens = { max: 50_000, ttl: 2 * rateWindow };

/** How fast unknown tokens of an address that is past its rate are looked up: a good one may be among them. */
const lookUpPace = { interval: 100, waiting: 20 };

/**
 * Refuses, with 429, what is past a rate. To be asked before the body of a request is read. Each method returns a promise
 * only where it has to wait for this node's share.
 */
export class RequestLimits {
  readonly #rates: Rates;
  readonly #now: () => number;
  readonly #trustedProxies: TrustedProxies;
  /** By their hash: those that were good a short while ago. */
  readonly #goodTokens = new LRUCache<string, true>(goodTokens);
  readonly #lookUps = new PacedTurns(lookUpPace);
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

  /**
   * Counts a run for its tenant and its environment. Throws 429 where either has had all of theirs.
   * @param quota the tenant's own number of runs a minute, in place of that of the settings
   */
  async takeRun({ environment, tenant }: PluginKey, quota = this.#tenantRuns.quota): Promise<void> {
    const tenantKey = rateKey('tenant', environment, tenant);
    if (quota) await this.#take({ ...this.#tenantRuns, quota }, tenantKey);
    if (!this.#environmentRuns.quota) return;
    try {
      await this.#take(this.#environmentRuns, rateKey('environment', environment));
    } catch (error) {
      // One tenant that the environment has no more runs for has not had this one.
      if (quota) this.#rates.refund(tenantKey);
      throw error;
    }
  }

  /**
   * Looks up a token, whose hash this is, and counts the request for it: before the look-up where the token was good a moment
   * ago, so that a request too many costs no look-up, else after it, so that only tokens that are good are remembered. Throws
   * 429 where the token has had all of its requests, and as {@link checkToken}.
   */
  async takeToken<T>(c: Context, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#tokenRequests;
    if (!policy.quota) return this.checkToken(c, hash, lookUp);
    const key = tokenKey(hash);
    const isKnown = this.#goodTokens.has(key);
    if (isKnown) await this.#take(policy, key);
    const found = await this.checkToken(c, hash, lookUp);
    if (!isKnown) await this.#take(policy, key);
    return found;
  }

  /**
   * Looks up a token, whose hash this is; `lookUp` throws 401 where it is not good. Tries of tokens that this node does not know
   * are counted for the address of their client in advance. Past its rate they are looked up slowly, so that a flood of them
   * does not become one of look-ups and a good token is still found; what is not good is 429 then, as is what would wait for
   * too long.
   */
  async checkToken<T>(c: Context, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const key = tokenKey(hash);
    const isKnown = this.#goodTokens.has(key);
    try {
      const found = await (isKnown ? lookUp() : this.#tryToken(c, lookUp));
      this.#goodTokens.set(key, true);
      requestInfo(c).isAuthenticated = true;
      return found;
    } catch (error) {
      if (!isKnown || !isUnauthorized(error)) throw error;
      this.#goodTokens.delete(key);
      await this.takeAddress(c);
      throw error;
    }
  }

  /**
   * Counts a request without a token that is good for the client's address, unless that was done. Throws 429 where it has had
   * all of its own.
   */
  async takeAddress(c: Context): Promise<void> {
    const info = requestInfo(c);
    if (info.isCounted) return;
    info.isCounted = true;
    const key = this.#addressKey(c, 'address');
    if (key !== undefined) await this.#take(this.#addressRequests, key);
  }

  /**
   * Counts a page of the editor for the client's address. It has as many of those beside its other requests: what somebody
   * tries from an office must not keep the others there from opening the editor.
   */
  async takePage(c: Context): Promise<void> {
    const key = this.#addressKey(c, 'page');
    if (key !== undefined) await this.#take(this.#addressRequests, key);
  }

  close(): void {
    this.#rates.close();
  }

  async #take(policy: Policy, key: string): Promise<void> {
    const refusal = await this.#rates.take(key, policy.quota);
    if (refusal) throw this.#refused(policy, refusal);
  }

  #refused(policy: Policy, refusal: Refusal): Error {
    return refusal.isUnknown
      ? new StorageUnavailableError(new Error(`the rate ${policy.name} cannot be asked for`))
      : tooManyRequests(policy, refusal, this.#now());
  }

  async #tryToken<T>(c: Context, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#addressRequests;
    const key = this.#addressKey(c, 'address');
    if (key === undefined) return lookUp();
    const refusal = await this.#rates.take(key, policy.quota);
    if (refusal && !(await this.#lookUps.take(key))) throw this.#refused(policy, refusal);
    let isGuess = false;
    try {
      return await lookUp();
    } catch (error) {
      isGuess = isUnauthorized(error);
      throw isGuess && refusal ? this.#refused(policy, refusal) : error;
    } finally {
      if (!isGuess && !refusal) this.#rates.refund(key);
    }
  }

  /** What an address is counted by; `undefined` where it is not. */
  #addressKey(c: Context, kind: 'address' | 'page'): string | undefined {
    if (!this.#addressRequests.quota) return undefined;
    const address = clientAddress(c, this.#trustedProxies);
    return address === undefined ? undefined : `${kind} ${clientNetwork(address)}`;
  }
}

const isUnauthorized = (error: unknown) => error instanceof ServiceError && error.status === 401;

const tokenKey = (hash: Uint8Array) => `token ${Buffer.from(hash).toString('base64url')}`;

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
