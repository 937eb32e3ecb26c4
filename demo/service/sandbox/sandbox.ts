import { availableParallelism } from 'node:os';
import { Turns } from '../turns.ts';
import type { Outcome } from './outcome.ts';
import { Runner } from './runner.ts';
import type { Task } from './thread.ts';

export interface Run extends Task {
  /** Whose run it is: tenants take turns. */
  readonly tenant: string;
  /** Takes a run back that has not begun yet. */
  readonly signal?: AbortSignal;
}

// More than one even on a machine with one core: a run that loops must leave room for the others.
const threads = Math.min(8, Math.max(4, availableParallelism()));

/** Where plugins run: a few threads, each run in a VM that is made for it, tenants taking turns. */
export class Sandbox {
  readonly #turns = new Turns({
    slots: threads,
    slotsPerKey: Math.ceil(threads / 2),
    waiting: 512,
    waitingPerKey: 256,
  });
  readonly #idle: Runner[] = [];
  readonly #all = new Set<Runner>();
  #closed = false;

  /**
   * Runs a program once. Throws a `BusyError` at once when too much is waiting; rejects when the sandbox is closed
   * or cannot start a thread, and with the signal's reason.
   */
  run({ program, input, tenant, signal }: Run): Promise<Outcome> {
    const turn = this.#turns.take(tenant, signal);
    return this.#run({ program, input }, turn);
  }

  async #run(task: Task, turn: Promise<() => void>): Promise<Outcome> {
    const end = await turn;
    try {
      const runner = this.#runner();
      try {
        return await runner.run(task);
      } finally {
        if (runner.usable) this.#idle.push(runner);
        else this.#replace(runner);
      }
    } finally {
      end();
    }
  }

  /** Has a first thread come up, so that the first run need not wait for it. */
  warmUp(): void {
    if (!this.#all.size) this.#idle.push(this.#start());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((runner) => runner.close()));
  }

  #runner(): Runner {
    if (this.#closed) throw new Error('The sandbox is closed.');
    for (let runner = this.#idle.pop(); runner; runner = this.#idle.pop()) {
      if (runner.usable) return runner;
      this.#all.delete(runner);
    }
    return this.#start();
  }

  #start(): Runner {
    const runner = new Runner();
    this.#all.add(runner);
    return runner;
  }

  /** The next run finds a thread that is up, or about to be. */
  #replace(runner: Runner): void {
    this.#all.delete(runner);
    if (!this.#closed) this.#idle.unshift(this.#start());
  }
}
