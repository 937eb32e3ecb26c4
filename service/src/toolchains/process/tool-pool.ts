/** How long one warm process of a language is kept for the next piece of work, in ms. */
const idleTime = 10 * 60_000;

/** How long those beside it are kept, for the memory that they hold, in ms. */
const extraIdleTime = 30_000;

/** What a pool asks of a process. */
export interface PooledProcess {
  /** Whether it can take more work. */
  readonly isUsable: boolean;
  /** Resolves once it is warm; rejects when it does not work on this machine. */
  readonly ready: Promise<void>;
  close(): void;
}

interface Waiter<Process> {
  readonly resolve: (process: Process) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The processes of one tool, such as a language's compiler. They are started when they are needed, and one of them is kept.
 * How many there are at once is up to who takes them.
 */
export class ToolPool<Process extends PooledProcess> {
  readonly #start: () => Process;
  readonly #extraIdleTime: number;
  readonly #all = new Set<Process>();
  /** Those that are warm and free, the one that was used last at the end. */
  readonly #idle: { process: Process; since: number }[] = [];
  readonly #waiters: Waiter<Process>[] = [];
  #trimTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `start`: starts a process. */
  constructor(start: () => Process, idle = { extra: extraIdleTime }) {
    this.#start = start;
    this.#extraIdleTime = idle.extra;
  }

  /** How many processes there are, those that still come up included. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Resolves with a warm process, to be given back: a free one, or else the first that is done or has come up. Rejects when the
   * tool does not work on this machine.
   */
  async take(): Promise<Process> {
    if (this.#isClosed) throw new Error('The toolchains are closed.');
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (last.process.isUsable) return last.process;
      this.#all.delete(last.process);
    }
    const taken = new Promise<Process>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.#startOne();
    return await taken;
  }

  /** Takes a process back after its work. One that is of no use any more is replaced if it was the only one. */
  giveBack(process: Process): void {
    if (process.isUsable) return this.#offer(process);
    this.#all.delete(process);
    this.warmUp();
  }

  /** Has a first process come up, so that nobody need wait for it later. */
  warmUp(): void {
    if (!this.#isClosed && !this.#all.size) this.#startOne();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#trimTimer);
    for (const process of this.#all) process.close();
  }

  #startOne(): void {
    const process = this.#start();
    this.#all.add(process);
    process.ready.then(
      () => this.#offer(process),
      (error: unknown) => {
        this.#all.delete(process);
        this.#waiters.shift()?.reject(error);
      },
    );
  }

  #offer(process: Process): void {
    const waiter = this.#waiters.shift();
    if (waiter) return waiter.resolve(process);
    this.#idle.push({ process, since: performance.now() });
    this.#trim();
  }

  /** Ends what was not used for its time, and looks again when the next one's time is over. */
  #trim(): void {
    clearTimeout(this.#trimTimer);
    const now = performance.now();
    let next = Infinity;
    for (const one of this.#idle) {
      const isKept = one === this.#idle.at(-1);
      const left = one.since + (isKept ? idleTime : this.#extraIdleTime) - now;
      if (left > 0) {
        next = Math.min(next, left);
      } else {
        one.process.close();
        this.#all.delete(one.process);
      }
    }
    this.#idle.splice(0, this.#idle.length, ...this.#idle.filter(({ process }) => this.#all.has(process)));
    if (next < Infinity) this.#trimTimer = setTimeout(() => this.#trim(), next).unref();
  }
}
