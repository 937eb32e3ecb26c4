import type { Context } from 'hono';
import type * as z from 'zod';
import { mediaTypeOf, readJson, readPlainText } from '../body.ts';
import type { CheckCounts } from '../body.ts';
import type { ServiceContext } from '../context.ts';
import type { CodeOf } from '../error-codes.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { describeIssues, pointerOf } from './issues.ts';
import { recordLimits } from '../../plugins/records.ts';
import type { Target } from './path-parameters.ts';

/** A body of JSON, which is read and validated before the operation's handler is called. */
export interface JsonBody<Schema extends z.ZodType = z.ZodType, Optional extends boolean = boolean> {
  readonly kind: 'json';
  readonly schema: Schema;
  readonly description: string;
  /** Bytes. */
  readonly limit: number;
  /** Whether the body may be left out. An empty body counts as left out, whatever its content type. */
  readonly optional: Optional;
  /** The error code for a body that does not fit the schema. */
  readonly code: CodeOf<422>;
  /** What error messages call the body, such as `the record`. */
  readonly name: string;
  /** Refuses a body by what it holds, before it is parsed. */
  readonly check?: ((target: Target, context: ServiceContext) => CheckCounts) | undefined;
}

/**
 * A body of text, in UTF-8. The handler reads it, and should do so after everything that may refuse the request, because a text
 * can be large.
 */
export interface TextBody {
  readonly kind: 'text';
  readonly description: string;
  /** Bytes. */
  readonly limit: number;
  /** The error code for a longer body. */
  readonly tooLarge: CodeOf<413>;
  readonly example?: string;
  /** JSON that the handler takes as well, by its content type. A body of it above its limit, in bytes, is `too-large`. */
  readonly json?: { readonly type: string; readonly schema: z.ZodType; readonly limit: number };
}

export type Body = JsonBody | TextBody;

/** Reads a body of text. `holdsJson`: whether it is JSON, by whatever content type (default false). */
export type ReadText = (options?: { readonly holdsJson?: boolean }) => Promise<string>;

/** What a handler is given as the body. */
export type BodyOf<B> =
  B extends JsonBody<infer Schema, infer Optional>
    ? z.output<Schema> | (Optional extends true ? undefined : never)
    : B extends TextBody
      ? ReadText
      : undefined;

/** The limit of most bodies of JSON, in bytes. */
const smallBody = 64 * 1024;

interface JsonBodyOptions {
  readonly description: string;
  readonly limit?: number;
  readonly code?: CodeOf<422>;
  readonly name?: string;
  readonly check?: JsonBody['check'];
}

/** A body of JSON that has to be there. Fields that the schema does not name are ignored, unless it is a strict one. */
export const jsonBody = <Schema extends z.ZodType>(
  schema: Schema,
  options: JsonBodyOptions,
): JsonBody<Schema, false> => ({ ...jsonDefaults, ...options, schema, optional: false });

/** A body of JSON that may be left out. */
export const optionalJsonBody = <Schema extends z.ZodType>(
  schema: Schema,
  options: JsonBodyOptions,
): JsonBody<Schema, true> => ({ ...jsonDefaults, ...options, schema, optional: true });

const jsonDefaults = { kind: 'json', limit: smallBody, code: 'invalid-body', name: 'the body' } as const;

export const textBody = (options: Omit<TextBody, 'kind' | 'tooLarge'> & Partial<TextBody>): TextBody => ({
  kind: 'text',
  tooLarge: 'too-large',
  ...options,
});

/** What the handler is given as the body of a request. Throws as {@link readJson}, and 422 where it does not fit the schema. */
export function readBody(c: Context, body: Body, target: Target, context: ServiceContext): unknown {
  if (body.kind === 'text') {
    const readText: ReadText = ({ holdsJson = false } = {}) => {
      const { limit, tooLarge } = limitOf(body, c);
      return readPlainText(c, limit, tooLarge, holdsJson);
    };
    return readText;
  }
  return readCheckedJson(c, body, body.check?.(target, context));
}

/** How long the body of a request may be, in bytes, and the error code for a longer one. */
export const limitOf = (
  body: Body,
  c: Context,
): { readonly limit: number; readonly tooLarge: CodeOf<413> } => {
  if (body.kind === 'json') return { limit: body.limit, tooLarge: 'too-large' };
  const { json, limit, tooLarge } = body;
  return json && json.type === mediaTypeOf(c)
    ? { limit: json.limit, tooLarge: 'too-large' }
    : { limit, tooLarge };
};

async function readCheckedJson(c: Context, body: JsonBody, check: CheckCounts | undefined): Promise<unknown> {
  const { schema, limit, optional, code, name } = body;
  const validate = (value: unknown) => {
    const { success, data, error } = schema.safeParse(value);
    if (success) return data;
    throw new ServiceError(422, code, describeIssues(error.issues, name), { path: pointerOf(error.issues) });
  };
  return readJson(
    c,
    { limit, isOptional: optional, check: check ?? refuseMany(code, name, limit) },
    validate,
  );
}

/** Refuses JSON with more values than a record may have. Those that a small body can hold are few. */
export const refuseMany =
  (code: CodeOf<422>, name: string, limit: number): CheckCounts =>
  async ({ values }) => {
    if (limit <= smallBody || values <= recordLimits.values) return;
    const message = `${name}: expected at most ${recordLimits.values} members of objects and elements of arrays, received ${values}.`;
    throw new ServiceError(422, code, message, { path: '' });
  };

/** The query of a request, as its schema reads it. Throws 400 where it does not fit. Of a repeated parameter the first counts. */
export function readQuery(c: Context, schema: z.ZodType | undefined): unknown {
  if (!schema) return {};
  try {
    // The parser would keep what it cannot decode as it is.
    decodeURIComponent(new URL(c.req.url).search);
  } catch {
    throw badRequest('invalid-query', 'The query is not percent-encoded UTF-8.', '');
  }
  const { success, data, error } = schema.safeParse(c.req.query());
  if (success) return data;
  throw badRequest('invalid-query', describeIssues(error.issues, 'the query'), pointerOf(error.issues));
}
