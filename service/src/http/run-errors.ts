import { ServiceError } from './errors.ts';
import { cutLogs, storable } from '../runs/cut-texts.ts';
import type { RunError } from '../sandbox/outcome.ts';
import { BusyError } from '../processes/fair-queue.ts';

/*
 * What goes wrong about running and building, and how it is answered. Every body is { error: { code, message } }; that of an
 * execution that ran has `logs` beside it, where the plugin logged anything.
 *
 * | what                                          | code                   | execution          | test                    |
 * | --------------------------------------------- | ---------------------- | ------------------ | ----------------------- |
 * | the plugin throws, or answers other than text | plugin-error           | 422                | 200, { error, logs? }   |
 * | not JSON that fits the schema goes in         | invalid-input          | 422, did not run   | 200, as above           |
 * | not JSON that fits the schema comes out       | invalid-output         | 422                | 200, as above           |
 * | past the limit of memory                      | memory-limit           | 422                | 200, as above           |
 * | past the stack                                | stack-limit            | 422                | 200, as above           |
 * | past the limit of output                      | output-limit           | 422                | 200, as above           |
 * | past the limit of logs                        | log-limit              | 422                | 200, as above           |
 * | past the limit of time                        | time-limit             | 504                | 200, as above           |
 * | a stored module is too large to be compiled   | module-limit           | 422                | 200, as above           |
 * | the runner's process ended                    | runner-crashed         | 500                | 200, as above           |
 * | past the limit of input                       | input-limit            | 413                | 413                     |
 * | not text: another type, charset or coding     | unsupported-media-type | 415                | 415 (builds too)        |
 * | not UTF-8                                     | invalid-text           | 400                | 400 (builds too)        |
 * | no such version, or no draft                  | version-not-found      | 404                | 404 draft-not-found     |
 * | the draft as saved has no successful build    | not-built              | -                  | 409 (deploy too)        |
 * | the service has too much waiting              | busy                   | 503 + Retry-After  | 503 + Retry-After       |
 * | the plugin's tenant has too much waiting      | busy                   | 503 + Retry-After  | 429 too-many-requests   |
 * | a newer check came before this one had begun  | check-superseded       | -                  | 409 (checks alone)      |
 * | the same is asked again of language help      | help-superseded        | -                  | 409 (language help)     |
 * | source that keeps help from being given       | help-failed            | -                  | 422 (language help)     |
 *
 * A test that ran is an answer, whatever came of it; an execution that gave no output is none. "Too much waiting" holds
 * for builds and checks as for tests, where the tenant, or its token, is the one who asks; an execution is asked for by the
 * vendor. A build that fails, past its limits too, is 200 { succeeded: false }.
 */

/** The answer of an execution that gave no output, with the last 16 KB of what it logged. */
export const executionError = (
  { code, message, path }: RunError,
  allLogs: readonly string[],
): ServiceError => {
  const details = {
    logs: allLogs.length ? cutLogs(allLogs).logs : undefined,
    ...(path !== undefined && { path: storable(path) }),
  };
  switch (code) {
    case 'time-limit':
      return new ServiceError(504, code, storable(message), details);
    case 'runner-crashed':
      return new ServiceError(500, code, storable(message), details);
    default:
      return new ServiceError(422, code, storable(message), details);
  }
};

/** The status that an error of a run, as it is recorded, is answered with. */
export function runErrorStatus(code: string): number {
  if (code === 'time-limit') return 504;
  return code === 'runner-crashed' ? 500 : 422;
}

// Runs and builds end within seconds.
const retryAfter = { headers: { 'retry-after': '1' } };

/** Runs `work`, and turns what means that it was not even begun into an answer. `byTenant`: whether the tenant asks. */
export async function whenNotBusy<T>(byTenant: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw busyAnswer(error, byTenant);
  }
}

/** What a `BusyError` is to the client; anything else thrown stays what it is. `byTenant`: whether the tenant asks. */
export function busyAnswer(error: unknown, byTenant: boolean): unknown {
  // Nobody is left to read this one. The reason that a signal of the HTTP server gives is a text, not an error.
  if (!(error instanceof Error) || error.name === 'AbortError') {
    return new ServiceError(503, 'cancelled', 'The request was taken back before its turn came.', retryAfter);
  }
  if (!(error instanceof BusyError)) return error;
  return error.own && byTenant
    ? new ServiceError(
        429,
        'too-many-requests',
        'Too much of yours is waiting already; try again when some of it is done.',
        retryAfter,
      )
    : new ServiceError(503, 'busy', 'The service is busy; try again in a moment.', retryAfter);
}
