import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type LockFile, whyStale } from '../../tools/setup/lock-file.js';

/*
 * What is large and only some tests or benches need is in folders of its own, each with a package.json and a lock file, so
 * that nobody has to fetch it for anything else. It is installed when it is first used.
 */

/**
 * Makes the node_modules of a folder match the lock file there, with the scripts of packages left out. Several processes
 * may call this at once, as test files do: one installs, and the others wait for it.
 * @throws an error with what npm said, when `npm ci` fails
 */
export async function installPackages(folder: string): Promise<void> {
  if (!(await isStale(folder))) return;
  const unlock = await lock(join(folder, '.install-lock'));
  try {
    if (await isStale(folder)) await npmCi(folder);
  } finally {
    await unlock();
  }
}

/** Installs the packages of a folder where need be; answers with what loads them. */
export async function packagesOf(folder: string): Promise<NodeJS.Require> {
  await installPackages(folder);
  return createRequire(join(folder, 'package.json'));
}

async function isStale(folder: string): Promise<boolean> {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8')) as LockFile;
  // There is none before the first time, or it is half written by an installation that was interrupted.
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

/** Takes a lock between processes, which a file is that names its owner. Resolves with what gives it back. */
async function lock(file: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(file, 'utf8').catch(() => ''));
    // A process that was killed cannot give it back. Without a number it was made just now.
    if (owner && !isRunning(owner)) await rm(file, { force: true });
    else await wait(100);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
