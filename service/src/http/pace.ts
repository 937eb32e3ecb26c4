/** What a client sends or takes, as long as it takes. */
export interface Transfer {
  /** How many bytes have been sent or taken so far. */
  moved: number;
  /** Ends it. */
  readonly end: () => void;
}

export interface PaceLimits {
  /** In each such time, in ms, … */
  readonly paceTime: number;
  /** … a client has to send or take so many bytes, or all that is left. */
  readonly paceBytes: number;
}

/** A transfer as it was when its present time began. */
interface Checkpoint {
  began: number;
  moved: number;
}

/** Ends transfers whose client is too slow, in either direction. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #transfers = new Map<Transfer, Checkpoint>();
  #timer: NodeJS.Timeout | undefined;
  /** When the transfers were looked at last. */
  #checkedAt = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** Watches a transfer until the returned function is called. */
  watch(transfer: Transfer): () => void {
    this.#transfers.set(transfer, { began: performance.now(), moved: transfer.moved });
    if (!this.#timer) {
      this.#checkedAt = performance.now();
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
    const now = performance.now();
    const { paceTime, paceBytes } = this.#limits;
    // A process that did not run, on a busy machine, has not read what its clients sent meanwhile.
    const stalled = Math.max(0, now - this.#checkedAt - this.#interval);
    this.#checkedAt = now;
    for (const [transfer, checkpoint] of this.#transfers) {
      checkpoint.began += stalled;
      if (now - checkpoint.began < paceTime) continue;
      if (transfer.moved - checkpoint.moved < paceBytes) transfer.end();
      else Object.assign(checkpoint, { began: now, moved: transfer.moved });
    }
  }
}
