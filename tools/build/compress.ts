import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;

/** The compressors, by the suffix of their files. They compress as much as the format allows. */
const formats: Record<string, (body: Buffer) => Promise<Buffer>> = {
  '.br': (body) =>
    promisify(brotliCompress)(body, {
      params: { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_SIZE_HINT]: body.byteLength },
    }),
  '.gz': (body) => promisify(gzip)(body, { level: 9 }),
};

/**
 * Puts compressed copies beside the files of a folder, where they are smaller: `index.js.br` and `index.js.gz`. This is done
 * when the package is built, because the best compression takes two seconds of a processor, which the service would otherwise
 * spend at each start, on each node. The folder `cache` keeps compressed files by the hash of their content, so that only
 * changed files take time.
 */
export async function compressFiles(folder: string, cache: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const names = await readdir(folder);
  // All at once: zlib works in a pool of threads.
  await Promise.all(
    names.flatMap((name) => {
      const file = join(folder, name);
      return Object.keys(formats).map((suffix) => compressFile(file, suffix, cache));
    }),
  );
}

async function compressFile(file: string, suffix: string, cache: string): Promise<void> {
  const body = await readFile(file);
  const cached = join(cache, createHash('sha256').update(body).digest('hex') + suffix);
  if (!existsSync(cached)) {
    // Renamed once it is complete, so that an interrupted build leaves no incomplete file in the cache.
    const part = `${cached}.${process.pid}`;
    await writeFile(part, (await formats[suffix]?.(body)) ?? '');
    await rename(part, cached);
  }
  const compressed = await readFile(cached);
  if (compressed.byteLength < body.byteLength) await writeFile(file + suffix, compressed);
}
