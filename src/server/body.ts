import { SchemaError } from '../core/errors.ts';
import { textParts } from '../core/text-parts.ts';
import { Refusal } from './refusal.ts';

/** The largest body, or query of a GET, in bytes. It has to hold only `ident`, `namespace` and `fn`. */
export const MAX_BODY_BYTES = 4096;

export const tooLargeRefusal = (what: string) =>
  new Refusal(413, 'too-large', `The ${what} must not be larger than ${MAX_BODY_BYTES} bytes`);

export const badRequest = (message: string) => new Refusal(400, 'bad-request', message);

/**
 * Reads the body as text from a copy of the request, so that `authorize` can read it, too. A body whose `content-length` is
 * too large is refused before it is read. All others are counted as they are read, because that header may be missing or
 * wrong.
 * @throws Refusal 413 when it is too large, 400 when it is not UTF-8 or breaks off.
 */
export async function readBody(request: Request): Promise<string> {
  if (request.bodyUsed) {
    throw new TypeError(
      'The request’s body was read before the token endpoint got it; give it request.clone()',
    );
  }
  if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) throw tooLargeRefusal('body');
  const { body } = request.clone();
  if (!body) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for await (const part of textParts(body, MAX_BODY_BYTES, 'body', decoder)) text += part;
    return text;
  } catch (error) {
    throw error instanceof SchemaError
      ? tooLargeRefusal('body')
      : badRequest('The body must be whole, and UTF-8');
  }
}
