import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copySources, run } from '../support/packing.ts';
import type { Tarball } from '../support/packing.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The package as npm would publish it. */
export interface Packed extends Tarball {
  /** Holds all of the below. */
  folder: string;
  /** The copy of the repository that it was packed from. */
  sources: string;
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

/** Builds and packs the launcher, and installs it into a folder. */
export async function pack(): Promise<Packed> {
  const [sources, folder] = await Promise.all([
    copySources(),
    mkdtemp(join(tmpdir(), 'plugin-editor-packed-')),
  ]);
  const remove = async () => {
    await sources.remove();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const tarball = await sources.pack('plugin-editor');
    const consumer = join(folder, 'consumer');
    const installed = join(consumer, 'node_modules/plugin-editor');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', tarball.file, '-C', installed, '--strip-components=1']);
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
    return { ...tarball, folder, sources: sources.folder, consumer, installed, manifest, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
