import type { Release } from './fair-queue.ts';

/** How long the last idle process is kept for the next job, in ms. */
const idleTime = 10 * 60_000;

/** How long further idle processes are kept, in ms: less, for the memory that they hold. */
const extraIdleTime = 30_000;

/** A process that a pool can hold. */
export interface PooledProcess {
  /** Whether it can take another job. */
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
 * The processes of one kind, such as a language's compilers. The pool starts them when they are needed, and keeps the last idle one for
 * ten minutes. It does not limit how many there are at once: its users do, with a queue.
 */
export class ProcessPool<Process extends PooledProcess> {
  readonly #start: () => Process;
  readonly #extraIdleTime: number;
  readonly #all = new Set<Process>();
  /** The idle processes, the most recently used at the end. */
  readonly #idle: { process: Process; since: number }[] = [];
  readonly #waiters: Waiter<Process>[] = [];
  /** How many processes are coming up: one for each waiter, at least. */
  #starting = 0;
  #trimTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param start starts a process. It may throw, which counts as a process that has failed to come up
   * @param idle.extra how long idle processes beyond one are kept, in ms (default 30 s)
   */
  constructor(start: () => Process, idle = { extra: extraIdleTime }) {
    this.#start = start;
    this.#extraIdleTime = idle.extra;
  }

  /** How many processes there are, including those that are coming up. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Resolves with a warm process: an idle one, or else the first that is given back or has come up. Pass it to
   * {@link giveBack} after use. Rejects when the tool does not work on this machine.
   */
  async take(): Promise<Process> {
    if (this.#isClosed) throw new Error('The toolchains are closed.');
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (last.process.isUsable) return last.process;
      this.#all.delete(last.process);
    }
    const taken = new Promise<Process>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    if (this.#starting < this.#waiters.length) void this.#startOne();
    return await taken;
  }

  /**
   * Takes a process for one job and gives it back.
   * @param turn resolves when the job may begin, with the function that ends the turn
   * @param useProcess does the job
   * @param onBroken makes the outcome where the tool does not work on this machine (default: rejects)
   */
  async use<T>(
    turn: Promise<Release>,
    useProcess: (process: Process) => Promise<T>,
    onBroken?: (error: unknown) => T,
  ): Promise<T> {
    const release = await turn;
    let process: Process;
    try {
      process = await this.take();
    } catch (error) {
      release();
      if (onBroken) return onBroken(error);
      throw error;
    }
    try {
      return await useProcess(process);
    } finally {
      void this.giveBack(process).then(release);
    }
  }

  /**
   * Takes a process back after its job, and replaces one that cannot be used again. Resolves once there is a process for the next
   * job: whoever uses up processes pays for their start with its turn.
   */
  async giveBack(process: Process): Promise<void> {
    if (process.isUsable) return this.#offer(process);
    this.#all.delete(process);
    if (!this.#isClosed) await this.#startOne();
  }

  /** Starts a first process, so that the first job need not wait for it. Resolves once it has come up, or has failed to. */
  async warmUp(): Promise<void> {
    if (!this.#isClosed && !this.#all.size) await this.#startOne();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#trimTimer);
    for (const process of this.#all) process.close();
  }

  /** Resolves once a new process has come up, or has failed to, which is reported to the first waiter. */
  async #startOne(): Promise<void> {
    let process: Process | undefined;
    this.#starting += 1;
    try {
      // Throws where the system refuses a process, for instance because it has no memory left.
      process = this.#start();
      this.#all.add(process);
      await process.ready;
    } catch (error) {
      this.#starting -= 1;
      if (process) this.#all.delete(process);
      this.#waiters.shift()?.reject(error);
      return;
    }
    this.#starting -= 1;
    this.#offer(process);
  }

  #offer(process: Process): void {
    const waiter = this.#waiters.shift();
    if (waiter) return waiter.resolve(process);
    this.#idle.push({ process, since: performance.now() });
    this.#trim();
  }

  /** Ends processes that were idle for too long, and schedules the next look. */
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
