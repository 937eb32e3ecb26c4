import { StorageUnavailableError } from '../errors.ts';

/** SQLite's result codes that are not about the statement, but say that the file cannot be used at the moment. */
const busy = 5;
const full = 13;
const unavailableCodes: ReadonlySet<number> = new Set([
  busy,
  6, // SQLITE_LOCKED
  8, // SQLITE_READONLY
  10, // SQLITE_IOERR
  full,
  14, // SQLITE_CANTOPEN
]);

// The lowest byte is the primary result code; the higher ones distinguish its variants.
const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;

export const isBusy = (error: unknown): boolean => codeOf(error) === busy;

/** Runs `work`, and rejects with a `StorageUnavailableError` when it failed because the file cannot be used at the moment. */
export async function translateErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error) ?? -1;
    if (unavailableCodes.has(code)) throw new StorageUnavailableError(error, { isDiskFull: code === full });
    throw error;
  }
}
