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
 * names that no server answers for delay no other environment by more than its turn.
 */
const limits = {
  slots: 2,
  waiting: 2000,
  waitingPerEnvironment: 500,
  waitingPerTenant: 100,
  waitingPerToken: 100,
};

const resolveBySystem: Resolve = async (hostname) => {
  const found = await systemLookup(hostname, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

/** Looks up host names: for all in turn, at most so many at once, and each name once in ten seconds. */
export class Lookups {
  readonly #resolve: Resolve;
  readonly #queue = new FairQueue(limits);
  /** By names. */
  readonly #known = new LRUCache<string, Promise<readonly string[]>>(entryLimit(10_000));
  /** Those that wait for a turn, by environments and names: no environment waits for the turn of another. */
  readonly #waiting = new Map<string, Promise<readonly string[]>>();

  /** `resolve` finds the addresses (default: the system does). */
  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /** The addresses of a host name. Rejects with a `CallError` where it has none, and where too many names wait. */
  async addresses(hostname: string, owner: QueueOwner): Promise<readonly string[]> {
    const known = this.#known.get(hostname);
    if (known) return known;
    const key = `${owner.environment} ${hostname}`;
    let waiting = this.#waiting.get(key);
    if (!waiting) {
      waiting = this.#lookInTurn(hostname, this.#turn(hostname, owner));
      this.#waiting.set(key, waiting);
      const forget = () => this.#waiting.delete(key);
      waiting.then(forget, forget);
    }
    return waiting;
  }

  #turn(hostname: string, owner: QueueOwner): Promise<Release> {
    try {
      return this.#queue.acquire(owner);
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      throw new CallError(
        'too-many-calls',
        `The name ${hostname} cannot be looked up: too many are waiting.`,
      );
    }
  }

  async #lookInTurn(hostname: string, turn: Promise<Release>): Promise<readonly string[]> {
    const release = await turn;
    try {
      // The turn of another environment may have come sooner.
      return await (this.#known.get(hostname) ?? this.#look(hostname));
    } finally {
      release();
    }
  }

  #look(hostname: string): Promise<readonly string[]> {
    const looking = this.#find(hostname);
    this.#known.set(hostname, looking, { ttl: foundFor });
    looking.catch(() => {
      if (this.#known.peek(hostname) === looking) this.#known.set(hostname, looking, { ttl: missingFor });
    });
    return looking;
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
