/** What the sandbox can run: the output of a toolchain. Plain data, to be kept as JSON. */
export type Program =
  | {
      readonly kind: 'script';
      /** An ES module that exports `run`. */
      readonly code: string;
      /** The name of the user's source in stack traces. */
      readonly file: string;
      /** From `code` back to the user's source: a source map's `mappings`. None when they are the same. */
      readonly mappings?: string;
    }
  | {
      readonly kind: 'wasm';
      /** An AssemblyScript module with its runtime exported and its memory imported, in base64. */
      readonly module: string;
    };

/** Why a run gave no result: the plugin's own fault, or the limit that it met. */
export type RunErrorCode =
  'plugin-error' | 'time-limit' | 'memory-limit' | 'stack-limit' | 'output-limit' | 'log-limit';

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
}

/** How a run ended. */
export type RunEnd = { readonly result: string } | { readonly error: RunError };

/** How a run ended, with all that the plugin logged until then, an entry for each call. */
export type Outcome = RunEnd & { readonly logs: readonly string[] };

export const mebibyte = 1024 * 1024;

/** What one run may use. */
export const runLimits = {
  /** Milliseconds. */
  time: 1000,
  /** Bytes, as all that follow. */
  memory: 32 * mebibyte,
  input: mebibyte,
  output: mebibyte,
  logs: mebibyte,
} as const;

const messages = {
  'time-limit': `The plugin ran for more than ${runLimits.time / 1000} s, which is the limit of time.`,
  'memory-limit': `The plugin needed more than ${runLimits.memory / mebibyte} MiB, which is the limit of memory.`,
  'stack-limit': 'The plugin calls itself too deeply: it ran out of stack.',
  'output-limit': `The plugin answered with more than ${runLimits.output / mebibyte} MiB, which is the limit of output.`,
  'log-limit': `The plugin logged more than ${runLimits.logs / mebibyte} MiB, which is the limit of logs.`,
} as const;

export const limitError = (code: keyof typeof messages): RunError => ({ code, message: messages[code] });

// A plugin chooses what it throws; an error message is for reading.
const longestMessage = 8192;

export const pluginError = (message: string): RunError => ({
  code: 'plugin-error',
  message: message.length > longestMessage ? `${message.slice(0, longestMessage)} … (cut here)` : message,
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
