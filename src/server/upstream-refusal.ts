import { Refusal } from './refusal.ts';

/**
 * How long a page is to wait before it asks again, in seconds. It is more than the 30 s that elements wait at most, so that they
 * give up: an environment token that was refused stays refused until it is changed.
 */
const RETRY_AFTER = '60';

/**
 * Makes the response for an error of `getEditorToken`. It says only on which side the failure was, because the error itself
 * names the builder's address, which is not for browsers.
 */
export function upstreamRefusal(error: unknown): Refusal {
  const { name, status, code } = Object(error) as { name?: unknown; status?: unknown; code?: unknown };
  if (status === 403 && code === 'tenant-suspended') {
    return new Refusal(
      403,
      'tenant-suspended',
      'Plugins cannot be edited at the moment: the customer is suspended',
    );
  }
  if (status === 403 && code === 'tenant-deleted') {
    return new Refusal(403, 'tenant-deleted', 'There is nothing to edit: the customer was deleted');
  }
  if (status === 401 || status === 403) {
    return withCause(
      new Refusal(502, 'upstream-refused', 'The builder refused this server; its log should say why', {
        'retry-after': RETRY_AFTER,
      }),
      refusedError(status, code),
    );
  }
  const refusal =
    name === 'TimeoutError'
      ? new Refusal(504, 'upstream-timeout', 'The builder gave no editor token in time; try again later')
      : new Refusal(502, 'upstream-failed', 'The builder gave no editor token; try again later');
  return withCause(refusal, error ?? new Error('getEditorToken rejected without an error'));
}

function withCause(refusal: Refusal, cause: unknown): Refusal {
  refusal.cause = cause;
  return refusal;
}

/**
 * Makes an error that is one line in a log. Its stack would always be the same, and would only hide what is to be done.
 */
function refusedError(status: number, code: unknown): Error {
  const said = typeof code === 'string' ? ` ${code.slice(0, 100)}` : '';
  const reason =
    status === 403 && code === 'not-permitted'
      ? `The environment token may not give this editor token (${status}${said}): its scopes do not allow what authorize ` +
        'permits; set environmentToken to one with more scopes, or permit less'
      : `The builder refused the environment token (${status}${said}): it has ended, or is for another environment; ` +
        'set environmentToken to a new one';
  const error = new Error(reason);
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
