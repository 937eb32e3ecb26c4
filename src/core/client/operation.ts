import type * as z from 'zod/mini';
import { SchemaError } from '../errors.ts';
import {
  CallerError,
  type ReadResponse,
  type Received,
  type SendOptions,
  type ToError,
  bearer,
  parseJson,
  readJson,
  readText,
  request,
} from '../request.ts';
import { baseOf, checkSegment } from '../url.ts';
import { eventToResponse } from './error-body.ts';
import { type StreamEvent, readEvents } from './event-stream.ts';

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
  /** The service may stream the response as events, the last of which holds the JSON. */
  events?: Events;
  headers?: Record<string, string> | undefined;
  /** A body of JSON. */
  json?: object | undefined;
  /** A body of text. */
  text?: string;
  /** Lets the request outlive its page, where its body is not too large for that. */
  keepalive?: boolean | undefined;
  /** The time limit where the client has none, in ms; default 15000. */
  timeout?: number;
}

/** How a response that is streamed is read. */
interface Events {
  /** The type of the event that holds the JSON. */
  last: string;
  /** Is called with each event before that one, as it arrives. What it throws ends the request. */
  onEvent: (event: StreamEvent, label: string) => void;
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
  tryFor?: number | undefined;
  onBusy?: ((wait: number) => void) | undefined;
}

/**
 * Sends an operation and reads the response. By default, only an operation that reads is tried again, because a lost response
 * does not say whether a write was made, or a plugin ran.
 */
export function sendOperation<T>(
  { method, path, schema, events, headers, json, text, keepalive, timeout }: Operation<T>,
  { base, token, credentials, ...options }: OperationOptions,
): Promise<Received<T>> {
  const body = json ? JSON.stringify(json) : text;
  const type = json ? 'application/json' : 'text/plain; charset=utf-8';
  // Some runtimes refuse options of `fetch` that they do not know.
  const init: RequestInit = {
    ...(method && { method }),
    headers: { ...(token && bearer(token)), ...(body !== undefined && { 'content-type': type }), ...headers },
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
    schema
      ? readRecord(schema, events, options.toError)
      : (readText as ReadResponse<unknown> as ReadResponse<T>),
  );
}

const byteLength = (text = '') => new TextEncoder().encode(text).length;

/** Reads JSON: all that the response is, or its last event. An event `error` is thrown as if the response had been that error. */
const readRecord =
  <T>(schema: z.ZodMiniType<T>, events: Events | undefined, toError: ToError): ReadResponse<T> =>
  async (response, label) => {
    const { body, headers } = response;
    const parse = parseWith(schema);
    if (!events || !body || !/^text\/event-stream/i.test(headers.get('content-type') ?? ''))
      return readJson(parse)(response, label);
    for await (const event of readEvents(body, label)) {
      const { type, data } = event;
      // The end of the stream is not waited for: a proxy may keep the connection open.
      if (type === events.last) return parse(parseJson(data, label), label);
      if (type === 'error')
        throw await toError(eventToResponse(parseJson(data, label), headers, label), label);
      events.onEvent(event, label);
    }
    throw new SchemaError(label, 'the event stream ended without a result');
  };

/** Calls a function of the caller's. What it throws reaches the caller as it is, and nothing is sent again. */
export function callBack<T>(callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    throw new CallerError(error);
  }
}

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
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(set as string[][]);
  return query.size > 0 ? `?${query}` : '';
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
