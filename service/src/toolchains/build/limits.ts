import type { Compilation } from '../language.ts';

const mebibyte = 2 ** 20;

/** What one build may use. */
export interface BuildLimits {
  /** Milliseconds. */
  readonly time: number;
  /** Bytes of memory, of the compiler and the native program that it may work with together. */
  readonly memory: number;
}

export const buildLimits: BuildLimits = { time: 10_000, memory: 512 * mebibyte };

/** Milliseconds that a check may take, for an editor that asks as one types: an answer that comes later is of no use. */
export const checkTime = 5_000;

/** The largest program that a build may make, in bytes of JSON, which is how it is stored. */
export const programLimit = 4 * mebibyte;

/** What is told of a build at the most. */
export const diagnosticLimits = {
  /** How many, the last of which says how many there are beyond. */
  count: 200,
  /** Bytes of UTF-8 of one message. */
  message: 2048,
  /** Bytes of JSON of all together. */
  total: mebibyte,
} as const;

/** The largest message that is taken from a compiler, in bytes: a program and what is told of it. */
export const messageLimit = programLimit + 2 * diagnosticLimits.total;

/** How a build ended: with what the compiler says, or why there is nothing of it. */
export type BuildOutcome = { readonly compiled: Compilation } | { readonly failed: string };
