import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** The log of the service: JSON lines with `level`, `time` (ISO 8601), `pid`, `hostname` and `msg`. */
export type Log = Logger;

/**
 * Makes the log.
 * @param write called with each line, including its line break (default: writes to standard output, within {@link writeInterval})
 */
export function createLog(level: LogLevel, write?: (line: string) => void): Log {
  const options = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    // The names of levels, which people and all tools understand, instead of pino's numbers.
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError },
  };
  return pino(options, write ? { write } : (output ??= bufferedOutput()));
}

/** How long lines wait, in ms, so that many are written at once: a write costs more than all else about a line. */
const writeInterval = 50;

/** One for the process, however many services are in it. */
let output: BufferedOutput | undefined;

interface BufferedOutput extends DestinationStream {
  flush(): void;
}

/** Writes whole lines of another process's log to standard output, at once and between those of this one. */
export function writeLogLines(lines: string): void {
  output ??= bufferedOutput();
  output.write(lines);
  output.flush();
}

/** The number of the level `warn` in pino. */
const warning = 40;

/** Standard output. Warnings and errors, and what is left when the process exits, are written at once. */
function bufferedOutput(): BufferedOutput {
  const descriptor = pino.destination({ sync: true, minLength: 8192 });
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    // Not `flushSync`, which waits for the disk.
    descriptor.flush();
  };
  process.on('exit', () => descriptor.flushSync());
  const stream = {
    // pino then sets `lastLevel`.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    flush,
    write(line: string) {
      descriptor.write(line);
      if (stream.lastLevel >= warning) flush();
      else timer ??= setTimeout(flush, writeInterval).unref();
    },
  };
  return stream;
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
