import { lookup as systemLookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import { BusyError, FairQueue } from '../processes/fair-queue.ts';
import type { QueueOwner, Release } from '../processes/fair-queue.ts';
import { CallError } from './call-error.ts';

/** Finds all addresses of a host name. Rejects where there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** For how long the addresses of a name are used, and for how long a name that has none is not looked up again, in ms. */
const [foundFor, missingFor] = [10_000, 5000];

/**
 * Node looks names up in its pool of threads, of which it gives two to slow work. So one environment has one of them at most, and
 * names that no server answers for delay no other environment by more than its turn. Each tenant has its own place in the queue, also
 * for a name that others wait for. Its own waiting names refuse it first; those of others only where twenty tenants of its environment,
 * or four environments, have all their places taken.
 */
const limits = {
  slots: 2,
  waiting: 8000,
  waitingPerEnvironment: 2000,
  waitingPerTenant: 100,
  waitingPerToken: 100,
};

const resolveBySystem: Resolve = async (hostname) => {
  const found = await systemLookup(hostname, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

/** A name that is looked up when the first of its tenants has its turn. */
class PendingName {
  readonly found = Promise.withResolvers<readonly string[]>();
  /** Aborted when the look-up begins, so that the other tenants leave the queue. */
  readonly begun = new AbortController();
  /** Those that wait, or have waited, for their turn. */
  readonly tenants = new Set<string>();
}

/** Looks up host names: owners take turns, two names at most are looked up at once, and each name once in ten seconds. */
export class Lookups {
  readonly #resolve: Resolve;
  readonly #queue = new FairQueue(limits);
  /** What look-ups led to, by names. */
  readonly #known = new LRUCache<string, Promise<readonly string[]>>(entryLimit(10_000));
  /** By names. */
  readonly #pending = new Map<string, PendingName>();

  /** `resolve` finds the addresses (default: the system does). */
  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /** The addresses of a host name. Rejects with a `CallError` where it has none, and where too many names wait. */
  async addresses(hostname: string, owner: QueueOwner): Promise<readonly string[]> {
    const known = this.#known.get(hostname);
    if (known) return known;
    const pending = this.#pending.get(hostname) ?? new PendingName();
    const tenant = JSON.stringify([owner.environment, owner.tenant]);
    if (!pending.begun.signal.aborted && !pending.tenants.has(tenant)) {
      const turn = this.#turn(owner, pending.begun.signal);
      if (turn) {
        pending.tenants.add(tenant);
        void this.#look(hostname, pending, turn);
      } else if (!pending.tenants.size) {
        // Where others wait for the name, their turns do for this tenant, too.
        throw new CallError(
          'too-many-calls',
          `The name ${hostname} cannot be looked up: too many are waiting.`,
        );
      }
    }
    this.#pending.set(hostname, pending);
    return pending.found.promise;
  }

  /** Rejects when the signal is aborted before the turn; `undefined` where too many are waiting. */
  #turn(owner: QueueOwner, signal: AbortSignal): Promise<Release> | undefined {
    try {
      return this.#queue.acquire(owner, () => signal);
    } catch (error) {
      if (error instanceof BusyError) return undefined;
      throw error;
    }
  }

  async #look(hostname: string, { found, begun }: PendingName, turn: Promise<Release>): Promise<void> {
    const release = await turn.catch(() => {});
    // The turns of two environments may come at once.
    if (release && !begun.signal.aborted) {
      begun.abort();
      const looking = this.#find(hostname);
      found.resolve(looking);
      const ttl = await looking.then(
        () => foundFor,
        () => missingFor,
      );
      this.#known.set(hostname, looking, { ttl });
      this.#pending.delete(hostname);
    }
    release?.();
  }

  async #find(hostname: string): Promise<readonly string[]> {
    try {
      const addresses = await this.#resolve(hostname);
      if (!addresses.length) throw new Error('it has no address');
      return addresses;
    } catch (cause) {
      throw new CallError('unreachable', `The host ${hostname} has no address.`, { cause });
    }
  }
}
