import { DatabaseError } from 'pg';
import { StorageUnavailableError } from '../unavailable.ts';

/**
 * SQLSTATEs, or classes of them, that say nothing about the statement, but that the server cannot do its work: connections,
 * resources, operator's interventions (a statement's time limit among them), and the system's errors; a server that has become
 * a standby; and a session that was ended because it was idle in a transaction.
 */
const unavailableStates = ['08', '53', '57', '58', '25006', '25P03', '55P03'];

/** Whether a statement failed for want of the database, and not for what it says. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? unavailableStates.some((state) => error.code?.startsWith(state))
    : // The driver has no class for what goes wrong with a connection; those of JavaScript are mistakes in a program.
      !(error instanceof TypeError || error instanceof RangeError);

/** The server's answer to a new connection that would have been one too many. It is there, and works for others. */
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
 * Whether a database may only not have come up yet. Waiting helps against nothing else, such as a wrong password or a
 * certificate that is not trusted.
 */
export function isStartingUp(error: unknown): boolean {
  if (error instanceof StorageUnavailableError) return isStartingUp(error.cause);
  if (error instanceof AggregateError) return error.errors.every(isStartingUp);
  if (error instanceof DatabaseError) return isUnavailable(error);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A Unix socket that is not there yet; but a file of certificates that is missing does not come by itself.
  if (code === 'ENOENT') return syscall === 'connect';
  if (code !== undefined) return notReachedCodes.has(code);
  return /timeout|terminated/i.test(error.message);
}
