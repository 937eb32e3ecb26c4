import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';
import type { EditorAsset, EditorAssets } from './editor-page.ts';

/** Where the build puts the editor, in the package and in the repository alike. */
const builtEditor = fileURLToPath(new URL('../../dist/editor/', import.meta.url));

/**
 * Reads the editor's built files into memory, so that no path that a request asks for ever reaches the disk.
 * @throws Error when there is no built editor in `folder`, or a file in it is of no known content type.
 */
export function readEditorFiles(folder = builtEditor): EditorAssets {
  const assets = new Map<string, EditorAsset>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(folder.length).replaceAll('\\', '/');
    const type = getMimeType(path);
    if (!type) throw new Error(`${file} is of no known content type.`);
    assets.set(path, { body: new Uint8Array(readFileSync(file)), type });
  }
  if (!assets.has('index.html')) throw new Error(`There is no built editor in ${folder}.`);
  return assets;
}
