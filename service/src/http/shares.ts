import { divisorOf } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';
import { BusyError, FairQueue } from '../processes/fair-queue.ts';
import type { FairQueueLimits, QueueOwner } from '../processes/fair-queue.ts';
import { mebibyte } from '../units.ts';
import { ServiceError } from './errors.ts';
import { translateBusyError } from './run-errors.ts';
import type { Requester } from './run-errors.ts';
import { ShareBudget } from '../processes/share-budget.ts';
import type { ShareLimits } from '../processes/share-budget.ts';

/**
 * What may be held for requests at once; {@link ShareBudget} says how shares shrink. The networks of requests without a token count as
 * the tenants of one environment.
 */
export interface RequestShares {
  /** Requests in progress, those that wait included. */
  readonly requests: ShareLimits;
  /** Bytes of bodies. Each takes up to three in memory: as received, as text, and on its way to a process. */
  readonly received: ShareLimits;
  /** Bytes of responses that clients have not taken yet, past which further requests are refused. */
  readonly unsent: ShareLimits;
  /** How many requests are handled at once, and how many wait for their turn. */
  readonly turns: FairQueueLimits;
  /** How many long texts have their turn at once, and how many wait for it. */
  readonly longTurns: FairQueueLimits;
  /** How long the turn of a long text lasts, in ms for each character. */
  readonly longTurnTime: number;
  /** How many tokens that are new to the node are looked up at once, and how many wait for that. Tenants are networks. */
  readonly lookUpTurns: FairQueueLimits;
}

export const requestShares: RequestShares = {
  // More than can wait for a run, so that the queue of runs decides.
  requests: { total: 1600, perEnvironment: 800, perTenant: 400, perToken: 300 },
  received: {
    total: 128 * mebibyte,
    // Less than the total, so that there is room for other environments.
    perEnvironment: 96 * mebibyte,
    perTenant: 32 * mebibyte,
    perToken: 32 * mebibyte,
  },
  unsent: {
    total: 192 * mebibyte,
    perEnvironment: 64 * mebibyte,
    perTenant: 32 * mebibyte,
    perToken: 16 * mebibyte,
  },
  turns: {
    slots: 32,
    slotsPerEnvironment: 16,
    slotsPerTenant: 8,
    waiting: 1500,
    waitingPerEnvironment: 700,
    waitingPerTenant: 350,
    waitingPerToken: 250,
  },
  longTurns: {
    slots: 1,
    slotsPerEnvironment: 1,
    waiting: 1500,
    waitingPerEnvironment: 700,
    waitingPerTenant: 350,
    waitingPerToken: 250,
  },
  // To parse, digest and write a source, and to exchange it with a compiler, takes the thread up to 0.2 µs for each character: long
  // texts have less than a third of it.
  longTurnTime: 0.7 / 1024,
  // An office, or a proxy that is not trusted, may have hundreds of tokens. The rate of their address bounds what waits, too.
  lookUpTurns: {
    slots: 32,
    slotsPerEnvironment: 32,
    slotsPerTenant: 8,
    waiting: 800,
    waitingPerEnvironment: 800,
    waitingPerTenant: 600,
    waitingPerToken: 600,
  },
};

/** The part of {@link requestShares} that one of the node's processes has. */
export function requestSharesOf(nodeShare: NodeShare): RequestShares {
  const divisor = divisorOf(nodeShare);
  const divided = <T extends object>(limits: T): T =>
    Object.fromEntries(
      Object.entries(limits).map(([name, value]) => [
        name,
        typeof value === 'number' ? Math.ceil(value / divisor) : value,
      ]),
    ) as T;
  const { requests, received, unsent, turns, longTurns, longTurnTime, lookUpTurns } = requestShares;
  return {
    requests: divided(requests),
    received: divided(received),
    unsent: divided(unsent),
    turns: divided(turns),
    longTurns: divided(longTurns),
    // Of the thread, which each process has.
    longTurnTime,
    lookUpTurns: divided(lookUpTurns),
  };
}

/** What requests hold, by their owners. */
export class Shares {
  readonly requests: ShareBudget;
  readonly received: ShareBudget;
  readonly unsent: ShareBudget;
  readonly turns: FairQueue;
  readonly longTurns: FairQueue;
  readonly longTurnTime: number;
  readonly lookUpTurns: FairQueue;

  constructor(limits: Partial<RequestShares> = {}) {
    const all = { ...requestShares, ...limits };
    this.requests = new ShareBudget(all.requests);
    this.received = new ShareBudget(all.received);
    this.unsent = new ShareBudget(all.unsent);
    this.turns = new FairQueue(all.turns);
    this.longTurns = new FairQueue(all.longTurns);
    this.longTurnTime = all.longTurnTime;
    this.lookUpTurns = new FairQueue(all.lookUpTurns);
  }
}

/**
 * What one request holds until it is released. It does not refer to the request: responses outlive their requests for a while, and
 * would keep all of it in memory.
 */
export class Held {
  readonly #shares: Shares;
  readonly #owner: QueueOwner;
  readonly #isRun: boolean;
  readonly #requester: Requester;
  readonly #releases: (() => void)[] = [];
  readonly #turns = new Set<() => void>();
  /** The work of a stream may go on after its client has left. What it took then would never be released, so it takes nothing. */
  #isReleased = false;

  /**
   * Counts a request for its owner. Throws 429 or 503 where the owner has too many in progress, or has not taken the responses to
   * others.
   */
  constructor(
    shares: Shares,
    owner: QueueOwner,
    { isRun = false, requester = 'user' }: { readonly isRun?: boolean; readonly requester?: Requester } = {},
  ) {
    this.#shares = shares;
    this.#owner = owner;
    this.#isRun = isRun;
    this.#requester = requester;
    this.checkUnsent();
    try {
      this.#releases.push(shares.requests.take(owner, 1));
    } catch (error) {
      throw refusalOf(error, owner, this.#requester);
    }
  }

  /** Throws 429 or 503 where its owner has not taken the responses to other requests. */
  checkUnsent(): void {
    try {
      this.#shares.unsent.check(this.#owner);
    } catch (error) {
      throw error instanceof BusyError ? tooMuchUnsent(error, this.#owner, this.#requester) : error;
    }
  }

  /** Counts `size` bytes of its body. Throws 503 where that is too much. */
  reserveBody(size: number): void {
    if (this.#isReleased) return;
    try {
      this.#releases.push(this.#shares.received.take(this.#owner, size));
    } catch (error) {
      throw error instanceof BusyError ? tooMuchReceived() : error;
    }
  }

  /** Waits until the request may be handled. The turn ends with the returned function, or when all is released. */
  async takeTurn(signalOf: () => AbortSignal): Promise<() => void> {
    const endTurn = await this.#acquire(this.#shares.turns, signalOf);
    try {
      // The turns before this one have made responses.
      this.checkUnsent();
    } catch (error) {
      endTurn();
      throw error;
    }
    if (this.#isReleased) endTurn();
    else this.#turns.add(endTurn);
    return () => {
      endTurn();
      this.#turns.delete(endTurn);
    };
  }

  endTurns(): void {
    for (const endTurn of this.#turns) endTurn();
    this.#turns.clear();
  }

  /** Waits until a long text may be handled. The input of a run does not wait, because it goes to its process as it is. */
  async takeLongTurn(length: number, signalOf: () => AbortSignal): Promise<void> {
    if (this.#isRun) return;
    const { longTurns, longTurnTime } = this.#shares;
    const release = await this.#acquire(longTurns, signalOf);
    setTimeout(release, length * longTurnTime).unref();
  }

  /** Counts bytes that wait for the client to take them, until the returned function is called. */
  holdUnsent(bytes: number): () => void {
    return this.#shares.unsent.hold(this.#owner, bytes);
  }

  release(): void {
    this.#isReleased = true;
    this.endTurns();
    for (const release of this.#releases) release();
  }

  async #acquire(queue: FairQueue, signalOf: () => AbortSignal): Promise<() => void> {
    try {
      return await queue.acquire(this.#owner, signalOf);
    } catch (error) {
      throw refusalOf(error, this.#owner, this.#requester);
    }
  }
}

const isAnonymous = ({ environment }: QueueOwner) => environment === '';

/** Whose what was too much is, for messages. */
const nameOf = ({ level }: BusyError, owner: QueueOwner) => (isAnonymous(owner) ? 'address' : level);

/** What is answered where a share is used up. */
export const refusalOf = (error: unknown, owner: QueueOwner, requester: Requester) =>
  translateBusyError(error, requester, error instanceof BusyError ? nameOf(error, owner) : undefined);

const tooMuchUnsent = (error: BusyError, owner: QueueOwner, requester: Requester) =>
  error.isOwn && requester === 'user'
    ? new ServiceError(
        429,
        'too-many-requests',
        `Too many responses to this ${nameOf(error, owner)} have not been read yet; read them before you ask for more.`,
        { headers: { 'retry-after': '1' } },
      )
    : new ServiceError(503, 'busy', 'Too many responses have not been read yet; try again in a moment.', {
        headers: { 'retry-after': '1' },
      });

const tooMuchReceived = () =>
  new ServiceError(503, 'busy', 'Too much is being sent to the service at once; try again in a moment.', {
    headers: { 'retry-after': '1' },
  });
