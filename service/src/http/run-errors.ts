import { ServiceError, tenantDeleted, tenantSuspended } from './errors.ts';
import { truncateLogs, toStorableText } from '../plugins/truncate.ts';
import { RunFailure } from '../sandbox/outcome.ts';
import type { RunError } from '../sandbox/outcome.ts';
import { BusyError } from '../processes/fair-queue.ts';
import { SupersededError } from '../toolchains/process/superseding-queue.ts';

/*
 * The errors of runs and builds, and the responses that they become. The body of an error is
 * { error: { code, message, path?, requestId } }; that of an execution that ran also has `logs` where the plugin logged anything.
 *
 * | what                                          | code                   | execution          | test                    |
 * | --------------------------------------------- | ---------------------- | ------------------ | ----------------------- |
 * | the plugin throws, or returns other than text | plugin-error           | 422                | 200, { error, logs? }   |
 * | not JSON that fits the schema goes in         | invalid-input          | 422, did not run   | 200, as above           |
 * | not JSON that fits the schema comes out       | invalid-output         | 422                | 200, as above           |
 * | past the limit of memory                      | memory-limit           | 422                | 200, as above           |
 * | past the stack                                | stack-limit            | 422                | 200, as above           |
 * | past the limit of output                      | output-limit           | 422                | 200, as above           |
 * | past the limit of logs                        | log-limit              | 422                | 200, as above           |
 * | past the limit of time                        | time-limit             | 504                | 200, as above           |
 * | past the limit of time with all waits         | wait-limit             | 504                | 200, as above           |
 * | ended while it waits: client, drain           | cancelled              | 503 + Retry-After  | 200, as above           |
 * | ended while it waits: its tenant is suspended | tenant-suspended       | 403                | 200, as above           |
 * | ended while it waits: its tenant is deleted   | tenant-deleted         | 403                | 200, as above           |
 * | a stored module is too large to be compiled   | module-limit           | 422                | 200, as above           |
 * | the runner's process ended                    | runner-crashed         | 500                | 200, as above           |
 * | past the limit of input                       | input-limit            | 413                | 413                     |
 * | not text: another type, charset or coding     | unsupported-media-type | 415                | 415 (builds too)        |
 * | not UTF-8                                     | invalid-text           | 400                | 400 (builds too)        |
 * | no such version, or no draft                  | version-not-found      | 404                | 404 draft-not-found     |
 * | the draft as saved has no successful build    | not-built              | -                  | 409 (deploy too)        |
 * | the service has too much waiting              | busy                   | 503 + Retry-After  | 503 + Retry-After       |
 * | the token or its tenant has too much waiting  | busy                   | 503 + Retry-After  | 429 too-many-requests   |
 * | a newer check came before this one had begun  | check-superseded       | -                  | 409 (checks alone)      |
 * | the same is asked again of language help      | help-superseded        | -                  | 409 (language help)     |
 * | source that keeps help from being given       | help-failed            | -                  | 422 (language help)     |
 *
 * A test that ran is a success of the request, whatever its outcome; an execution without output is an error. "Too much waiting"
 * is the same for builds and checks as for tests, which the tenant's users request; executions are requested by the vendor. A
 * build that fails, also by a limit, is 200 { succeeded: false }.
 */

/** The error of an execution that gave no output, with the last 16 KB of what it logged. */
export const executionError = (
  { code, message, path }: RunError,
  allLogs: readonly string[],
): ServiceError => {
  // As for a run that did not begin.
  if (code === 'tenant-suspended') return tenantSuspended();
  if (code === 'tenant-deleted') return tenantDeleted();
  const details = {
    logs: allLogs.length ? truncateLogs(allLogs).logs : undefined,
    ...(path !== undefined && { path: toStorableText(path) }),
  };
  return new ServiceError(statusOfFailure(code), code, toStorableText(message), {
    ...details,
    ...(code === 'cancelled' && retryAfter),
  });
};

/** The status code of the response to an execution that failed with this error code. */
export const runErrorStatus = (code: string): 403 | 422 | 500 | 503 | 504 =>
  code === 'tenant-suspended' || code === 'tenant-deleted' ? 403 : statusOfFailure(code);

function statusOfFailure(code: string): 422 | 500 | 503 | 504 {
  if (code === 'time-limit' || code === 'wait-limit') return 504;
  if (code === 'cancelled') return 503;
  return code === 'runner-crashed' ? 500 : 422;
}

// Runs and builds end within seconds.
const retryAfter = { headers: { 'retry-after': '1' } };

/**
 * Who made a request. A tenant's user, or a client without a token, gets 429 where its own requests are too many; a vendor gets 503.
 */
export type Requester = 'user' | 'vendor';

/** Runs `work`, and translates the errors which say that its job never began. */
export async function translateBusyErrors<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateBusyError(error, requester);
  }
}

/** Runs `work`, and translates the error that says that a newer request superseded its job into a 409 with this code. */
export async function translateSuperseded<T>(
  code: 'check-superseded' | 'help-superseded',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SupersededError ? new ServiceError(409, code, error.message) : error;
  }
}

/** Whether a client has gone. The HTTP server aborts a request's signal with a text as its reason, not with an error. */
export const isCancellation = (error: unknown) =>
  typeof error === 'string' || (error instanceof Error && error.name === 'AbortError');

/** The error of a request whose client has gone. */
export const cancelled = () =>
  new ServiceError(503, 'cancelled', 'The client has closed its connection.', retryAfter);

/**
 * Translates a `BusyError`, an aborted signal, and the end of a run before its first turn, into an error for the client. Returns any
 * other error as it is.
 * @param level whose requests are too many, for the message (default: the level of the error)
 */
export function translateBusyError(error: unknown, requester: Requester, level?: string): unknown {
  if (error instanceof RunFailure) return executionError(error.error, []);
  if (isCancellation(error)) return cancelled();
  if (!(error instanceof BusyError)) return error;
  return error.isOwn && requester === 'user'
    ? new ServiceError(
        429,
        'too-many-requests',
        `Too many requests of this ${level ?? error.level} are waiting already; try again when some of them are done.`,
        retryAfter,
      )
    : new ServiceError(503, 'busy', 'The service is busy; try again in a moment.', retryAfter);
}
