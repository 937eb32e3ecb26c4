import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';
import { build } from 'vite';
import type { Rolldown } from 'vite';
import type { EditorAsset, EditorAssets } from '../../service/src/http/editor-page.ts';

/** Builds the editor for the package of the service from its sources, in memory. */
export async function buildEditor(): Promise<EditorAssets> {
  const { output } = (await build({
    configFile: fileURLToPath(new URL('../../editor/vite.config.ts', import.meta.url)),
    logLevel: 'warn',
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  const assets = new Map<string, EditorAsset>();
  for (const file of output) {
    const type = getMimeType(file.fileName);
    if (!type) throw new Error(`${file.fileName} is of no known content type.`);
    const content = file.type === 'chunk' ? file.code : file.source;
    assets.set(file.fileName, { body: new Uint8Array(Buffer.from(content)), type });
  }
  return assets;
}
