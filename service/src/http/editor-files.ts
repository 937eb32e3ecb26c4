import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';
import { type Bytes, type ContentEncoding, contentEncodings } from './content-encoding.ts';
import type { EditorAsset, EditorAssets } from './editor-page.ts';

/** Where the build puts the editor, in the package and in the repository alike. */
const builtEditor = fileURLToPath(new URL('../../dist/editor/', import.meta.url));

/** How the build names a file that it compressed: `index-B7x_2kQa.js.br` beside `index-B7x_2kQa.js`. */
const compressedSuffixes = { br: '.br', gzip: '.gz' } as const satisfies Record<ContentEncoding, string>;

/**
 * Reads the editor's built files into memory, so that no path that a request asks for ever reaches the disk.
 * @throws Error when there is no built editor in `folder`, or a file in it is of no known content type.
 */
export function readEditorFiles(folder = builtEditor): EditorAssets {
  const files = new Map<string, Bytes>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(relative(folder, file).replaceAll('\\', '/'), new Uint8Array(readFileSync(file)));
  }
  if (!files.has('index.html')) throw new Error(`There is no built editor in ${folder}.`);

  const assets = new Map<string, EditorAsset>();
  for (const [path, body] of files) {
    if (isCompressed(path)) continue;
    const type = getMimeType(path);
    if (!type) throw new Error(`${join(folder, path)} is of no known content type.`);
    const compressed: Partial<Record<ContentEncoding, Bytes>> = {};
    for (const name of contentEncodings) {
      const bytes = files.get(path + compressedSuffixes[name]);
      if (bytes) compressed[name] = bytes;
    }
    assets.set(path, { body, type, compressed });
  }
  return assets;
}

const isCompressed = (path: string) =>
  Object.values(compressedSuffixes).some((suffix) => path.endsWith(suffix));
