import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copySources, packOnce, unpack } from '../support/packing.ts';
import type { Tarball } from '../support/packing.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The package as npm would publish it. */
export interface Packed extends Tarball {
  /** The copy of the repository that it was built in. */
  builtIn: string;
  /** A folder where the package is installed; its dependencies and peers are this project's own. */
  consumer: string;
  /** The package as it is installed there. */
  installed: string;
  manifest: {
    name: string;
    version: string;
    exports: Record<string, unknown>;
    sideEffects: string[];
    scripts: Record<string, string>;
  };
  remove: () => Promise<void>;
}

/** Packs the launcher, once for all tests, and installs it into a folder. */
export const pack = async () => {
  const { readmeAfter, ...tarball } = await packOnce('plugin-editor');
  return { ...(await install(tarball)), readmeAfter };
};

/** Builds and packs the launcher once more, and installs it into a folder. */
export async function packAnew(): Promise<Packed> {
  const sources = await copySources();
  try {
    return await install({ ...(await sources.pack('plugin-editor')), builtIn: sources.folder });
  } finally {
    await sources.remove();
  }
}

async function install(tarball: Tarball & { builtIn: string }): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-packed-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const consumer = join(folder, 'consumer');
    const installed = join(consumer, 'node_modules/plugin-editor');
    await unpack(tarball, installed);
    const manifest = JSON.parse(
      await readFile(join(installed, 'package.json'), 'utf8'),
    ) as Packed['manifest'] & {
      dependencies: object;
      peerDependencies?: object;
    };
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
      await link(name);
    for (const name of ['node', 'react']) await link(`@types/${name}`);
    async function link(name: string) {
      const to = join(consumer, 'node_modules', name);
      await mkdir(join(to, '..'), { recursive: true });
      await symlink(join(root, 'node_modules', name), to, 'junction');
    }
    return { ...tarball, consumer, installed, manifest, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
