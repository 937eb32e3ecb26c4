import { FairQueue } from '../../processes/fair-queue.ts';
import type { FairQueueLimits, Release, QueueOwner } from '../../processes/fair-queue.ts';

/** A newer job for the same subject has replaced this one, which was still waiting. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';

  constructor() {
    super('A newer request has taken the place of this one.');
  }
}

/**
 * A fair queue for jobs of which only the newest is of interest, such as checks while one types: a job that is still waiting is
 * superseded by the next one of the same share and subject.
 */
export class SupersedingQueue {
  readonly #queue: FairQueue;
  /** The controllers of waiting jobs, by share and subject. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(limits: FairQueueLimits) {
    this.#queue = new FairQueue(limits);
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /**
   * As `acquire` of a {@link FairQueue}; it also rejects with a {@link SupersededError} when a newer job comes before the turn.
   * @param subject names what the job is about; jobs with an equal subject supersede each other
   */
  acquire(owner: QueueOwner, subject: readonly string[], signal: AbortSignal | undefined): Promise<Release> {
    const key = JSON.stringify([owner.environment, owner.tenant, owner.token, ...subject]);
    this.#waiting.get(key)?.abort(new SupersededError());
    const superseded = new AbortController();
    const signals = [superseded.signal, ...(signal ? [signal] : [])];
    const turn = this.#queue.acquire(owner, () => AbortSignal.any(signals));
    this.#waiting.set(key, superseded);
    const forget = () => {
      if (this.#waiting.get(key) === superseded) this.#waiting.delete(key);
    };
    turn.then(forget, forget);
    return turn;
  }
}
