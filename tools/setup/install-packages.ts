import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LockFile, whyStale } from './lock-file.js';
import { lock } from './lock.ts';

/*
 * Large packages that only some tests or benches need are dependencies of separate folders, each with a package.json and a lock
 * file. They are installed when they are first used, because other commands do not need them.
 */

/**
 * Makes the node_modules of a folder match the lock file there. Several processes may call this at once, as test files do:
 * one installs, and the others wait for it.
 * @throws an error with what npm said, when `npm ci` fails
 */
export async function installPackages(folder: string): Promise<void> {
  if (!(await isStale(folder))) return;
  const unlock = await lock(join(folder, '.install-lock'));
  try {
    if (await isStale(folder)) await npmCi(folder);
  } finally {
    unlock();
  }
}

async function isStale(folder: string): Promise<boolean> {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8')) as LockFile;
  // The file is missing before the first installation, and incomplete after an interrupted one.
  const installed = await read('node_modules/.package-lock.json').catch(() => undefined);
  const reason = whyStale(await read('package-lock.json'), installed, (path) =>
    existsSync(join(folder, path, 'package.json')),
  );
  return reason !== undefined;
}

const npmCi = (folder: string) =>
  promisify(execFile)('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    // On Windows npm is a batch file.
    shell: process.platform === 'win32',
  });
