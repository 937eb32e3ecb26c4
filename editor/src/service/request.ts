import { HttpError, NetworkError, RequestError, SchemaError, TimeoutError } from 'plugin-editor/client.js';
import type { ZodMiniType } from 'zod/mini';

/** One request to the plugin service. `method`, `body` and `keepalive` are what `fetch` takes by these names. */
export interface ServiceRequest extends Pick<RequestInit, 'method' | 'body' | 'keepalive'> {
  url: string;
  headers: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** From sending to the last byte of the response, in ms; default 15000. */
  timeout?: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** A response with a status of 2xx. */
export interface ServiceResponse {
  headers: Headers;
  /** Ends with a SchemaError when it is longer than 8 MiB. */
  body: ReadableStream<Bytes> | undefined;
  /** Names the request in error messages. */
  label: string;
}

const DEFAULT_TIMEOUT = 15_000;

/** The longest response that is read, in bytes, so that none can fill the memory. */
const MAX_BYTES = 8 * 2 ** 20;

/** The address of an operation. `builder` is an address as `findBuilder` returns it; each segment is encoded. */
export const operationUrl = (builder: string, ...segments: string[]): string =>
  [builder, 'api', 'v1', ...segments.map(encodeURIComponent)].join('/');

/**
 * Sends a request once and reads the response within the same time limit. No cookies are sent, because the service knows
 * tokens only, and a redirect is not followed, because it could lead the token elsewhere.
 * @throws HttpError, TimeoutError, NetworkError, what `read` throws as a RequestError, or the signal's reason.
 */
export async function sendRequest<T>(
  { url, signal, timeout = DEFAULT_TIMEOUT, ...init }: ServiceRequest,
  read: (response: ServiceResponse) => Promise<T>,
): Promise<T> {
  const label = `${init.method ?? 'GET'} ${url}`;
  const limit = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(url, {
      ...init,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const { headers, status, ok, body } = response;
    if (ok) return await read({ headers, body: body?.pipeThrough(limitBytes(label)), label });
    // A body that nobody reads would keep its connection.
    body?.cancel().catch(() => {});
    throw new HttpError(label, status, parseRetryAfter(headers, Date.now()));
  } catch (error) {
    signal?.throwIfAborted();
    if (limit.aborted) throw new TimeoutError(label, timeout);
    throw error instanceof RequestError ? error : new NetworkError(label, error);
  }
}

/** Sends a request and checks the response, which is to be JSON of the given shape. @throws as `sendRequest`; SchemaError. */
export const requestJson = <T>(
  schema: ZodMiniType<T>,
  request: ServiceRequest,
): Promise<{ data: T; headers: Headers }> =>
  sendRequest(request, async (response) => ({
    data: parseRecord(schema, await readText(response), response.label),
    headers: response.headers,
  }));

/** The text of a response. */
export async function readText({ body }: ServiceResponse): Promise<string> {
  let text = '';
  // Read from the stream itself: a `Response` made of it would, in Chromium, hide the error that ended the stream.
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part; (part = await reader?.read()) && !part.done;) text += part.value;
  return text;
}

/**
 * Parses a record and checks its shape.
 * @throws SchemaError that says where the record is wrong. It never quotes the text, which may hold a secret.
 */
export function parseRecord<T>(schema: ZodMiniType<T>, text: string, label: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SchemaError(label, 'not JSON');
  }
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [issue] = error.issues;
  const problem = issue?.code === 'invalid_type' ? `expected ${issue.expected}` : 'not a usable value';
  throw new SchemaError(label, problem, issue?.path.join('.'));
}

/**
 * How long a `Retry-After` header asks to wait from `now`, in ms. The header holds seconds or a date; a date is taken
 * relative to the response's own `Date`, because the local clock may be hours off. `undefined` when it holds neither.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // Dates of HTTP end like this. Without the check, engines would read '1.5' as a date too.
  if (!value.endsWith('GMT')) return undefined;
  const wait = Date.parse(value) - (Date.parse(headers.get('date') ?? '') || now);
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function limitBytes(label: string): TransformStream<Bytes, Bytes> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > MAX_BYTES) controller.error(new SchemaError(label, `larger than ${MAX_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
