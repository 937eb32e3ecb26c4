import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type LockFile, whyStale } from '../setup/lock-file.js';

/** Where the frameworks are that only the README's token endpoints need: apart, so that `npm start` need not fetch them. */
export const serversDirectory = fileURLToPath(new URL('servers/', import.meta.url));

/** Makes its node_modules match its lock file. */
export async function installServers(): Promise<void> {
  const read = async (name: string) =>
    JSON.parse(await readFile(join(serversDirectory, name), 'utf8')) as LockFile;
  const installed = await read('node_modules/.package-lock.json').catch(() => undefined);
  const reason = whyStale(await read('package-lock.json'), installed, (path) =>
    existsSync(join(serversDirectory, path, 'package.json')),
  );
  if (!reason) return;
  await promisify(execFile)(
    'npm',
    ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'],
    {
      cwd: serversDirectory,
      shell: process.platform === 'win32',
    },
  );
}
