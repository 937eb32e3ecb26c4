import type { Context } from 'hono';
import type * as z from 'zod';
import { chooseEncoding, compressOnce, contentEncodings } from '../content-encoding.ts';
import type { Bytes, ContentEncoding } from '../content-encoding.ts';
import { defaultHeaders, requestInfo } from '../request-info.ts';
import { describeIssues } from './issues.ts';
import type { Operation } from './operation.ts';

/** The headers that a response may have besides those of every response, with their descriptions in the OpenAPI document. */
export const responseHeaders = {
  etag: 'The entity tag of the draft.',
  'x-plugin-version': 'The version that ran.',
  'x-suborbital-requestid': 'The id of the run, which is that of the request.',
  'server-timing': '`run;dur=<ms>`: how long the run took.',
} as const;

export type ResponseHeader = keyof typeof responseHeaders;

interface ResponseBase {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
}

/** A response of JSON. Its body fits the schema, which tests check: see `checksResponses` of the service's options. */
export interface JsonResponse<Schema extends z.ZodType = z.ZodType> extends ResponseBase {
  readonly kind: 'json';
  readonly schema: Schema;
  /**
   * Describes the events that are sent instead where the client accepts `text/event-stream`. The handler then returns a
   * `Response` itself.
   */
  readonly events?: string;
  /** What is sent instead where the client accepts that type: all rows of a list. The handler then returns a `Response` itself. */
  readonly rows?: RowStream;
}

/** All rows of a list in another type than JSON. */
export interface RowStream {
  readonly type: 'application/x-ndjson' | 'text/csv';
  readonly description: string;
}

export interface TextResponse extends ResponseBase {
  readonly kind: 'text';
  /** Whether the text may be JSON. It is sent with the content type of JSON where the handler returns `isJson`. */
  readonly orJson?: true;
}

export interface EmptyResponse extends ResponseBase {
  readonly kind: 'empty';
}

export type DeclaredResponse = JsonResponse | TextResponse | EmptyResponse;

export type ResponseStatus = 200 | 201 | 202 | 204 | 304 | 400 | 404 | 406 | 415 | 503;

/** The responses of an operation, but for the service's errors, by their status codes. */
export type DeclaredResponses = { readonly [S in ResponseStatus]?: DeclaredResponse };

/** What a handler returns: one of the declared status codes, with the body that is declared for it. */
export type HandlerResponse<A extends DeclaredResponses> = {
  [S in keyof A & ResponseStatus]: A[S] extends JsonResponse<infer Schema>
    ? {
        readonly status: S;
        readonly body: DeepReadonly<z.input<Schema>> | JsonText;
        readonly headers?: ResponseHeaders;
      }
    : A[S] extends TextResponse
      ? {
          readonly status: S;
          readonly body: string;
          readonly isJson?: true;
          readonly headers?: ResponseHeaders;
        }
      : { readonly status: S; readonly body?: undefined; readonly headers?: ResponseHeaders };
}[keyof A & ResponseStatus];

/** A returned body is never changed, so that a handler may return values that a cache or a table still holds. */
type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

export type ResponseHeaders = { readonly [H in ResponseHeader]?: string };

/** What the handler of any operation returns. */
export interface AnyHandlerResponse {
  readonly status: ResponseStatus;
  readonly body?: unknown;
  readonly isJson?: true;
  readonly headers?: ResponseHeaders;
}

export const json = <Schema extends z.ZodType, Options extends Omit<JsonResponse, 'kind' | 'schema'>>(
  schema: Schema,
  options: Options,
): JsonResponse<Schema> & Options => ({ kind: 'json', schema, ...options });

export const text = (options: Omit<TextResponse, 'kind'>): TextResponse => ({ kind: 'text', ...options });

export const empty = (options: Omit<EmptyResponse, 'kind'>): EmptyResponse => ({ kind: 'empty', ...options });

/** Makes what a handler returns. The types stay literal, so that they can be checked against the declared responses. */
export const respond = <const S extends ResponseStatus, Body>(
  status: S,
  body: Body,
  headers: ResponseHeaders = {},
) => ({
  status,
  body,
  headers,
});

/** A body of a JSON response that is JSON text already, such as a stored record: it is sent as it is. */
export class JsonText {
  readonly text: string;

  constructor(content: string) {
    this.text = content;
  }
}

/** JSON that is the same in every response: its bytes, also compressed, are made once. */
export class JsonFile extends JsonText {
  readonly #bytes: Bytes;
  #compressed: Promise<ReadonlyMap<ContentEncoding, Bytes>> | undefined;

  constructor(content: string) {
    super(content);
    this.#bytes = new TextEncoder().encode(content);
  }

  async toResponse(c: Context): Promise<Response> {
    const encoding = chooseEncoding(c.req.header('accept-encoding'), contentEncodings);
    if (encoding) this.#compressed ??= compressOnce(this.#bytes);
    const body = (encoding && (await this.#compressed)?.get(encoding)) ?? this.#bytes;
    const headers = { ...jsonType, 'content-length': String(body.byteLength), vary: 'accept-encoding' };
    return c.body(body, 200, encoding ? { ...headers, 'content-encoding': encoding } : headers);
  }
}

const textType = { 'content-type': 'text/plain; charset=utf-8' } as const;
const jsonType = { 'content-type': 'application/json' } as const;

/**
 * Makes the HTTP response of what a handler returned.
 * @param isChecked whether the body is checked by its schema
 * @throws Error when the operation does not declare such a response, or its body was checked and does not fit: either is a
 * defect of the service.
 */
export function toResponse(
  c: Context,
  { id, responses }: Pick<Operation, 'id' | 'responses'>,
  returned: AnyHandlerResponse,
  isChecked: boolean,
): Response | Promise<Response> {
  const { status, body, isJson, headers } = returned;
  const declared = responses[status];
  if (!declared) throw new Error(`${id} does not declare that it answers ${status}.`);
  if (declared.kind === 'empty') return responseWith(c, null, status, headers);
  if (declared.kind === 'text') {
    const type = declared.orJson && isJson ? jsonType : textType;
    return responseWith(c, body as string, status, { ...headers, ...type });
  }
  if (isChecked) {
    const value: unknown = body instanceof JsonText ? JSON.parse(body.text) : body;
    const { error } = declared.schema.safeParse(value);
    if (error)
      throw new Error(`The response ${status} of ${id} is wrong: ${describeIssues(error.issues, 'it')}.`);
  }
  if (body instanceof JsonFile) return body.toResponse(c);
  const content = body instanceof JsonText ? body.text : JSON.stringify(body);
  return responseWith(c, content, status, { ...headers, ...jsonType });
}

/** Makes a response with all its headers at once: to add them to a response costs more than to make it. */
function responseWith(
  c: Context,
  body: string | null,
  status: ResponseStatus,
  headers: ResponseHeaders = {},
): Response {
  const info = requestInfo(c);
  info.hasHeaders = true;
  return new Response(body, { status, headers: { ...defaultHeaders, ...headers, ...info.responseHeaders } });
}
