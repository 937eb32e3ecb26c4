import { FairQueue } from '../../processes/fair-queue.ts';
import { ProcessPool } from '../../processes/process-pool.ts';
import { defaultLimits } from '../run-limits.ts';
import type { AdjustableLimits } from '../run-limits.ts';
import type { FinishedRun, Run } from '../sandbox.ts';
import { defaultPythonMemory } from './python-protocol.ts';
import { PythonProcess } from './python-process.ts';
import type { PythonImage } from './python-process.ts';

export interface PythonOptions {
  /** How many runners there may be (default 1). */
  readonly runners?: number;
  /** The limits of runs in the other languages, of which the time is Python's, too (default: 1 s, 32 MiB). */
  readonly limits?: AdjustableLimits;
  /** How much memory a run may take beyond the interpreter's own, in bytes (default 64 MiB). */
  readonly memory?: number;
}

/**
 * Runs plugins in Python, in a few processes. The first run or build starts them, and they end after ten minutes without a run. Tenants
 * take turns, as in the `Sandbox`, but in other slots: however many runs of Python wait, they delay none of JavaScript.
 */
export class PythonSandbox {
  readonly #queue: FairQueue;
  readonly #pool: ProcessPool<PythonProcess>;
  readonly #image: PythonImage = {};
  readonly #limits: AdjustableLimits;
  /** The limit of memory in the other languages. */
  readonly #otherMemory: number;

  constructor({ runners = 1, limits = defaultLimits, memory = defaultPythonMemory }: PythonOptions = {}) {
    this.#limits = { time: limits.time, memory };
    this.#otherMemory = limits.memory;
    this.#queue = new FairQueue({
      slots: runners,
      slotsPerEnvironment: Math.max(1, runners - 1),
      slotsPerTenant: Math.max(1, Math.floor(runners / 2)),
      waiting: 1024,
      waitingPerEnvironment: 512,
      waitingPerTenant: 256,
      waitingPerToken: 256,
    });
    this.#pool = new ProcessPool(() => new PythonProcess(this.#limits, this.#image));
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** As `runAndMeasure` of the `Sandbox`. */
  runAndMeasure({
    program,
    input,
    owner,
    signal,
    onTurn,
    limits,
  }: Run): Promise<Omit<FinishedRun, 'waited'>> {
    // The turn ends once there is a runner for the next run: a tenant whose runs end runners waits while new ones start.
    return this.#pool.use(this.#queue.acquire(owner, signal), async (runner) => {
      await onTurn?.();
      const isWarm = runner.knows(program.hash);
      const outcome = await runner.run(program, input, limits && this.#limitsOf(limits));
      return { outcome, took: runner.lastDuration, isWarm };
    });
  }

  /** Starts a first runner, unless there is one. */
  warmUp(): void {
    void this.#pool.warmUp();
  }

  close(): void {
    this.#pool.close();
  }

  /** The limits of a tenant, for Python. Its limit of memory lowers Python's only where it is below that of the other languages. */
  #limitsOf({ time, memory }: AdjustableLimits): AdjustableLimits {
    return {
      time,
      memory: memory < this.#otherMemory ? Math.min(memory, this.#limits.memory) : this.#limits.memory,
    };
  }
}
