import { boundedEnd } from './bounded.ts';
import type { BuildEnd } from './limits.ts';

/** The longest source that a compiler's process takes, in bytes. */
export const sourceLimit = 2 * 2 ** 20;

export interface CompilerReport {
  readonly end: BuildEnd;
  /** Bytes of the machine's memory that the process holds after the build. */
  readonly memory: number;
}

export const encodeReport = ({ end, memory }: CompilerReport): string =>
  JSON.stringify({ end: boundedEnd(end), memory });
