import { pino } from 'pino';
import type { Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** The log of the service: JSON lines with `level`, `time` (ISO 8601), `pid`, `hostname` and `msg`. */
export type Log = Logger;

/**
 * Makes the log.
 * @param write called with each line, including its line break (default: writes to standard output synchronously, so that the last
 * lines of a process are not lost)
 */
export function createLog(level: LogLevel, write?: (line: string) => void): Log {
  const options = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    // The names of levels, which people and all tools understand, instead of pino's numbers.
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError },
  };
  return write ? pino(options, { write }) : pino(options);
}

/** The form in which an error is logged, as `err`. */
interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  readonly stack?: string | undefined;
  readonly cause?: LoggedError | string;
}

/**
 * The parts of an error that are logged. Its other fields are left out, because those of a database's error can quote rows, with
 * sources and hashes of tokens.
 */
function serializeError(error: unknown, depth = 0): LoggedError | string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : `a thrown ${typeof error}`;
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message,
    ...('code' in error && { code: error.code }),
    stack,
    ...(cause !== undefined && depth < 5 && { cause: serializeError(cause, depth + 1) }),
  };
}
