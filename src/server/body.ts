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
  const reader = request.clone().body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  try {
    for (let part; !(part = await reader.read()).done;) {
      size += part.value.length;
      if (size > MAX_BYTES) throw tooLarge('body');
      text += decoder.decode(part.value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    // Not waited for: it ends only when the other copy is cancelled too.
    void reader.cancel().catch(() => undefined);
    throw error instanceof Refusal ? error : badRequest('The body must be whole, and UTF-8');
  }
}
