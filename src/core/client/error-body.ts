import { type HttpError, SchemaError } from '../errors.ts';
import { redactTokens } from '../untrusted.ts';
import { httpErrorOf, readText } from '../request.ts';
import { withTimeLimit } from '../time-limit.ts';

/** The largest error body that is read, in bytes. A larger one is ignored. */
const MAX_ERROR_BYTES = 65_536;

/** How long to wait for an error body once its status is known, in ms. After that, the error has only the status. */
const BODY_TIMEOUT = 5000;

/** How much is kept of the message of an error body, in UTF-16 code units. */
const MAX_DETAIL = 1000;

/** What a code or a JSON Pointer looks like. Any other value of these fields is ignored. */
const PRINTABLE = /^\P{Cc}{0,1000}$/u;

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Characters that end a line of a log, move a terminal's cursor, or reorder what is shown. */
const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]+/gu;

/** What an error body says, each field only if it looks like one. */
export type ErrorFields = Pick<HttpError, 'code' | 'path' | 'detail' | 'requestId'>;

/**
 * Makes an `HttpError` with what the response says about itself.
 * @param label names the request
 * @param secret the token that was sent; it is in no field of the error
 * @internal
 */
export async function toHttpError(
  response: Response,
  label: string,
  signal: AbortSignal | undefined,
  secret: string | undefined,
): Promise<HttpError> {
  const body = await readErrorBody(response, signal, MAX_ERROR_BYTES);
  return Object.assign(httpErrorOf(response, label), errorFields(body, response.headers, secret));
}

/**
 * Makes the response that the event `error`, with which a stream ends, stands for: `{ status, error }`.
 * @param headers those of the stream
 * @throws SchemaError for an event of another form
 * @internal
 */
export function eventToResponse(event: unknown, headers: Headers, label: string): Response {
  const { status } = Object(event) as { status?: unknown };
  if (typeof status !== 'number' || !(status >= 400 && status <= 599)) {
    throw new SchemaError(label, 'not a usable value', 'status');
  }
  return new Response(JSON.stringify(event), { status, headers });
}

/** Reads an error body, `{ error: { code, message, path, requestId } }`. The header with the id takes precedence. @internal */
export function errorFields(body: object, headers: Headers, secret: string | undefined): ErrorFields {
  const error = Object((body as { error?: unknown }).error) as Record<string, unknown>;
  const fields: { -readonly [Name in keyof ErrorFields]: string } = {};
  const isUsable = (value: unknown, pattern: RegExp): value is string =>
    typeof value === 'string' && pattern.test(value) && !(secret && value.includes(secret));
  const { code, path, message } = error;
  const requestId = headers.get('x-request-id') ?? error['requestId'];
  if (isUsable(code, PRINTABLE)) fields.code = code;
  if (isUsable(path, PRINTABLE)) fields.path = path;
  if (isUsable(requestId, REQUEST_ID)) fields.requestId = requestId;
  if (typeof message === 'string' && message) {
    fields.detail = redactTokens(withoutControls(message), secret ? [secret] : [], MAX_DETAIL);
  }
  return fields;
}

/** Returns a text with a space for each run of control characters. @internal */
export const withoutControls = (text: string): string => text.toWellFormed().replace(CONTROL, ' ');

/** Changes the message of an error, also where the engine wrote it into the stack. @internal */
export function setMessage(error: Error, message: string): void {
  error.stack = (error.stack ?? '').replace(error.message, () => message);
  error.message = message;
}

/** Ends the message with the service's words, for clients of a vendor's server, whose service it is. @internal */
export function appendDetail(error: HttpError): HttpError {
  if (error.detail) setMessage(error, `${error.message}: ${error.detail}`);
  return error;
}

/** Reads an error body as a JSON object. Any other body, and one that breaks off, is an empty object. @internal */
export async function readErrorBody(
  response: Response,
  signal: AbortSignal | undefined,
  maxBytes: number,
): Promise<object> {
  try {
    const text = await withTimeLimit(() => readText(response, '', maxBytes), BODY_TIMEOUT, '', signal);
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}
