import { boundedOutcome } from './bounded.ts';
import type { PluginTypes } from '../types/declarations.ts';
import type { BuildOutcome } from './limits.ts';
import { mebibyte } from '../../units.ts';

/** The job that a compiler's process is sent: a source, and the types of the input and output of its `run`. */
export interface CompilerJob {
  readonly source: string;
  readonly types: PluginTypes;
}

/** The longest job, in bytes. The service has checked the length of the source, but JSON may escape every character of it. */
export const jobLimit = 10 * mebibyte;

export const encodeJob = (job: CompilerJob): string => JSON.stringify(job);

/** Not validated, because only the service sends jobs to the process. */
export const decodeJob = (text: string): CompilerJob => JSON.parse(text) as CompilerJob;

export const encodeOutcome = (outcome: BuildOutcome): string => JSON.stringify(boundedOutcome(outcome));
