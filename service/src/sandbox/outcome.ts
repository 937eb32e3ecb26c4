import { mebibyte } from '../units.ts';
import { runLimits } from './run-limits.ts';
import type { AdjustableLimits } from './run-limits.ts';

/**
 * Why a run has no result: an error of the plugin, an input or output that does not fit, a limit that was met, or the end of the
 * runner's process (`runner-crashed`). A run that waits also ends when the client or the service does (`cancelled`), or when its
 * tenant is suspended or deleted.
 */
export const runErrorCodes = [
  'plugin-error',
  'invalid-input',
  'invalid-output',
  'time-limit',
  'memory-limit',
  'stack-limit',
  'output-limit',
  'log-limit',
  'module-limit',
  'wait-limit',
  'runner-crashed',
  'cancelled',
  'tenant-suspended',
  'tenant-deleted',
] as const;

export type RunErrorCode = (typeof runErrorCodes)[number];

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
  /** A JSON Pointer to the part of the input or output that does not fit. */
  readonly path?: string;
}

/** How a run ended. */
export type RunOutcome = { readonly result: string } | { readonly error: RunError };

/** How a run ended, with everything that the plugin logged until then: an entry for each call. */
export type LoggedOutcome = RunOutcome & { readonly logs: readonly string[] };

const messages = {
  'time-limit': ({ time }: AdjustableLimits) =>
    `The plugin ran for more than ${time / 1000} s, which is the limit of time.`,
  'memory-limit': ({ memory }: AdjustableLimits) =>
    `The plugin needed more than ${memory / mebibyte} MiB, which is the limit of memory.`,
  'stack-limit': () => 'The plugin calls itself too deeply: it ran out of stack.',
  'output-limit': () =>
    `The plugin returned more than ${runLimits.output / mebibyte} MiB, which is the limit of output.`,
  'log-limit': () =>
    `The plugin logged more than ${runLimits.logs / mebibyte} MiB or ${runLimits.logEntries} entries, which is the limit of logs.`,
} as const;

export const runError = (code: RunErrorCode, message: string): RunError => ({ code, message });

/** Whether a run was ended while it waited, which says nothing about its plugin. */
export const isEndedFromOutside = ({ code }: RunError): boolean =>
  code === 'cancelled' || code === 'tenant-suspended' || code === 'tenant-deleted';

/** The end of the runs that still wait when the service ends. */
export const serviceEnds = runError('cancelled', 'The service ends.');

/** @param limits those of the run (default: those of this process) */
export const limitError = (code: keyof typeof messages, limits: AdjustableLimits = runLimits): RunError => ({
  code,
  message: messages[code](limits),
});

// A plugin can throw a text of any length, but a message is for people to read.
const longestMessage = 8192;

const truncationMark = ' … (cut here)';

/** The longest message of a {@link RunError}, in UTF-16 code units. */
export const messageLimit = longestMessage + truncationMark.length;

export const pluginError = (message: string): RunError => ({
  code: 'plugin-error',
  message: message.length > longestMessage ? message.slice(0, longestMessage) + truncationMark : message,
});

/** Thrown by the code that runs plugins, to end a run with an error. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly error: RunError;

  constructor(error: RunError) {
    super(error.message);
    this.error = error;
  }
}

/** Returns an output within its limit; throws a {@link RunFailure} for a longer one. */
export function checkOutput(output: string): string {
  // A text has at least as many bytes as UTF-16 code units.
  if (output.length > runLimits.output || Buffer.byteLength(output) > runLimits.output) {
    throw new RunFailure(limitError('output-limit'));
  }
  return output;
}
