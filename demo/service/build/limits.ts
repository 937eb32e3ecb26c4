import type { Compilation } from '../language.ts';

/** What one build may use. */
export const buildLimits: { readonly time: number; readonly memory: number } = {
  /** Milliseconds. */
  time: 10_000,
  /** Bytes of the machine's memory, of the build process and its helpers together. */
  memory: 512 * 1024 * 1024,
};

/** How a build ended: with what the compiler says, or why there is nothing of it. */
export type BuildEnd = { readonly compiled: Compilation } | { readonly failed: string };
