import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';

export type Bytes = Uint8Array<ArrayBuffer>;

/** The compressions that the service can answer with, best first. */
export const contentEncodings = ['br', 'gzip'] as const;

export type ContentEncoding = (typeof contentEncodings)[number];

/**
 * The compression that a client wants most of those there are, by its `Accept-Encoding`. Of those it wants equally, the
 * best one.
 * @returns `undefined` for no compression. That is also the answer to a client that accepts nothing at all, because RFC
 * 9110 leaves that to the server, and an answer such a client may be able to read is better than none.
 */
export function chooseEncoding(
  accepted: string | undefined,
  available: readonly ContentEncoding[],
): ContentEncoding | undefined {
  // Without the header any compression would be allowed; but whoever does not send it often cannot decompress.
  const values = parseAccept(accepted ?? '').map(({ type, q }) => ({ name: nameOf(type), q }));
  const weightOf = (name: string) =>
    (values.find((one) => one.name === name) ?? values.find((one) => one.name === '*'))?.q ?? 0;
  // Every client can read an answer as it is, so this counts only where the client gives it a weight by its name.
  const plain = values.find(({ name }) => name === 'identity')?.q ?? 0;
  let [chosen, most]: [ContentEncoding | undefined, number] = [undefined, 0];
  for (const name of contentEncodings) {
    const weight = available.includes(name) ? weightOf(name) : 0;
    if (weight > most && weight >= plain) [chosen, most] = [name, weight];
  }
  return chosen;
}

/** A coding's name as it is registered; `x-gzip` is an old name of `gzip`. */
function nameOf(type: string): string {
  const name = type.toLowerCase();
  return name === 'x-gzip' ? 'gzip' : name;
}

/** Compresses a short text that is different in every answer: quickly rather than as much as possible. */
export function compressQuickly(body: Bytes, encoding: ContentEncoding): Bytes {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_SIZE_HINT]: body.byteLength };
  return new Uint8Array(encoding === 'br' ? brotliCompressSync(body, { params }) : gzipSync(body));
}
