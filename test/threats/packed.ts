import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packOnce, unpack } from '../support/packing.ts';
import { npm } from '../support/programs.ts';

/** The launcher as it is published: all bytes of its tarball, and a folder with its files, of which it can be packed anew. */
export async function packPackage() {
  const tarball = await packOnce('plugin-editor');
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-planted-'));
  await unpack(tarball, folder);
  return {
    folder,
    bytes: gunzipSync(await readFile(tarball.file)),
    /** Packs what is in the folder now; answers with all bytes of the tarball. */
    packAnew: async () => {
      const to = await mkdtemp(join(folder, 'packed-'));
      const { stdout } = await npm(folder, ['pack', '--json', '--ignore-scripts', '--pack-destination', to]);
      const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
      return gunzipSync(await readFile(join(to, filename)));
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
