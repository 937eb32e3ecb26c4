import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { mebibyte } from '../units.ts';
import type { Db } from './db.ts';

/** A text as three columns hold it: as it is, or compressed with zstd. */
export interface PackedText {
  /** The text; empty where it is compressed. */
  readonly text: string;
  readonly packed: Uint8Array | null;
  /** How many bytes of UTF-8 the text has, where it is compressed. Quotas count these. */
  readonly bytes: number | null;
}

/** Up to how many bytes this thread does the work: in a few tenths of a millisecond, less than handing it to another thread costs. */
const longestHere = 64 * 1024;

/** No stored text is longer, in bytes. */
const longest = 64 * mebibyte;

const compressElsewhere = promisify(zstdCompress);
const decompressElsewhere = promisify(zstdDecompress);

/**
 * Compresses a text of `shortest` characters or more, where all programs that may use the database can read it. Below some
 * thousands of characters it saves little for what it costs.
 */
export async function packText(
  { packsTexts }: Pick<Db, 'packsTexts'>,
  text: string,
  shortest: number,
): Promise<PackedText> {
  const plain = { text, packed: null, bytes: null };
  if (!packsTexts || text.length < shortest) return plain;
  const source = Buffer.from(text);
  const options = {
    // Makes the compressor's tables no larger than the text needs.
    pledgedSrcSize: source.length,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  };
  const packed =
    source.length <= longestHere
      ? zstdCompressSync(source, options)
      : await compressElsewhere(source, options);
  return packed.length < source.length ? { text: '', packed, bytes: source.length } : plain;
}

/**
 * The text of a row. Rejects where the compressed text does not have the length that the row says, before it takes more memory than
 * that.
 */
export async function unpackText({ text, packed, bytes }: PackedText): Promise<string> {
  if (packed === null) return text;
  const length = bytes ?? 0;
  if (length < 1 || length > longest) throw new Error(`A compressed text says that it has ${length} bytes.`);
  const options = { maxOutputLength: length, params: { [constants.ZSTD_d_windowLogMax]: 23 } };
  const source =
    length <= longestHere ? zstdDecompressSync(packed, options) : await decompressElsewhere(packed, options);
  if (source.length !== length)
    throw new Error(`A compressed text has ${source.length} bytes, and not ${length}.`);
  return source.toString();
}
