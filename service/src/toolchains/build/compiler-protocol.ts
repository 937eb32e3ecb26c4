import { boundedOutcome } from './bounded.ts';
import type { PluginTypes } from '../types/declarations.ts';
import type { BuildOutcome } from './limits.ts';

/** What a compiler's process is sent: a source, and what its `run` is given and gives. */
export interface CompilerJob {
  readonly source: string;
  readonly types: PluginTypes;
}

/** The longest message that a compiler's process takes, in bytes: the service has checked the source, which JSON may escape. */
export const jobLimit = 10 * 2 ** 20;

export const encodeJob = (work: CompilerJob): string => JSON.stringify(work);

/** For the process itself, which is sent nothing by anybody but the service. */
export const decodeJob = (text: string): CompilerJob => JSON.parse(text) as CompilerJob;

export interface CompilerReport {
  readonly end: BuildOutcome;
  /** Bytes of the machine's memory that the process holds after the build. */
  readonly memory: number;
}

export const encodeReport = ({ end, memory }: CompilerReport): string =>
  JSON.stringify({ end: boundedOutcome(end), memory });
