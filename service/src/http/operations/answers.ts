import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type * as z from 'zod';
import { describeIssues } from './issues.ts';

/** The headers that answers may have beside those of every answer, with what they say. */
export const answerHeaders = {
  etag: 'The entity tag of the draft.',
  'x-plugin-version': 'The version that ran.',
  'x-suborbital-requestid': 'The id of the run, which is that of the request.',
  'server-timing': '`run;dur=<ms>`: how long the run took.',
} as const;

export type AnswerHeader = keyof typeof answerHeaders;

interface AnswerBase {
  readonly description: string;
  readonly headers?: readonly AnswerHeader[];
}

/** An answer of JSON. It is checked as well: one that does not fit is a fault of the service. */
export interface JsonAnswer<Schema extends z.ZodType = z.ZodType> extends AnswerBase {
  readonly kind: 'json';
  readonly schema: Schema;
  /** What the answer is instead where the client asks for `text/event-stream`: the handler returns a `Response`. */
  readonly events?: string;
}

export interface TextAnswer extends AnswerBase {
  readonly kind: 'text';
  /** Whether the text may be JSON, which a reply says with `isJson`, and is answered as such. */
  readonly orJson?: true;
}

export interface EmptyAnswer extends AnswerBase {
  readonly kind: 'empty';
}

export type Answer = JsonAnswer | TextAnswer | EmptyAnswer;

export type AnswerStatus = 200 | 201 | 204 | 304 | 503;

/** What an operation answers when it does what it was asked for. */
export type Answers = { readonly [S in AnswerStatus]?: Answer };

/** What a handler returns: a status of those that are declared, with the body that belongs to it. */
export type Reply<A extends Answers> = {
  [S in keyof A & AnswerStatus]: A[S] extends JsonAnswer<infer Schema>
    ? { readonly status: S; readonly body: DeepReadonly<z.input<Schema>>; readonly headers?: ReplyHeaders }
    : A[S] extends TextAnswer
      ? {
          readonly status: S;
          readonly body: string;
          readonly isJson?: true;
          readonly headers?: ReplyHeaders;
        }
      : { readonly status: S; readonly body?: undefined; readonly headers?: ReplyHeaders };
}[keyof A & AnswerStatus];

/** What is answered is not changed any more, and is often what somebody else keeps. */
type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

export type ReplyHeaders = { readonly [H in AnswerHeader]?: string };

interface AnyReply {
  readonly status: AnswerStatus;
  readonly body?: unknown;
  readonly isJson?: true;
  readonly headers?: ReplyHeaders;
}

export const json = <Schema extends z.ZodType, Options extends Omit<JsonAnswer, 'kind' | 'schema'>>(
  schema: Schema,
  options: Options,
): JsonAnswer<Schema> & Options => ({ kind: 'json', schema, ...options });

export const text = (options: Omit<TextAnswer, 'kind'>): TextAnswer => ({ kind: 'text', ...options });

export const empty = (options: Omit<EmptyAnswer, 'kind'>): EmptyAnswer => ({ kind: 'empty', ...options });

/** Makes a reply, where a handler is a function of its own. */
export const reply = <const S extends AnswerStatus, Body>(
  status: S,
  body: Body,
  headers: ReplyHeaders = {},
) => ({
  status,
  body,
  headers,
});

const textType = { 'content-type': 'text/plain; charset=utf-8' } as const;
const jsonType = { 'content-type': 'application/json' } as const;

/**
 * Answers with a reply.
 * @throws Error when it is not one of those that are declared, which is a fault of ours.
 */
export function answer(c: Context, id: string, answers: Answers, given: AnyReply): Response {
  const { status, body, isJson, headers } = given;
  const declared = answers[status];
  if (!declared) throw new Error(`${id} does not declare that it answers ${status}.`);
  if (declared.kind === 'empty') return c.body(null, status, headers);
  const contentful = status as ContentfulStatusCode;
  if (declared.kind === 'text') {
    const type = declared.orJson && isJson ? jsonType : textType;
    return c.body(body as string, contentful, headers ? { ...headers, ...type } : type);
  }
  const { error } = declared.schema.safeParse(body);
  if (error)
    throw new Error(`The answer ${status} of ${id} is wrong: ${describeIssues(error.issues, 'it')}.`);
  return c.json(body as object, contentful, headers);
}
