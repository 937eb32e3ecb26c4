import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';
import { build } from 'vite';

/** One file of the page. */
export interface Asset {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Its content type. */
  readonly type: string;
}

/** The page's files by their path below its base: `index.html`, `assets/…`. */
export type Assets = ReadonlyMap<string, Asset>;

/**
 * Builds the vendor's page, for the root of its origin, into memory. What is served is exactly what comes out, so no path
 * of a request is ever looked up on the disk.
 */
export async function buildVendorPage(): Promise<Assets> {
  const result = await build({
    root: fileURLToPath(new URL('../', import.meta.url)),
    base: '/',
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'esnext',
      // The page's policy allows files alone, and the browsers that run it preload modules by themselves.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2000,
      // Slow builds are not actionable.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  });
  const assets = new Map<string, Asset>();
  for (const { output } of [result].flat() as { output: OutputFile[] }[]) {
    for (const file of output) {
      const type = getMimeType(file.fileName);
      if (!type) throw new Error(`${file.fileName} is of no known content type.`);
      const content = file.type === 'chunk' ? file.code : file.source;
      assets.set(file.fileName, { body: Buffer.from(content), type });
    }
  }
  return assets;
}

type OutputFile =
  | { type: 'chunk'; fileName: string; code: string }
  | { type: 'asset'; fileName: string; source: string | Uint8Array<ArrayBuffer> };
