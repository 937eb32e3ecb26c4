import { Worker } from 'node:worker_threads';
import { clearLogs, createLogMemory, readLogs } from './logs.ts';
import { limitError, pluginError, runLimits } from './outcome.ts';
import type { Outcome, RunEnd } from './outcome.ts';
import type { Report, Task } from './thread.ts';

// A thread looks at the clock by itself where it can. Only a loop within the engine, which nothing else ends, gets here.
const grace = 100;

// Whoever runs something sees why a thread is not ready; with nothing to run it is of no interest.
const ignore = () => {};

/** One worker thread, which runs one task at a time. After a run that had to be ended from outside it is gone. */
export class Runner {
  readonly #worker: Worker;
  readonly #logs = createLogMemory();
  #ready = Promise.withResolvers<void>();
  #settle: ((end: RunEnd | undefined) => void) | undefined;
  #gone = false;

  constructor() {
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), {
      // Nothing of this process: no environment, arguments or output.
      env: {},
      argv: [],
      workerData: this.#logs,
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 },
    });
    this.#worker.on('message', (report: Report) => {
      if (report === 'ready') this.#ready.resolve();
      else this.#settle?.(report);
    });
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      this.#gone = true;
      this.#ready.reject(error);
      const tooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#settle?.({
        error: tooLarge ? limitError('memory-limit') : pluginError(`The engine failed: ${error.message}`),
      });
    });
    this.#worker.on('exit', () => {
      this.#gone = true;
      this.#ready.reject(new Error('The thread has ended.'));
      this.#settle?.(undefined);
    });
    this.#ready.promise.catch(ignore);
    // A thread that waits for work is no reason for the process to go on.
    this.#worker.unref();
  }

  /** Whether it can run another task. */
  get usable(): boolean {
    return !this.#gone;
  }

  /** Rejects when the thread did not come up, or was closed meanwhile. */
  async run(task: Task): Promise<Outcome> {
    this.#worker.ref();
    try {
      await this.#ready.promise;
      // It is ready again once it has cleared up after this run.
      this.#ready = Promise.withResolvers<void>();
      this.#ready.promise.catch(ignore);
      const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
      this.#settle = resolve;
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        void this.close();
      }, runLimits.time + grace);
      clearLogs(this.#logs);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      this.#worker.postMessage(task);
      const end = (await promise) ?? (late ? { error: limitError('time-limit') } : undefined);
      clearTimeout(timer);
      if (end) return { ...end, logs: readLogs(this.#logs) };
      throw new Error('The thread of a run was closed.');
    } finally {
      this.#settle = undefined;
      this.#worker.unref();
    }
  }

  async close(): Promise<void> {
    this.#gone = true;
    await this.#worker.terminate();
  }
}
