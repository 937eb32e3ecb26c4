import { mebibyte } from '../units.ts';
import { defaultLimits } from './run-limits.ts';
import type { AdjustableLimits } from './run-limits.ts';

/** How long a runner may take to come up, in ms. It takes 0.1 s on a quiet machine. */
export const startTime = 30_000;

/**
 * How long after the limit of time a runner is killed, in ms. A script ends by itself at the limit; a module, and a loop inside
 * the engine, do not.
 */
export const killDelay = 100;

/** After how much running time, in ms, a runner's memory is checked once its run has ended: less time is too short to fill it. */
export const recycleInterval = 20;

/** The longest text that a runner may send, in bytes: an output or an entry of logs, which JSON may escape. */
export const frameLimit = 8 * mebibyte;

/**
 * A deeper stack for runners, in KiB, so that the engine for scripts always meets its own limit first, which is the same in
 * every run. With Node's default, the limit would depend on what the runner has compiled before. Linux and macOS give 8 MiB.
 */
export const stackOptions = process.platform === 'win32' ? [] : ['--stack-size=4000'];

/** Limits of a runner's memory, in bytes. */
export interface RunnerMemory {
  /** During a run: a runner that holds more is killed, and its run fails. */
  readonly watched: number;
  /** After a run: a runner that holds more is replaced. */
  readonly recycle: number;
  /** What the system lets the process allocate. It is more than the other two, and the last resort. */
  readonly system: number;
}

/** The limits for the default limit of a run's memory; they grow with it. */
const defaultMemory: RunnerMemory = {
  // The runner itself, one run, the programs in its cache, and garbage.
  watched: 320 * mebibyte,
  // The difference to `watched` is for the next run, which must not be ended for what earlier runs have left behind.
  recycle: 192 * mebibyte,
  system: 512 * mebibyte,
};

/** The limits of a runner's memory for these limits of a run. */
export function runnerMemory({ memory }: AdjustableLimits): RunnerMemory {
  const more = Math.max(0, memory - defaultLimits.memory);
  return {
    // What a run held may remain for a while as garbage, beside what the next one holds.
    watched: defaultMemory.watched + 2 * more,
    recycle: defaultMemory.recycle + more,
    system: defaultMemory.system + 3 * more,
  };
}
