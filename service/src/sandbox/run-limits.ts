import { mebibyte } from '../units.ts';

/** The limits of a run that the operator of the service can set. */
export interface AdjustableLimits {
  /** Milliseconds. */
  readonly time: number;
  /** Bytes. */
  readonly memory: number;
}

/** The limits where no others are set. */
export const defaultLimits: AdjustableLimits = { time: 1000, memory: 32 * mebibyte };

/** All limits of a run. */
export const runLimits = {
  /** In the service's process these two are the defaults; in a runner's process they are the limits that were set. */
  ...(defaultLimits as { time: number; memory: number }),
  /** Bytes of the input; the two that follow are in bytes, too. */
  input: mebibyte,
  output: mebibyte,
  logs: mebibyte,
  /** How many entries the logs may have. */
  logEntries: 10_000,
};

/** In a runner's process: the limits of runs that have no others. */
export const serviceLimits = { time: defaultLimits.time, memory: defaultLimits.memory };

/** Sets the limits in a runner's process, once, before its first run. */
export function setRunLimits(limits: AdjustableLimits): void {
  Object.assign(serviceLimits, limits);
  applyRunLimits(limits);
}

/** Sets the limits of the run that begins in this runner's process (default: those of the service). */
export function applyRunLimits({ time, memory }: AdjustableLimits = serviceLimits): void {
  runLimits.time = time;
  runLimits.memory = memory;
}
