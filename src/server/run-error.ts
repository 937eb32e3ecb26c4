import {
  type ErrorFields,
  appendDetail,
  errorFields,
  readErrorBody,
  setMessage,
  withoutControls,
} from '../core/client/error-body.ts';
import { HttpError } from '../core/errors.ts';
import { redactTokens } from '../core/untrusted.ts';
import { DEFAULT_MAX_BYTES, httpErrorOf } from '../core/request.ts';

/** How much an error keeps of the message and the logs together, in bytes of UTF-8. */
const KEPT_BYTES = 65_536;

/** What an error body says about a run. */
interface RunFailure extends ErrorFields {
  code: string;
  message?: string;
  logs?: readonly string[];
}

/**
 * A run has no output, and the response says why: `plugin-error`, `time-limit`, `memory-limit`, `version-not-found` and
 * others. `message` and `logs` are untrusted text, because they come from the author of the plugin. Together they are cut to
 * 64 KB, and `message` has no control characters.
 */
export class RunError extends HttpError {
  override readonly name = 'RunError';
  /** Why there is no output, for programs. */
  declare readonly code: string;
  /** What the plugin logged before it failed, one item for each time that it logged. */
  declare readonly logs?: readonly string[];

  constructor(label: string, { status, retryAfter }: HttpError, { message, ...failure }: RunFailure) {
    super(label, status, retryAfter);
    if (message) setMessage(this, message);
    Object.assign(this, failure);
  }
}

/**
 * Makes the error of a run: a `RunError` where the body says what failed, else an `HttpError`.
 * @param secret the environment token, which is redacted
 * @internal
 */
export async function toRunError(
  response: Response,
  label: string,
  signal: AbortSignal | undefined,
  secret: string,
): Promise<HttpError> {
  const body = (await readErrorBody(response, signal, DEFAULT_MAX_BYTES)) as {
    error?: { message?: unknown };
    logs?: unknown;
  };
  const error = httpErrorOf(response, label);
  const fields = errorFields(body, response.headers, secret);
  const { code } = fields;
  if (!code) return appendDetail(Object.assign(error, fields));
  const message = body.error?.message;
  const limitText = createTextLimiter(secret);
  const said = typeof message === 'string' ? limitText(withoutControls(message)) : '';
  const logs = Array.isArray(body.logs) ? limitEntries(body.logs, limitText) : [];
  return new RunError(label, error, {
    ...fields,
    code,
    ...(said && { message: said }),
    ...(logs.length > 0 && { logs }),
  });
}

/** Keeps the entries that are text, until there is no room left. */
function limitEntries(entries: readonly unknown[], limitText: (text: string) => string): string[] {
  const kept: string[] = [];
  for (const entry of entries) {
    if (typeof entry !== 'string') continue;
    const text = limitText(entry);
    if (!text && entry) break;
    kept.push(text);
  }
  return kept;
}

/**
 * Creates a function that returns a text without the token as long as there is room in `KEPT_BYTES`. The text that does not
 * fit is cut, and all further ones are empty.
 */
function createTextLimiter(secret: string): (text: string) => string {
  const buffer = new Uint8Array(KEPT_BYTES);
  let used = 0;
  return (text) => {
    const clean = redactTokens(text.toWellFormed(), [secret], text.length);
    const { read, written } = new TextEncoder().encodeInto(clean, buffer.subarray(used));
    used += written;
    return clean.slice(0, read);
  };
}
