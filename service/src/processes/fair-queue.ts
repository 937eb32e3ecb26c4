/** Whose work it is: shares are by environment, within one by tenant, within one by token. */
export interface Share {
  readonly environment: string;
  readonly tenant: string;
  /** What tells the tenant's tokens apart, such as an id; empty where that is of no interest. */
  readonly token: string;
}

/** Who has too much waiting: everybody together, or the one of that level alone. */
export type BusyLevel = 'service' | keyof Share;

/** There is no place left to wait in. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
  readonly level: BusyLevel;

  constructor(level: BusyLevel) {
    super(level === 'service' ? 'Too much is waiting.' : `Too much is waiting for this ${level}.`);
    this.level = level;
  }

  /** Whether the tenant's own work takes the places, not that of others. */
  get own(): boolean {
    return this.level === 'tenant' || this.level === 'token';
  }
}

export interface FairQueueLimits {
  /** How many work at once. */
  readonly slots: number;
  /** How many of one environment do (default: all but one, so that another never waits for this one's work alone). */
  readonly slotsPerEnvironment?: number;
  /** How many of one tenant do (default: as many as of its environment). */
  readonly slotsPerTenant?: number;
  /** How many wait: in all, and of each environment, tenant and token. */
  readonly waiting: number;
  readonly waitingPerEnvironment: number;
  readonly waitingPerTenant: number;
  readonly waitingPerToken: number;
}

/** Ends a turn, so that the next one begins. A second call does nothing. */
export type Release = () => void;

interface Waiter {
  readonly start: () => void;
}

/** A set in the order of its additions that also gives up its first element, however large it is, in the same time. */
class OrderedSet<T> {
  readonly #items = new Set<T>();
  // What it has passed is no longer in the set, and what is added comes after it. A new iterator for each element would
  // walk over the places of all that were taken out.
  readonly #iterator = this.#items.values();

  get size(): number {
    return this.#items.size;
  }

  add(item: T): void {
    this.#items.add(item);
  }

  delete(item: T): void {
    this.#items.delete(item);
  }

  /** Takes the first element out. */
  shift(): T | undefined {
    if (!this.size) return undefined;
    const { value } = this.#iterator.next();
    if (value !== undefined) this.#items.delete(value);
    return value;
  }
}

/** One environment, tenant or token, or the root of them all. It is there as long as it holds slots or waits. */
class QueueNode {
  readonly key: string;
  readonly parent: QueueNode | undefined;
  readonly slots: number;
  readonly places: number;
  held = 0;
  waiting = 0;
  readonly children = new Map<string, QueueNode>();
  /** The children that could start something if a slot were free, in the order of their turns. */
  readonly ready = new OrderedSet<QueueNode>();
  /** In the order of their coming. Of a token alone. */
  readonly waiters = new OrderedSet<Waiter>();

  constructor(key: string, parent: QueueNode | undefined, slots: number, places: number) {
    this.key = key;
    this.parent = parent;
    this.slots = slots;
    this.places = places;
  }

  get isReady(): boolean {
    return this.held < this.slots && (this.waiters.size > 0 || this.ready.size > 0);
  }
}

/**
 * Who may work now, and who is next: environments take turns, within one its tenants, within one its tokens, and a token's
 * own work goes in the order of its coming. Who asks for much waits for himself and not in front of others. Every operation
 * takes the same time, however many wait. (Queues such as p-queue know priorities and rates, and no shares.)
 */
export class FairQueue {
  readonly #limits: Required<FairQueueLimits>;
  readonly #root: QueueNode;

  constructor(limits: FairQueueLimits) {
    const { slots, slotsPerEnvironment = Math.max(1, slots - 1) } = limits;
    this.#limits = { slotsPerTenant: slotsPerEnvironment, ...limits, slotsPerEnvironment };
    this.#root = new QueueNode('', undefined, slots, limits.waiting);
  }

  /** How many wait. */
  get waiting(): number {
    return this.#root.waiting;
  }

  /**
   * Resolves, when it is this share's turn, with what ends the turn. Throws a {@link BusyError} at once when there is no
   * place to wait in; rejects with the signal's reason when that is aborted before the turn comes. The signal is asked
   * for only when there is something to wait for: a request makes its own only then, and that is costly.
   */
  acquire(share: Share, signalOf?: () => AbortSignal): Promise<Release> {
    const path = this.#path(share);
    // While a slot is free, nobody waits who could have it.
    if (path.every(({ held, slots }) => held < slots)) return Promise.resolve(this.#hold(path));
    const signal = signalOf?.();
    signal?.throwIfAborted();
    const full = path.findIndex(({ waiting, places }) => waiting >= places);
    if (full >= 0) {
      this.#forgetIdle(path);
      throw new BusyError(levels[full] ?? 'service');
    }
    return this.#wait(path, signal);
  }

  #wait(path: readonly QueueNode[], signal: AbortSignal | undefined): Promise<Release> {
    const [token] = path;
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        token?.waiters.delete(waiter);
        for (const one of path) one.waiting -= 1;
        this.#refresh(path);
        this.#forgetIdle(path);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', withdraw);
          resolve(this.#hold(path));
        },
      };
      signal?.addEventListener('abort', withdraw, { once: true });
      token?.waiters.add(waiter);
      for (const one of path) one.waiting += 1;
      this.#refresh(path);
    });
  }

  #hold(path: readonly QueueNode[]): Release {
    for (const one of path) one.held += 1;
    this.#refresh(path);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      for (const one of path) one.held -= 1;
      this.#refresh(path);
      this.#forgetIdle(path);
      this.#startNext();
    };
  }

  /** Gives what became free to whose turn it is. */
  #startNext(): void {
    while (this.#root.isReady) {
      let next = this.#root;
      // Who is taken out here comes back at the end: its next turn is after those of all others.
      for (let first = next.ready.shift(); first; first = next.ready.shift()) next = first;
      const waiter = next.waiters.shift();
      if (!waiter) return;
      for (let one: QueueNode | undefined = next; one; one = one.parent) one.waiting -= 1;
      waiter.start();
    }
  }

  /** From the token up to the root; makes those that are not there yet. */
  #path({ environment, tenant, token }: Share): QueueNode[] {
    const { slotsPerEnvironment, slotsPerTenant } = this.#limits;
    const { waitingPerEnvironment, waitingPerTenant, waitingPerToken } = this.#limits;
    const ofEnvironment = child(this.#root, environment, slotsPerEnvironment, waitingPerEnvironment);
    const ofTenant = child(ofEnvironment, tenant, slotsPerTenant, waitingPerTenant);
    const ofToken = child(ofTenant, token, slotsPerTenant, waitingPerToken);
    return [ofToken, ofTenant, ofEnvironment, this.#root];
  }

  /** Brings up to date who could start something, from the token upwards. */
  #refresh(path: readonly QueueNode[]): void {
    for (const one of path) {
      if (!one.isReady) one.parent?.ready.delete(one);
      else one.parent?.ready.add(one);
    }
  }

  #forgetIdle(path: readonly QueueNode[]): void {
    for (const one of path) if (!one.held && !one.waiting) one.parent?.children.delete(one.key);
  }
}

/** In the order of a path. */
const levels: readonly BusyLevel[] = ['token', 'tenant', 'environment', 'service'];

function child(parent: QueueNode, key: string, slots: number, places: number): QueueNode {
  let found = parent.children.get(key);
  if (!found) parent.children.set(key, (found = new QueueNode(key, parent, slots, places)));
  return found;
}
