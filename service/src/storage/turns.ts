import { AsyncLocalStorage } from 'node:async_hooks';
import { BusyError, FairQueue } from '../processes/fair-queue.ts';
import type { QueueOwner, Release } from '../processes/fair-queue.ts';
import { withTimeout } from '../with-timeout.ts';
import { StorageUnavailableError } from './errors.ts';

/**
 * Whose request uses the database. Each request runs within `requestOwner.run({}, …)`, and its owner is set as soon as its caller
 * is known. Work without an owner, such as that of health checks and of the recorder, takes turns as one.
 */
export const requestOwner = new AsyncLocalStorage<{ owner?: QueueOwner }>();

/** Makes what follows in this request count for `owner`. */
export function setRequestOwner(owner: QueueOwner): void {
  const store = requestOwner.getStore();
  if (store) store.owner = owner;
}

/** Does work that counts for no request, although one may have started it. */
export const withoutOwner = <T>(work: () => T): T => requestOwner.run({}, work);

const noOwner: QueueOwner = { environment: '', tenant: '', token: '' };

/** Bounds of the turns in which requests use a database. */
export interface TurnLimits {
  /** How many have a turn at once. */
  readonly slots: number;
  /** How many may wait for one. */
  readonly waiting: number;
  /** How long each of them may wait, in ms. */
  readonly timeout: number;
}

/**
 * The turns in which requests use the connections of a database: environments take turns, then tenants, then tokens. No environment
 * has all connections, or all places of the queue, and no tenant has all of its environment.
 */
export class Turns {
  readonly #queue: FairQueue;
  readonly #limits: TurnLimits;

  constructor(limits: TurnLimits) {
    const { slots, waiting } = limits;
    const part = (of: number, share: number) => Math.max(1, Math.floor(of * share));
    this.#limits = limits;
    this.#queue = new FairQueue({
      slots,
      slotsPerEnvironment: part(slots, 0.8),
      slotsPerTenant: part(slots, 0.6),
      waiting,
      waitingPerEnvironment: part(waiting, 0.5),
      waitingPerTenant: part(waiting, 0.3),
      waitingPerToken: part(waiting, 0.2),
    });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /**
   * Resolves at the turn of the request with the function that ends it. Rejects with a `StorageUnavailableError` when too many
   * wait, or the turn does not come in time.
   */
  async acquire(timeout = this.#limits.timeout): Promise<Release> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await this.#queue.acquire(requestOwner.getStore()?.owner ?? noOwner, () => {
        const controller = new AbortController();
        timer = setTimeout(
          () => controller.abort(new Error(`its turn did not come within ${timeout} ms`)),
          timeout,
        );
        return controller.signal;
      });
    } catch (error) {
      const cause = error instanceof BusyError ? new Error(`too many of one ${error.level} wait`) : error;
      throw new StorageUnavailableError(cause);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** How many may wait for the turn of one key. */
const maxWaiting = 200;

/** Lets work with the same key take turns in this process, so that none of it holds a connection while it waits. */
export class KeyedTurns {
  readonly #queues = new Map<string, { last: Promise<void>; waiting: number }>();
  readonly #timeout: number;

  /** @param timeout how long a turn is waited for, in ms */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  /** Does `work` at its turn. Rejects with a `StorageUnavailableError` when too many wait, or the turn does not come in time. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    this.#queues.set(key, queue);
    if (queue.waiting >= maxWaiting)
      throw new StorageUnavailableError(new Error(`${maxWaiting} wait for this turn already`));
    const before = queue.last;
    const ended = Promise.withResolvers<void>();
    queue.last = ended.promise;
    queue.waiting += 1;
    try {
      if (queue.waiting > 1) {
        await withTimeout(before, this.#timeout, () => {
          throw new StorageUnavailableError(new Error(`its turn did not come within ${this.#timeout} ms`));
        });
      }
      return await work();
    } finally {
      queue.waiting -= 1;
      if (!queue.waiting) this.#queues.delete(key);
      // One that gave up passes its turn on when that comes.
      void before.then(ended.resolve);
    }
  }
}
