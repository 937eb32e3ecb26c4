/**
 * Why a run gave no result: the plugin's own fault, what went in or came out, the limit that it met, or, as `runner-crashed`, that the process
 * it ran in ended.
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
  'runner-crashed',
] as const;

export type RunErrorCode = (typeof runErrorCodes)[number];

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
  /** Where in the input or output, as a JSON Pointer, something does not fit. */
  readonly path?: string;
}

/** How a run ended. */
export type RunOutcome = { readonly result: string } | { readonly error: RunError };

/** How a run ended, with all that the plugin logged until then, an entry for each call. */
export type LoggedOutcome = RunOutcome & { readonly logs: readonly string[] };

export const mebibyte = 1024 * 1024;

/** The limits of one run that whoever operates the service can set. */
export interface AdjustableLimits {
  /** Milliseconds. */
  readonly time: number;
  /** Bytes. */
  readonly memory: number;
}

/** What holds unless something else is set. */
export const defaultLimits: AdjustableLimits = { time: 1000, memory: 32 * mebibyte };

/** What one run may use. */
export const runLimits = {
  /** These two are the defaults in the service's process, and what is set in a runner's. */
  ...(defaultLimits as { time: number; memory: number }),
  /** Bytes, as the two that follow. */
  input: mebibyte,
  output: mebibyte,
  logs: mebibyte,
  /** How many entries the logs may have. */
  logEntries: 10_000,
};

/** Sets the limits of a runner's process, which has the same ones as long as it lives, before anything runs in it. */
export function setRunLimits({ time, memory }: AdjustableLimits): void {
  runLimits.time = time;
  runLimits.memory = memory;
}

const messages = {
  'time-limit': ({ time }: AdjustableLimits) =>
    `The plugin ran for more than ${time / 1000} s, which is the limit of time.`,
  'memory-limit': ({ memory }: AdjustableLimits) =>
    `The plugin needed more than ${memory / mebibyte} MiB, which is the limit of memory.`,
  'stack-limit': () => 'The plugin calls itself too deeply: it ran out of stack.',
  'output-limit': () =>
    `The plugin answered with more than ${runLimits.output / mebibyte} MiB, which is the limit of output.`,
  'log-limit': () =>
    `The plugin logged more than ${runLimits.logs / mebibyte} MiB or ${runLimits.logEntries} entries, which is the limit of logs.`,
} as const;

/** @param limits those of the run (default: those of this process) */
export const limitError = (code: keyof typeof messages, limits: AdjustableLimits = runLimits): RunError => ({
  code,
  message: messages[code](limits),
});

// A plugin chooses what it throws; an error message is for reading.
const longestMessage = 8192;

const cutMark = ' … (cut here)';

/** The longest message of a {@link RunError}, in UTF-16 code units. */
export const messageLimit = longestMessage + cutMark.length;

export const pluginError = (message: string): RunError => ({
  code: 'plugin-error',
  message: message.length > longestMessage ? message.slice(0, longestMessage) + cutMark : message,
});

/** Ends a run from within the code that serves it. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly error: RunError;

  constructor(error: RunError) {
    super(error.message);
    this.error = error;
  }
}

/** Returns a result that is text within the limit of output; throws a {@link RunFailure} for any other. */
export function checkOutput(output: string): string {
  // A text has at least as many bytes as UTF-16 code units.
  if (output.length > runLimits.output || Buffer.byteLength(output) > runLimits.output) {
    throw new RunFailure(limitError('output-limit'));
  }
  return output;
}
