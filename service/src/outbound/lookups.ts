import { lookup as systemLookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import { BusyError, FairQueue } from '../processes/fair-queue.ts';
import type { QueueOwner, Release } from '../processes/fair-queue.ts';
import { CallError } from './call-error.ts';

/** Finds all addresses of a host name. Rejects where there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * For how long a name that has addresses is not looked up again, and how long they may be used while it is; for how long at the least a
 * name that has none is not looked up again; in ms.
 */
const [freshFor, usableFor, missingFor] = [10_000, 60_000, 5000];

/**
 * Node looks names up in its pool of threads, of which it gives two to slow work. So one environment has one of them at most, and
 * names that no server answers for delay another environment by no more than its turn, and that only where it looks a name up first.
 * Each tenant has its own place in the queue, also for a name that others wait for. Its own waiting names refuse it first; those of
 * others only where twenty tenants of its environment, or four environments, have all their places taken.
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

/** What a look-up led to. */
interface KnownName {
  readonly addresses: Promise<readonly string[]>;
  /** When it is to be looked up again, by the clock of `performance`. */
  lookAgainAt: number;
}

/** A name that is looked up when the first of its tenants has its turn. */
class PendingName {
  readonly found = Promise.withResolvers<readonly string[]>();
  /** Aborted when the look-up begins, so that the other tenants leave the queue. */
  readonly begun = new AbortController();
  /** Those that wait, or have waited, for their turn. */
  readonly tenants = new Set<string>();
}

/**
 * Looks up host names: owners take turns, two names at most are looked up at once, and each name once in ten seconds. The addresses of a
 * name are used while it is looked up again, so that calls wait only for its first look-up.
 */
export class Lookups {
  readonly #resolve: Resolve;
  readonly #queue = new FairQueue(limits);
  /** By names. */
  readonly #known = new LRUCache<string, KnownName>(entryLimit(10_000));
  /** By names. */
  readonly #pending = new Map<string, PendingName>();

  /** `resolve` finds the addresses (default: the system does). */
  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /** The addresses of a host name. Rejects with a `CallError` where it has none, and where too many names wait. */
  async addresses(hostname: string, owner: QueueOwner): Promise<readonly string[]> {
    const known = this.#known.get(hostname);
    if (known && performance.now() < known.lookAgainAt) return known.addresses;
    const looking = this.#lookUp(hostname, owner);
    if (known) return known.addresses;
    if (looking) return looking;
    throw new CallError('too-many-calls', `The name ${hostname} cannot be looked up: too many are waiting.`);
  }

  /** Resolves with the addresses once a turn for the name has come; `undefined` where too many are waiting. */
  #lookUp(hostname: string, owner: QueueOwner): Promise<readonly string[]> | undefined {
    const pending = this.#pending.get(hostname) ?? new PendingName();
    const tenant = JSON.stringify([owner.environment, owner.tenant]);
    if (!pending.begun.signal.aborted && !pending.tenants.has(tenant)) {
      const turn = this.#turn(owner, pending.begun.signal);
      if (turn) {
        pending.tenants.add(tenant);
        void this.#look(hostname, pending, turn);
      } else if (!pending.tenants.size) {
        // Where others wait for the name, their turns do for this tenant, too.
        return undefined;
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
      const began = performance.now();
      const looking = this.#find(hostname);
      found.resolve(looking);
      // A rejection is handled here, because no call waits for a name that is looked up again.
      const hasFound = await found.promise.then(
        () => true,
        () => false,
      );
      this.#keep(hostname, looking, hasFound, performance.now() - began);
      this.#pending.delete(hostname);
    }
    release?.();
  }

  /** @param took how long the look-up took, in ms */
  #keep(hostname: string, addresses: KnownName['addresses'], hasFound: boolean, took: number): void {
    // A name that hangs takes a third of a turn at the most.
    const time = hasFound ? freshFor : Math.max(missingFor, 2 * took);
    const lookAgainAt = performance.now() + time;
    const known = this.#known.get(hostname);
    if (known && !hasFound) known.lookAgainAt = lookAgainAt;
    else this.#known.set(hostname, { addresses, lookAgainAt }, { ttl: hasFound ? usableFor : time });
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
