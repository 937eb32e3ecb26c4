import { limitError, RunFailure, runLimits } from './outcome.ts';

/*
 * What a run logs is in memory that its thread shares with the service: a run that has to be ended by ending its
 * thread is the one whose logs tell most. The memory holds how many bytes of it are used, then the entries, each its
 * length and its UTF-16 code units, which hold every text.
 */
const headerSize = 4;

// An entry counts one byte more than it has in UTF-8; stored, that makes four times as much at most.
export const createLogMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(headerSize + 4 * runLimits.logs);

const sizeOf = (units: number) => 4 + ((units * 2 + 3) & ~3);

/** Writes what a run logs, up to the limit, to memory that was cleared for it. */
export class Logs {
  readonly #memory: SharedArrayBuffer;
  readonly #used: Int32Array;
  #bytes = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.#used = new Int32Array(memory, 0, 1);
  }

  /** Throws a {@link RunFailure} past the limit. */
  add(entry: string): void {
    // An empty entry counts too.
    this.#bytes += Buffer.byteLength(entry) + 1;
    if (this.#bytes > runLimits.logs) throw new RunFailure(limitError('log-limit'));
    const used = Atomics.load(this.#used, 0);
    const at = headerSize + used;
    new Uint32Array(this.#memory, at, 1)[0] = entry.length;
    Buffer.from(this.#memory, at + 4, entry.length * 2).write(entry, 'utf16le');
    // Only now is it there for the other side.
    Atomics.store(this.#used, 0, used + sizeOf(entry.length));
  }
}

/** Forgets what the run before logged: its tenant may be another. */
export const clearLogs = (memory: SharedArrayBuffer): void => {
  Atomics.store(new Int32Array(memory, 0, 1), 0, 0);
};

/** What has been logged so far. */
export function readLogs(memory: SharedArrayBuffer): string[] {
  const used = Atomics.load(new Int32Array(memory, 0, 1), 0);
  const entries: string[] = [];
  for (let at = headerSize; at < headerSize + used;) {
    const length = new Uint32Array(memory, at, 1)[0] ?? 0;
    entries.push(Buffer.from(memory, at + 4, length * 2).toString('utf16le'));
    at += sizeOf(length);
  }
  return entries;
}
