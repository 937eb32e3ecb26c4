import { DatabaseError } from 'pg';
import { StorageUnavailableError } from '../errors.ts';

/**
 * SQLSTATEs, or classes of them, that are not about the statement, but say that the server cannot do its work. They stand for
 * problems of connections, resources and the system, for interventions by the operator or a time limit, and for a server that has
 * become a standby. The others are a session that was idle in a transaction, a lock that was not available, and
 * {@link conflictStates}.
 */
const unavailableStates = ['08', '53', '57', '58', '25006', '25P03', '40001', '40P01', '55P03'];

/** SQLSTATEs of a transaction that the server rolled back because of another one: a serialization failure, and a deadlock. */
const conflictStates: ReadonlySet<unknown> = new Set(['40001', '40P01']);

export const isConflict = (error: unknown): boolean =>
  error instanceof DatabaseError && conflictStates.has(error.code);

/** Whether a statement failed because the database is unavailable, and not because of the statement itself. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? unavailableStates.some((state) => error.code?.startsWith(state))
    : // The driver has no class for errors of a connection. JavaScript's own classes are defects of the program.
      !(error instanceof TypeError || error instanceof RangeError);

/** Whether a lock was not available within the time that a session waits for one. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '55P03';

/** Whether the role lacks a privilege. */
export const isDenied = (error: unknown): boolean => error instanceof DatabaseError && error.code === '42501';

/** Whether the server's disk is full. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '53100';

/** Whether the server refused a connection because it has too many. It is available to those that are connected. */
export const isFull = (error: unknown): boolean => error instanceof DatabaseError && error.code === '53300';

const notReachedCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
]);

/**
 * Whether an error may only mean that the database is still starting. Waiting does not help against any other error, such as a
 * wrong password or a certificate that is not trusted.
 */
export function isStartingUp(error: unknown): boolean {
  if (error instanceof StorageUnavailableError) return isStartingUp(error.cause);
  if (error instanceof AggregateError) return error.errors.every(isStartingUp);
  if (error instanceof DatabaseError) return isUnavailable(error);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A missing Unix socket will be created by the server; a missing file of certificates will not appear by itself.
  if (code === 'ENOENT') return syscall === 'connect';
  if (code !== undefined) return notReachedCodes.has(code);
  return /timeout|terminated/i.test(error.message);
}
