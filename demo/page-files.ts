import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';

/** One file of the page. */
export interface Asset {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Its content type. */
  readonly type: string;
}

/** The page's files by their path below its base: `index.html`, `assets/…`. */
export type Assets = ReadonlyMap<string, Asset>;

/** Where `tools/build/packages.ts` puts the page. */
const folder = fileURLToPath(new URL('dist', import.meta.url));

/**
 * Reads the vendor's page into memory, as it was built. What is served is exactly what comes out, so no path of a request is ever looked
 * up on the disk.
 */
export function readPageFiles(): Assets {
  const assets = new Map<string, Asset>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).replaceAll('\\', '/');
    const type = getMimeType(path);
    if (!type) throw new Error(`${path} is of no known content type.`);
    assets.set(path, { body: new Uint8Array(readFileSync(file)), type });
  }
  return assets;
}
