import { writeSync } from 'node:fs';
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { errorMessage } from '../error-message.ts';
import { mebibyte } from '../units.ts';

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

/**
 * How long lines wait, in ms, and how many characters there are at most, so that many are written at once: a write costs more than
 * all else about a line.
 */
const [writeInterval, writtenAtOnce] = [50, 8192];

/** How many bytes are kept while standard output cannot be written to. */
const maxKept = mebibyte;

/** How often a pipe that is full is tried again when the process exits, after {@link writeInterval} each. */
const exitTries = 20;

/** One for the process, however many services are in it. */
let output: BufferedOutput | undefined;

/** Writes whole lines of another process's log to standard output, at once and between those of this one. */
export function writeLogLines(lines: string): void {
  output ??= bufferedOutput();
  output.write(lines);
  output.flush();
}

function bufferedOutput(): BufferedOutput {
  const made = new BufferedOutput(
    (bytes) => writeSync(1, bytes),
    (message) => writeSync(2, `${message}\n`),
  );
  process.on('exit', () => made.writeLast());
  return made;
}

/** The number of the level `warn` in pino, and what has it tell a stream the level of each line. */
const warning = 40;
const metadata: unique symbol = Symbol.for('pino.metadata');

/**
 * Standard output. Warnings and errors, and what is left when the process exits, are written at once. While it cannot be written to,
 * because a disk is full or the reader has ended, the service goes on, and lines are kept up to a limit. (pino's own destination
 * would end the process with an exception, and then try for ever to write the rest.)
 */
export class BufferedOutput implements DestinationStream {
  readonly [metadata] = true;
  /** pino sets it before each line. */
  lastLevel = 0;
  readonly #writeSome: (bytes: Buffer) => number;
  readonly #report: (message: string) => unknown;
  #lines = '';
  /** What could not be written yet. It may begin within a line. */
  #rest: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #lost = 0;

  /**
   * @param writeSome writes the first of these bytes, and returns how many
   * @param report says something where the log cannot
   */
  constructor(writeSome: (bytes: Buffer) => number, report: (message: string) => unknown) {
    this.#writeSome = writeSome;
    this.#report = report;
  }

  write(lines: string): void {
    const kept = this.#rest.length + this.#lines.length;
    if (this.#rest.length && kept + lines.length > maxKept) this.#lost += lines.split('\n').length - 1;
    else this.#lines += lines;
    if (this.lastLevel >= warning || this.#lines.length >= writtenAtOnce) this.flush();
    else this.#schedule();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#tryToWrite() !== 'written') this.#schedule();
  }

  /** Writes what is left before the process exits. */
  writeLast(): void {
    for (let tries = exitTries; this.#tryToWrite() === 'full' && tries > 0; tries -= 1)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, writeInterval);
  }

  /** `full`: the output is a pipe whose reader is slow, or slow to begin. */
  #tryToWrite(): 'written' | 'full' | 'failed' {
    if (this.#lines) this.#rest = Buffer.concat([this.#rest, Buffer.from(this.#lines)]);
    this.#lines = '';
    try {
      while (this.#rest.length) this.#rest = this.#rest.subarray(this.#writeSome(this.#rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 'full';
      if (!this.#isFailing)
        this.#say(
          `Log lines may be lost, because standard output cannot be written to: ${errorMessage(error)}`,
        );
      this.#isFailing = true;
      return 'failed';
    }
    if (this.#isFailing || this.#lost)
      this.#say(`Standard output can be written to again. ${this.#lost} log lines were lost.`);
    this.#isFailing = false;
    this.#lost = 0;
    return 'written';
  }

  #say(message: string): void {
    try {
      this.#report(message);
    } catch {
      // It may go to the same full disk.
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.flush(), writeInterval).unref();
  }
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
