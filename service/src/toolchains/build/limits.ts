import type { Compilation } from '../language.ts';
import { mebibyte } from '../../units.ts';

/** What one build may use. */
export interface BuildLimits {
  /** Milliseconds. */
  readonly time: number;
  /** Bytes of memory, of the compiler and the native program that it may work with together. */
  readonly memory: number;
}

export const buildLimits: BuildLimits = { time: 10_000, memory: 512 * mebibyte };

/** How long a check may take, in ms. An editor asks for checks while one types: a later result would be of no use. */
export const checkTime = 5_000;

/** How many libraries, or schemas, are checked and wait at once. */
export const checkerQueueLimits = {
  slots: 3,
  slotsPerEnvironment: 1,
  slotsPerTenant: 1,
  waiting: 64,
  waitingPerEnvironment: 16,
  waitingPerTenant: 16,
  waitingPerToken: 16,
};

/** The largest program that a build may make, in bytes of JSON, which is how it is stored. */
export const programLimit = 4 * mebibyte;

/** The limits of a build's diagnostics. */
export const diagnosticLimits = {
  /** How many there may be. Where there are more, the last one says how many. */
  count: 200,
  /** Bytes of UTF-8 of one message. */
  message: 2048,
  /** Bytes of JSON of all together. */
  total: mebibyte,
} as const;

/** The longest reply of a compiler, in bytes: a program and its diagnostics. */
export const messageLimit = programLimit + 2 * diagnosticLimits.total;

/** The longest report of a defect, in bytes of UTF-8: an error with its stack. */
export const defectLimit = 8192;

/**
 * How a build ended: with a compilation, or with the reason why there is none. `defect`: what the operator has to know, where neither
 * the source nor a limit is the reason.
 */
export type BuildOutcome =
  { readonly compiled: Compilation } | { readonly failed: string; readonly defect?: string };
