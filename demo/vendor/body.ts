import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type * as z from 'zod/mini';
import { Refusal } from './refusals.ts';

/** Refuses a body above `bytes` with 413. */
export const limitBody = (bytes: number) =>
  bodyLimit({
    maxSize: bytes,
    onError: () => {
      throw new Refusal(413, 'too-large', `The body is larger than ${bytes} bytes.`);
    },
  });

/** The JSON body of a request, of the given shape. Throws 415 for another type, 400 for what does not fit. */
export async function readBody<T>(c: Context, schema: z.ZodMiniType<T>): Promise<T> {
  if (!/^application\/json\s*(?:;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new Refusal(
      415,
      'unsupported-media-type',
      'The body must be JSON, with "content-type: application/json".',
    );
  }
  const value: unknown = await c.req.json().catch(() => {
    throw new Refusal(400, 'invalid-json', 'The body is not valid JSON.');
  });
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw new Refusal(400, 'invalid-body', 'The body is not the JSON that this operation takes.');
  }
  return parsed.data;
}
