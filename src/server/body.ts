import { textParts } from '../core/text-parts.ts';
import { Refusal } from './refusal.ts';

/** What the body, or the query of a GET, may hold at the most, in bytes: four names and little else. */
export const MAX_BYTES = 4096;

export const tooLarge = (what: string) =>
  new Refusal(413, 'too-large', `The ${what} must not be larger than ${MAX_BYTES} bytes`);

export const badRequest = (message: string) => new Refusal(400, 'bad-request', message);

/**
 * The body as text, read from a copy, so that `authorize` can read it too. `content-length` may refuse a body before it
 * is read; what is read is counted all the same, as that header may be missing or wrong.
 * @throws Refusal 413 when it is too large, 400 when it is not UTF-8 or breaks off.
 */
export async function readBody(request: Request): Promise<string> {
  if (request.bodyUsed) {
    throw new TypeError(
      'The request’s body was read before the token endpoint got it; give it request.clone()',
    );
  }
  if (Number(request.headers.get('content-length')) > MAX_BYTES) throw tooLarge('body');
  const { body } = request.clone();
  if (!body) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for await (const part of textParts(body, MAX_BYTES, () => tooLarge('body'), decoder)) text += part;
    return text;
  } catch (error) {
    throw error instanceof Refusal ? error : badRequest('The body must be whole, and UTF-8');
  }
}
