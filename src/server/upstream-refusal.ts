import { Refusal } from './refusal.ts';

/**
 * How long a page is to wait before it asks again, in seconds. Elements give up where it is more than 30: an environment token
 * that was refused is refused until somebody changes it.
 */
const RETRY_AFTER = '60';

/** The answer for a token that could not be had. It says on which side it failed and little more: the error names the builder. */
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
    return caused(
      new Refusal(502, 'upstream-refused', 'The builder refused this server; its log should say why', {
        'retry-after': RETRY_AFTER,
      }),
      refusedToken(status, code),
    );
  }
  const refusal =
    name === 'TimeoutError'
      ? new Refusal(504, 'upstream-timeout', 'The builder gave no editor token in time; try again later')
      : new Refusal(502, 'upstream-failed', 'The builder gave no editor token; try again later');
  return caused(refusal, error ?? new Error('getEditorToken rejected without an error'));
}

function caused(refusal: Refusal, cause: unknown): Refusal {
  refusal.cause = cause;
  return refusal;
}

/** One line for a log. Where it happened is always here, so that a stack would only hide what to do. */
function refusedToken(status: number, code: unknown): Error {
  const said = typeof code === 'string' ? ` ${code.slice(0, 100)}` : '';
  const error = new Error(
    `The builder refused the environment token (${status}${said}): it has ended, or is for another environment; set environmentToken to a new one`,
  );
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
