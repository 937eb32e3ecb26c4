import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type LockFile, whyStale } from '../../tools/setup/lock-file.js';

/** Where the frameworks are that only the README's token endpoints need: apart, so that `npm start` need not fetch them. */
export const serversDirectory = fileURLToPath(new URL('servers/', import.meta.url));

/** Installs what is in {@link serversDirectory}. */
export const installServers = (): Promise<void> => installPackages(serversDirectory);

/**
 * Makes the node_modules of a directory match the lock file there. Rejects when `npm ci` fails.
 * @param scripts whether the packages' own scripts run, which is how some fetch a binary (default: no)
 */
export async function installPackages(directory: string, scripts = false): Promise<void> {
  const read = async (name: string) => JSON.parse(await readFile(join(directory, name), 'utf8')) as LockFile;
  const installed = await read('node_modules/.package-lock.json').catch(() => undefined);
  const reason = whyStale(await read('package-lock.json'), installed, (path) =>
    existsSync(join(directory, path, 'package.json')),
  );
  if (!reason) return;
  await promisify(execFile)(
    'npm',
    ['ci', '--prefer-offline', '--no-audit', '--no-fund', ...(scripts ? [] : ['--ignore-scripts'])],
    {
      cwd: directory,
      shell: process.platform === 'win32',
    },
  );
}
