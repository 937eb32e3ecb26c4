import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

export type PackageName = 'plugin-editor' | 'plugin-editor-service';

/** What `npm pack` made. */
export interface Tarball {
  /** The file, absolute. */
  readonly file: string;
  /** Bytes of the tarball, and of the files in it. */
  readonly size: number;
  readonly unpackedSize: number;
  /** The files in it, relative to the package's folder. */
  readonly files: readonly string[];
}

/** A copy of all that the packages are made of, so that whoever uses `dist` of the repository meanwhile finds it as it was. */
export interface SourceCopy {
  readonly folder: string;
  /**
   * Packs a package as it would be published.
   * @param build whether to build it before, as npm does (default: yes)
   */
  readonly pack: (name: PackageName, build?: boolean) => Promise<Tarball>;
  readonly remove: () => Promise<void>;
}

/** Nothing of this goes into a package, or takes part in a build. */
const left = ['.git', '.data', 'dist', 'service/dist', 'editor/dist', 'demo', 'docs', 'test'];

/** Copies the sources into a temporary folder, with the installed dependencies of the repository. */
export async function copySources(): Promise<SourceCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-sources-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const isNeeded = (path: string) =>
      basename(path) !== 'node_modules' && !left.includes(relative(root, path).replaceAll('\\', '/'));
    await cp(root, folder, { recursive: true, filter: isNeeded });
    await linkDependencies(folder);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, pack: (name, build = true) => pack(folder, name, build), remove };
}

/** One link for each package, because the repository's own packages have to be those of the copy. */
async function linkDependencies(folder: string): Promise<void> {
  const own = new Map([
    ['plugin-editor', folder],
    ['plugin-editor-service', join(folder, 'service')],
    ['plugin-editor-page', join(folder, 'editor')],
  ]);
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  for (const entry of await readdir(join(root, 'node_modules'), { withFileTypes: true })) {
    const { name } = entry;
    const original = join(root, 'node_modules', name);
    if (name === '.cache') continue;
    if (entry.isFile()) await cp(original, join(modules, name));
    else await symlink(own.get(name) ?? original, join(modules, name), 'junction');
  }
}

async function pack(folder: string, name: PackageName, build: boolean): Promise<Tarball> {
  const { stdout } = await npm(
    folder,
    'pack',
    '--json',
    ...(name === 'plugin-editor' ? [] : ['--workspace', name]),
    ...(build ? [] : ['--ignore-scripts']),
  );
  // The build prints before.
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout.slice(stdout.search(/^\[$/m))) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  return { file: join(folder, filename), size, unpackedSize, files: files.map(({ path }) => path) };
}

/** Runs a program; resolves with what it printed, and rejects with it as well. */
export const run = promisify(execFile);

/** Runs npm as it would run by itself: with what is set for it, and without what the npm around this process says. */
export function npm(cwd: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^NODE_(?!EXTRA_)/.test(name)),
  );
  // On Windows npm is a batch file.
  return run('npm', args, { cwd, env, shell: process.platform === 'win32', maxBuffer: 2 ** 26 });
}
