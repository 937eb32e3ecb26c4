import { mebibyte } from '../../units.ts';
import { limitError } from '../outcome.ts';
import type { RunError } from '../outcome.ts';
import { runLimits } from '../run-limits.ts';

/** The descriptor by which a runner gives or gets the memory of an interpreter that has started. */
export const imageDescriptor = 3;

/** The largest such memory, in bytes. It has 26 MB. */
export const longestImage = 128 * mebibyte;

/** How much memory a run of Python may take beyond the interpreter's own, in bytes, where nothing else is set. */
export const defaultPythonMemory = 64 * mebibyte;

/** The error of a run that needed more than `memory` bytes. */
export const pythonMemoryError = (memory: number): RunError =>
  limitError('memory-limit', { time: runLimits.time, memory });
