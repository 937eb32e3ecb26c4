import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packOnce, unpack } from '../support/packing.ts';
import { run } from '../support/programs.ts';
import { packagesFolder } from '../packages/packages.ts';
import { root } from './markdown.ts';

const projectRoot = fileURLToPath(root);

export interface Project extends AsyncDisposable {
  directory: string;
  /** Writes a file, and resolves with its path. */
  write: (name: string, text: string) => Promise<string>;
  /** Imports a file of it, as Node does. */
  load: <T>(name: string) => Promise<T>;
  /** Runs a command in it; rejects with all its output unless it succeeds. */
  run: (command: string, args: string[], env?: Record<string, string>) => Promise<string>;
}

/**
 * A directory like that of an application: this package is in its node_modules as it is published, with its export map, and
 * beside it the packages named, so that what the documentation says is found the way in which users find it.
 */
export async function createProject({
  packages = [] as string[],
  /** Packages that are installed separately from those of the project. */
  servers = [] as string[],
}): Promise<Project> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'plugin-editor-docs-')));
  const modules = join(directory, 'node_modules');
  const own = join(modules, 'plugin-editor');
  await unpack(await packOnce('plugin-editor'), own);
  const link = async (from: string, name: string) => {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(await realpath(join(from, 'node_modules', name)), join(modules, name), 'dir');
  };
  for (const name of ['lit', 'zod', ...packages]) await link(projectRoot, name);
  for (const name of servers) await link(packagesFolder, name);
  await writeFile(join(directory, 'package.json'), '{ "private": true, "type": "module" }');

  const write = async (name: string, text: string) => {
    const file = join(directory, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return file;
  };
  return {
    directory,
    write,
    load: async <T>(name: string) => (await import(pathToFileURL(join(directory, name)).href)) as T,
    run: async (command, args, env = {}) => {
      const { stdout } = await run(command, args, { cwd: directory, env: { ...process.env, ...env } });
      return stdout;
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The compiler of this project. */
export const tscFile = join(projectRoot, 'node_modules/typescript/bin/tsc');
