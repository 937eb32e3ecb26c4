/** Whose job it is: environments take turns, within an environment its tenants, and within a tenant its tokens. */
export interface QueueOwner {
  readonly environment: string;
  readonly tenant: string;
  /** An id of the token; empty where the tokens of a tenant need not be distinguished. */
  readonly token: string;
}

/** The level at which too many jobs are waiting: in the whole service, or for one environment, tenant or token. */
export type BusyLevel = 'service' | keyof QueueOwner;

/** Too many jobs are waiting for another one to be accepted. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
  readonly level: BusyLevel;

  constructor(level: BusyLevel) {
    super(level === 'service' ? 'Too much is waiting.' : `Too much is waiting for this ${level}.`);
    this.level = level;
  }

  /** Whether the tenant's own jobs are too many, and not those of others. */
  get isOwn(): boolean {
    return this.level === 'tenant' || this.level === 'token';
  }
}

export interface FairQueueLimits {
  /** How many jobs run at once. */
  readonly slots: number;
  /** How many of them are of one environment (default: all but one, so that others never wait for a single environment). */
  readonly slotsPerEnvironment?: number;
  /** How many of them are of one tenant (default: as many as of its environment). */
  readonly slotsPerTenant?: number;
  /** How many jobs may wait: in all, and of each environment, tenant and token. */
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

/** A set that can remove its first item, in the order of insertion, in constant time. */
class OrderedSet<T> {
  readonly #items = new Set<T>();
  // One iterator for all removals: the items that it has passed are removed, and new ones are added after it. A new iterator for
  // each removal would have to skip the slots of all removed items.
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

  shift(): T | undefined {
    if (!this.size) return undefined;
    const { value } = this.#iterator.next();
    if (value !== undefined) this.#items.delete(value);
    return value;
  }
}

/** The node of an environment, a tenant or a token, or the root. It exists as long as it has jobs that run or wait. */
class QueueNode {
  readonly key: string;
  readonly parent: QueueNode | undefined;
  readonly slots: number;
  /** How many jobs may wait. */
  readonly maxWaiting: number;
  held = 0;
  waiting = 0;
  readonly children = new Map<string, QueueNode>();
  /** The children that could start a job if a slot were free, in the order of their turns. */
  readonly ready = new OrderedSet<QueueNode>();
  /** The waiting jobs, in the order in which they came. Only a token has any. */
  readonly waiters = new OrderedSet<Waiter>();
  /** The waiting jobs that have begun before: they go first. */
  readonly begun = new OrderedSet<Waiter>();

  constructor(key: string, parent: QueueNode | undefined, slots: number, maxWaiting: number) {
    this.key = key;
    this.parent = parent;
    this.slots = slots;
    this.maxWaiting = maxWaiting;
  }

  get isReady(): boolean {
    return this.held < this.slots && (this.waiters.size > 0 || this.begun.size > 0 || this.ready.size > 0);
  }
}

/**
 * A queue in which environments take turns, within each environment its tenants, and within each tenant its tokens; the jobs of a
 * token are in the order in which they came. Thus a caller with many jobs does not delay the others. Every operation takes
 * constant time, however many jobs wait. (Queues such as p-queue have priorities and rates, but no shares.)
 */
export class FairQueue {
  readonly #limits: Required<FairQueueLimits>;
  readonly #root: QueueNode;

  constructor(limits: FairQueueLimits) {
    const { slots, slotsPerEnvironment = Math.max(1, slots - 1) } = limits;
    this.#limits = { slotsPerTenant: slotsPerEnvironment, ...limits, slotsPerEnvironment };
    this.#root = new QueueNode('', undefined, slots, limits.waiting);
  }

  get waiting(): number {
    return this.#root.waiting;
  }

  /**
   * Resolves at the turn of a job with the function that ends the turn. Throws a {@link BusyError} at once when too many jobs are
   * waiting; rejects with the signal's reason when that is aborted before the turn comes. `signalOf` is only called when the job
   * has to wait, because a request creates its signal on demand, which is costly. A job that `hasBegun` is never refused.
   */
  acquire(owner: QueueOwner, signalOf?: () => AbortSignal, hasBegun = false): Promise<Release> {
    const path = this.#path(owner);
    // Where a slot is free, no job is waiting that could use it.
    if (path.every(({ held, slots }) => held < slots)) return Promise.resolve(this.#hold(path));
    const signal = signalOf?.();
    if (signal?.aborted) {
      this.#forgetIdle(path);
      return Promise.reject(signal.reason as Error);
    }
    const full = path.findIndex(({ waiting, maxWaiting }) => waiting >= maxWaiting);
    if (full >= 0 && !hasBegun) {
      this.#forgetIdle(path);
      throw new BusyError(levels[full] ?? 'service');
    }
    return this.#wait(path, signal, hasBegun);
  }

  #wait(path: readonly QueueNode[], signal: AbortSignal | undefined, hasBegun: boolean): Promise<Release> {
    const waiters = hasBegun ? path[0]?.begun : path[0]?.waiters;
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        waiters?.delete(waiter);
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
      waiters?.add(waiter);
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

  /** Starts waiting jobs, in the order of their turns, while there are free slots. */
  #startNext(): void {
    while (this.#root.isReady) {
      let next = this.#root;
      // A node that is removed from `ready` here is added again at the end, so that its next turn comes after those of the others.
      for (let first = next.ready.shift(); first; first = next.ready.shift()) next = first;
      const waiter = next.begun.shift() ?? next.waiters.shift();
      if (!waiter) return;
      for (let one: QueueNode | undefined = next; one; one = one.parent) one.waiting -= 1;
      waiter.start();
    }
  }

  /** The nodes of an owner, from the token up to the root. Missing ones are created. */
  #path({ environment, tenant, token }: QueueOwner): QueueNode[] {
    const { slotsPerEnvironment, slotsPerTenant } = this.#limits;
    const { waitingPerEnvironment, waitingPerTenant, waitingPerToken } = this.#limits;
    const ofEnvironment = child(this.#root, environment, slotsPerEnvironment, waitingPerEnvironment);
    const ofTenant = child(ofEnvironment, tenant, slotsPerTenant, waitingPerTenant);
    const ofToken = child(ofTenant, token, slotsPerTenant, waitingPerToken);
    return [ofToken, ofTenant, ofEnvironment, this.#root];
  }

  /** Updates which nodes are ready, from the token upwards. */
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

/** The levels, in the order of a path. */
const levels: readonly BusyLevel[] = ['token', 'tenant', 'environment', 'service'];

function child(parent: QueueNode, key: string, slots: number, maxWaiting: number): QueueNode {
  let found = parent.children.get(key);
  if (!found) parent.children.set(key, (found = new QueueNode(key, parent, slots, maxWaiting)));
  return found;
}
