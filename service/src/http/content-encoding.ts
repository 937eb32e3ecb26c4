import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip as gzipCallback, gzipSync } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';

export type Bytes = Uint8Array<ArrayBuffer>;

/** The content encodings of the service's responses, best first. */
export const contentEncodings = ['br', 'gzip'] as const;

export type ContentEncoding = (typeof contentEncodings)[number];

/**
 * The available encoding that a client prefers by its `Accept-Encoding`; among equally preferred ones, the best.
 * @returns `undefined` for no compression. That also holds for a client that accepts no encoding at all: RFC 9110 permits it,
 * and an uncompressed response is the one that such a client is most likely to read.
 */
export function chooseEncoding(
  accepted: string | undefined,
  available: readonly ContentEncoding[],
): ContentEncoding | undefined {
  // Without the header any encoding would be allowed, but clients that do not send it often cannot decompress.
  const values = parseAccept(accepted ?? '').map(({ type, q }) => ({ name: nameOf(type), q }));
  const weightOf = (name: string) =>
    (values.find((one) => one.name === name) ?? values.find((one) => one.name === '*'))?.q ?? 0;
  // Every client can read an uncompressed response, so `identity` counts only where the client names it.
  const plain = values.find(({ name }) => name === 'identity')?.q ?? 0;
  let [chosen, chosenWeight]: [ContentEncoding | undefined, number] = [undefined, 0];
  for (const name of contentEncodings) {
    const weight = available.includes(name) ? weightOf(name) : 0;
    if (weight > chosenWeight && weight >= plain) [chosen, chosenWeight] = [name, weight];
  }
  return chosen;
}

/** A coding's name as it is registered; `x-gzip` is an old name of `gzip`. */
function nameOf(type: string): string {
  const name = type.toLowerCase();
  return name === 'x-gzip' ? 'gzip' : name;
}

/** Compresses what is sent many times, in the background, and not so much that it takes a core for a second. */
export async function compressOnce(body: Bytes): Promise<ReadonlyMap<ContentEncoding, Bytes>> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength };
  const [br, gzipped] = await Promise.all([brotli(body, { params }), gzip(body)]);
  return new Map([
    ['br', new Uint8Array(br)],
    ['gzip', new Uint8Array(gzipped)],
  ]);
}

const brotli = promisify(brotliCompress);
const gzip = promisify(gzipCallback);

/** Compresses a short text that is different in every response: quickly rather than as much as possible. */
export function compressQuickly(body: Bytes, encoding: ContentEncoding): Bytes {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_SIZE_HINT]: body.byteLength };
  return new Uint8Array(encoding === 'br' ? brotliCompressSync(body, { params }) : gzipSync(body));
}
