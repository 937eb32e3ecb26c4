/** A body that a client sends or receives. */
export interface Transfer {
  /** How many bytes were sent or received so far. */
  readonly moved: number;
  readonly end: () => void;
}

export interface PaceLimits {
  /** The period, in ms, in which a client has to send or receive `paceBytes`, or all that is left. */
  readonly paceTime: number;
  readonly paceBytes: number;
}

/** A transfer as it was when its present period began. */
interface Checkpoint {
  began: number;
  moved: number;
}

/** Ends transfers whose client is too slow, in either direction. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  readonly #transfers = new Map<Transfer, Checkpoint>();
  #timer: NodeJS.Timeout | undefined;
  /** When the transfers were looked at last. */
  #checkedAt = 0;

  /** `now`: the monotonic clock, in ms. */
  constructor(limits: PaceLimits, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Watches a transfer until the returned function is called. */
  watch(transfer: Transfer): () => void {
    this.#transfers.set(transfer, { began: this.#now(), moved: transfer.moved });
    if (!this.#timer) {
      this.#checkedAt = this.#now();
      this.#timer = setInterval(() => this.#check(), this.#interval).unref();
    }
    return () => {
      this.#transfers.delete(transfer);
      if (this.#transfers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  get #interval(): number {
    return this.#limits.paceTime / 4;
  }

  #check(): void {
    const now = this.#now();
    const { paceTime, paceBytes } = this.#limits;
    const elapsed = now - this.#checkedAt;
    this.#checkedAt = now;
    // The process did not get to run, so it has not read yet what its clients sent meanwhile.
    const isLate = elapsed > 1.5 * this.#interval;
    for (const [transfer, checkpoint] of this.#transfers) {
      if (isLate) checkpoint.began = Math.min(now, checkpoint.began + elapsed);
      if (now - checkpoint.began < paceTime) continue;
      if (transfer.moved - checkpoint.moved < paceBytes) transfer.end();
      else Object.assign(checkpoint, { began: now, moved: transfer.moved });
    }
  }
}
