import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  cp,
  glob,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lock } from '../../tools/setup/lock.ts';
import { npm, run } from './programs.ts';

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

/** A tarball that all tests share. */
export interface SharedTarball extends Tarball {
  /** The folder of the copy of the sources that it was built in, which has been removed. */
  readonly builtIn: string;
  /** The README of these sources after they were packed. */
  readonly readmeAfter: string;
}

/** A copy of the sources of the packages, so that building it does not change `dist` of the repository. */
export interface SourceCopy {
  readonly folder: string;
  /**
   * Packs a package as it would be published.
   * @param build whether to build it before, as npm does (default: yes)
   */
  readonly pack: (name: PackageName, build?: boolean) => Promise<Tarball>;
  readonly remove: () => Promise<void>;
}

/** Paths that are neither published nor part of a build. */
const excludedPaths = [
  '.git',
  '.data',
  'dist',
  'service/dist',
  'editor/dist',
  'demo',
  'docs',
  'test',
  'tools/site',
];

/**
 * A package as it would be published, built and packed once for all tests of the same sources, whichever process they run in.
 * Several may call this at once: one packs, and the others wait for it.
 */
export async function packOnce(name: PackageName): Promise<SharedTarball> {
  const folder = join(root, 'node_modules/.cache/plugin-editor/packed', name);
  const place = join(folder, await fingerprint());
  await mkdir(folder, { recursive: true });
  const unlock = await lock(join(folder, 'lock'));
  try {
    return (await readShared(place)) ?? (await packInto(place, name));
  } finally {
    unlock();
  }
}

/** Describes the tarball beside it. It is written last, so that the tarball is complete when it exists. */
const description = 'tarball.json';

async function readShared(place: string): Promise<SharedTarball | undefined> {
  const text = await readFile(join(place, description), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as SharedTarball);
}

async function packInto(place: string, name: PackageName): Promise<SharedTarball> {
  // Tarballs of earlier sources, and an unfinished one.
  for (const entry of await readdir(dirname(place), { withFileTypes: true })) {
    if (entry.isDirectory()) await rm(join(dirname(place), entry.name), { recursive: true, force: true });
  }
  await mkdir(place);
  const sources = await copySources();
  try {
    const tarball = await sources.pack(name);
    const file = join(place, basename(tarball.file));
    await cp(tarball.file, file);
    const readmeAfter = await readFile(join(sources.folder, 'README.md'), 'utf8');
    const shared: SharedTarball = { ...tarball, file, builtIn: sources.folder, readmeAfter };
    await writeFile(join(place, `${description}.new`), JSON.stringify(shared));
    await rename(join(place, `${description}.new`), join(place, description));
    return shared;
  } finally {
    await sources.remove();
  }
}

/** Creates a folder with the files of a tarball, without their top-level folder. */
export async function unpack(tarball: Tarball, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', tarball.file, '-C', folder, '--strip-components=1']);
}

/** Whether a path, relative to the repository and with slashes, belongs to the sources of a package. */
const isSource = (path: string) => basename(path) !== 'node_modules' && !excludedPaths.includes(path);

/** A hash of the paths and contents of the sources of the packages. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const paths: string[] = [];
  const exclude = (path: string) => !isSource(path.replaceAll('\\', '/'));
  for await (const path of glob('**/*', { cwd: root, exclude })) {
    // The pattern yields excluded folders themselves, too.
    if (!exclude(path)) paths.push(path);
  }
  for (const path of paths.toSorted()) {
    // A folder has no contents.
    hash
      .update(`${path}\0`)
      .update(await readFile(join(root, path)).catch(() => ''))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

/** Copies the sources into a temporary folder, with the installed dependencies of the repository. */
export async function copySources(): Promise<SourceCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-sources-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const filter = (path: string) => isSource(relative(root, path).replaceAll('\\', '/'));
    await cp(root, folder, { recursive: true, filter });
    await linkDependencies(folder);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, pack: (name, build = true) => pack(folder, name, build), remove };
}

/** Links each package, because the repository's own packages have to be those of the copy. */
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
  // Where a workspace has another version than the others. Without them the build would install everything anew.
  for (const workspace of ['service', 'editor']) {
    const nested = join(root, workspace, 'node_modules');
    if (existsSync(nested)) await symlink(nested, join(folder, workspace, 'node_modules'), 'junction');
  }
}

async function pack(folder: string, name: PackageName, build: boolean): Promise<Tarball> {
  const workspace = name === 'plugin-editor' ? [] : ['--workspace', name];
  const { stdout } = await npm(folder, [
    'pack',
    '--json',
    ...workspace,
    ...(build ? [] : ['--ignore-scripts']),
  ]);
  // The output of the build comes before it.
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout.slice(stdout.search(/^\[$/m))) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  return { file: join(folder, filename), size, unpackedSize, files: files.map(({ path }) => path) };
}
