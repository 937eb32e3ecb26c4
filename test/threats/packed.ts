import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { copySources } from '../support/packing.ts';

/** Builds the launcher in a folder of its own, and packs it. */
export async function packPackage() {
  const { folder, pack, remove } = await copySources();
  await pack('plugin-editor');
  return {
    folder,
    /** Packs what is there now; answers with the files' names and all their bytes. */
    pack: async () => {
      const { file, files } = await pack('plugin-editor', false);
      return { files, bytes: gunzipSync(readFileSync(file)) };
    },
    remove,
  };
}
