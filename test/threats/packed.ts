import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the package in a folder of its own, as `npm run build` does, and packs it. */
export async function packPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-editor-packed-'));
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'])
    copyFileSync(join(root, name), join(folder, name));
  const dist = join(folder, 'dist');
  await build({ root, logLevel: 'error', build: { outDir: dist } });
  mkdirSync(join(dist, 'cdn'), { recursive: true });
  for (const mode of ['cdn', 'iife'])
    await build({ root, mode, logLevel: 'error', build: { outDir: join(dist, 'cdn') } });
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'src'), '--outDir', dist];
  execFileSync(process.execPath, tsc);
  return {
    folder,
    /** Packs what is there now; answers with the files' names and all their bytes. */
    pack: () => {
      const answer = execFileSync('npm', ['pack', '--json', '--ignore-scripts'], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const packed: unknown = JSON.parse(answer);
      const [{ filename, files }] = packed as [{ filename: string; files: { path: string }[] }];
      return {
        files: files.map(({ path }) => path),
        bytes: gunzipSync(readFileSync(join(folder, filename))),
      };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
