import type { Context, MiddlewareHandler } from 'hono';
import type * as z from 'zod/mini';
import { Refusal } from './refusals.ts';

/** How much of an unwanted body is received at most, in bytes. */
const UNWANTED = 64 * 1024 * 1024;

/**
 * Receives the rest of a body before the response is sent, because many clients do not read a refusal before they have sent the
 * whole body. The server's time limit for requests bounds the wait.
 */
export const receiveUnreadBodies: MiddlewareHandler = async (c, next) => {
  await next();
  const { body, bodyUsed } = c.req.raw;
  if (body && !bodyUsed) await readUpTo(body, 0).catch(() => undefined);
};

/**
 * The JSON body of a request, of the given shape. Throws 415 for another type, 413 above `limit` bytes, 400 for what does
 * not fit.
 */
export async function readBody<T>(c: Context, schema: z.ZodMiniType<T>, limit: number): Promise<T> {
  if (!/^application\/json\s*(?:;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new Refusal(
      415,
      'unsupported-media-type',
      'The body must be JSON, with "content-type: application/json".',
    );
  }
  const bytes = await readUpTo(c.req.raw.body, limit);
  if (!bytes) throw new Refusal(413, 'too-large', `The body is larger than ${limit} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'invalid-json', 'The body is not valid JSON.');
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw new Refusal(400, 'invalid-body', 'The body is not the JSON that this operation takes.');
  }
  return parsed.data;
}

/** The text of a body. Throws 413 above `limit` bytes. */
export async function readText(c: Context, limit: number): Promise<string> {
  const bytes = await readUpTo(c.req.raw.body, limit);
  if (!bytes) throw new Refusal(413, 'too-large', `The body is larger than ${limit} bytes.`);
  return new TextDecoder().decode(bytes);
}

/** The whole of a body; `undefined` when it is longer than `limit` bytes, and then it was received and dropped. */
async function readUpTo(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length <= limit) chunks.push(chunk);
    else if (length > UNWANTED) break;
    else chunks.length = 0;
  }
  return length <= limit ? Buffer.concat(chunks) : undefined;
}
