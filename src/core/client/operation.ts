import type * as z from 'zod/mini';
import { SchemaError } from '../errors.ts';
import {
  type ReadResponse,
  type Received,
  type SendOptions,
  type ToError,
  bearer,
  readJson,
  readText,
  request,
} from '../request.ts';
import { baseOf, checkSegment } from '../url.ts';

/** Browsers allow 64 KiB for the bodies of all requests together that outlive their page. */
const KEEPALIVE_BYTES = 60_000;

/** One request of an interface of the service, without the base address and the token. */
export interface Operation<T = string> {
  /** Default: `GET`. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** What follows the base address, encoded, with the query. */
  path: string;
  /** The shape of the response's JSON. Without it, the response is text. */
  schema?: z.ZodMiniType<T>;
  /** Reads the response in another way than as JSON or text. `token`: the one that was sent, which no error may hold. */
  read?: (token: string | undefined) => ReadResponse<T>;
  headers?: Record<string, string> | undefined;
  /** A body of JSON. */
  json?: object | undefined;
  /** The content type of that body (default `application/json`). */
  type?: string | undefined;
  /** A body of text. */
  text?: string;
  /** Lets the request outlive its page, where its body is not too large for that. */
  keepalive?: boolean | undefined;
  /** The time limit where the client has none, in ms; default 15000. */
  timeout?: number;
}

/** What a client adds to its operations when it sends them. */
export interface OperationOptions extends SendOptions {
  /** What the operation's path is appended to. */
  base: URL;
  /** Is sent as bearer. */
  token: string | undefined;
  credentials?: RequestCredentials;
  toError: ToError;
  signal: AbortSignal | undefined;
  onBusy?: ((wait: number) => void) | undefined;
}

/**
 * Sends an operation and reads the response. By default, only an operation that reads is tried again, because a lost response
 * does not say whether a write was made, or a plugin ran.
 */
export function sendOperation<T>(
  { method, path, schema, read, headers, json, type: jsonType, text, keepalive, timeout }: Operation<T>,
  { base, token, credentials, ...options }: OperationOptions,
): Promise<Received<T>> {
  const body = json ? JSON.stringify(json) : text;
  const type = json ? (jsonType ?? 'application/json') : 'text/plain; charset=utf-8';
  // Some runtimes refuse options of `fetch` that they do not know.
  const init: RequestInit = {
    ...(method && { method }),
    headers: { ...(token && bearer(token)), ...headers, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body }),
    ...(credentials && { credentials }),
    ...(keepalive && byteLength(body) < KEEPALIVE_BYTES && { keepalive }),
  };
  return request(
    {
      ...options,
      url: baseOf(base) + path,
      init,
      timeout: options.timeout ?? timeout,
      retry: options.retry ?? (method ? 0 : undefined),
    },
    // Without a schema, `T` is text.
    read?.(token) ??
      (schema ? readJson(parseWith(schema)) : (readText as ReadResponse<unknown> as ReadResponse<T>)),
  );
}

const byteLength = (text = '') => new TextEncoder().encode(text).length;

/** Makes a function that checks a value against a schema. It throws a `SchemaError` that says where the value is wrong. */
export const parseWith =
  <T>(schema: z.ZodMiniType<T>) =>
  (value: unknown, label: string): T => {
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    const [issue] = error.issues;
    const problem = issue?.code === 'invalid_type' ? `expected ${issue.expected}` : 'not a usable value';
    throw new SchemaError(label, problem, issue?.path.join('.'));
  };

/** The segments of a path, in order, keyed by the names that errors give them. */
export type Segments = Readonly<Record<string, string>>;

/**
 * Makes a path of fixed text, and of segments that are checked and encoded.
 * @throws TypeError that names a segment that no path can hold.
 */
export const encodedPath = (...parts: (string | Segments)[]): string =>
  parts.flatMap((part) => (typeof part === 'string' ? part : encodeSegments(part))).join('/');

/** Makes the path of an operation of the builder or environment interface. */
export const pathOf = (...parts: (string | Segments)[]): string => encodedPath('/api', ...parts);

const encodeSegments = (segments: Segments) =>
  Object.entries(segments).map(([name, value]) => encodeURIComponent(checkSegment(name, value)));

/** Makes a query of the values that are set, with its question mark; empty where none is set. */
export function queryOf<T extends { [Name in keyof T]: string | number | boolean | undefined }>(
  values: T,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values as Record<string, string | undefined>)) {
    if (value !== undefined) query.set(name, value);
  }
  return query.size > 0 ? `?${query}` : '';
}

/**
 * Returns text that will arrive as it was sent.
 * @throws TypeError that names `name` for anything but text, such as an object, which would arrive as `[object Object]`; and
 * for a lone surrogate, which would arrive as another character.
 */
export function checkText(name: string, text: string): string {
  if (typeof text !== 'string' || !text.isWellFormed())
    throw new TypeError(`${name} must be well-formed text`);
  return text;
}

/**
 * Makes the headers of a write that is to replace a known state.
 * @param etag what the state must have; `null`: there must be none yet; `undefined`: any
 * @throws TypeError for anything but an entity tag. Without the condition, the write could replace any draft.
 */
export function preconditions(etag: string | null | undefined): Record<string, string> {
  if (etag === undefined) return {};
  if (etag === null) return { 'if-none-match': '*' };
  if (!/^(?:W\/)?"[!#-~]*"$/.test(etag)) {
    throw new TypeError('etag must be as a response had it, with its quotes');
  }
  return { 'if-match': etag };
}
