import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Fetches a package of Debian, installs nothing, and unpacks it into a folder below the given one, which is returned. */
export function unpackPackage(name: string, folder: string): string {
  execute('apt-get', ['download', name], folder);
  const file = readdirSync(folder).find((one) => one.startsWith(`${name}_`) && one.endsWith('.deb'));
  assert.ok(file, `${name} was not downloaded.`);
  execute('dpkg-deb', ['-x', file, 'files'], folder);
  return join(folder, 'files');
}

function execute(command: string, args: readonly string[], folder: string): void {
  const { status, error, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}
