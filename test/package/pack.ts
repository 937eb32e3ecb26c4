import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Resolves with what a program printed; rejects with it as well. */
export const run = promisify(execFile);

/** The package as npm would publish it. */
export interface Packed {
  /** Holds all of the below. */
  folder: string;
  tarball: string;
  /** Bytes in the tarball, and of the files in it. */
  size: number;
  unpackedSize: number;
  files: string[];
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

/** Builds and packs a copy, so that whoever uses `dist` of this tree meanwhile finds it as it was. */
export async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-packed-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const copy = join(folder, 'source');
    const left = ['dist', 'demo', '.git', '.data', 'test/apps'];
    const isNeeded = (path: string) =>
      basename(path) !== 'node_modules' && !left.includes(relative(root, path));
    await cp(root, copy, { recursive: true, filter: isNeeded });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    const { stdout } = await npm(copy, 'pack', '--json');
    // The build prints before.
    const [told] = JSON.parse(stdout.slice(stdout.search(/^\[$/m))) as [
      { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
    ];
    const tarball = join(copy, told.filename);

    const consumer = join(folder, 'consumer');
    const installed = join(consumer, 'node_modules/plugin-editor');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
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
    const { size, unpackedSize, files } = told;
    const paths = files.map(({ path }) => path);
    return { folder, tarball, size, unpackedSize, files: paths, consumer, installed, manifest, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Runs npm as it would run by itself: with what is set for it, and without what the npm around this process says. */
export function npm(cwd: string, ...args: string[]): Promise<{ stdout: string }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/.test(name)),
  );
  // On Windows npm is a batch file.
  return run('npm', args, { cwd, env, shell: process.platform === 'win32', maxBuffer: 2 ** 26 });
}
