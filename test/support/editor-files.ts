import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getMimeType } from 'hono/utils/mime';
import type { Rolldown } from 'vite';
import type { EditorAsset, EditorAssets } from '../../service/src/http/editor-page.ts';
import { isBuilt } from '../../tools/build/stamps.ts';
import { root } from '../../tools/run-node.js';

/**
 * The editor for the package of the service: as that package has it, where it was built of the present sources, because a build
 * takes most of a second of a processor in each process that needs it; otherwise built in memory.
 */
export async function buildEditor(): Promise<EditorAssets> {
  const files = isBuilt('service') ? await readBuilt() : await buildInMemory();
  return new Map(files.map(([name, content]) => [name, asset(name, content)]));
}

type NamedFile = readonly [name: string, content: string | Uint8Array];

async function readBuilt(): Promise<NamedFile[]> {
  const folder = join(root, 'service/dist/editor');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Promise.all(
    paths
      // The compressed copies: nothing here depends on compression.
      .filter((path) => !/\.(?:br|gz)$/.test(path))
      .map(async (path) => [path.slice(folder.length + 1).replaceAll('\\', '/'), await readFile(path)]),
  );
}

async function buildInMemory(): Promise<NamedFile[]> {
  // Loaded only where it is needed, because it takes as long as the build.
  const { build } = await import('vite');
  const { output } = (await build({
    configFile: join(root, 'editor/vite.config.ts'),
    logLevel: 'warn',
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  return output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]);
}

function asset(name: string, content: string | Uint8Array): EditorAsset {
  const type = getMimeType(name);
  if (!type) throw new Error(`${name} is of no known content type.`);
  return { body: new Uint8Array(Buffer.from(content)), type };
}
