import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Fetches a package of Debian, installs nothing, and unpacks it into a folder below the given one, which is returned. */
export function unpackPackage(name: string, folder: string): string {
  execute('apt-get', ['download', name], folder);
  const file = readdirSync(folder).find((one) => one.startsWith(`${name}_`) && one.endsWith('.deb'));
  assert.ok(file, `${name} was not downloaded.`);
  execute('dpkg-deb', ['-x', file, 'files'], folder);
  return join(folder, 'files');
}

/**
 * Fetches the source of a package of Debian, and unpacks what fits a pattern into a folder below the given one, which is returned.
 */
export function unpackSource(name: string, pattern: string, folder: string): string {
  const make = (one: string): string => {
    const path = join(folder, one);
    mkdirSync(path);
    return path;
  };
  const [parts, files] = [make('parts'), make('files')];
  // Where this machine has its packages from, there are their sources.
  for (const file of globSync(['/etc/apt/sources.list', '/etc/apt/sources.list.d/*.{list,sources}'])) {
    const text = readFileSync(file, 'utf8').replaceAll(/^(Types: *)?deb\b/gm, '$1deb-src');
    writeFileSync(join(parts, basename(file)), text);
  }
  const settings = {
    'Dir::Etc::SourceList': '/dev/null',
    'Dir::Etc::SourceParts': parts,
    'Dir::State::Lists': make('lists'),
    'Dir::Cache': make('cache'),
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  execute('apt-get', [...options, 'update'], folder);
  execute('apt-get', [...options, 'source', '--tar-only', '--download-only', name], folder);
  const file = readdirSync(folder).find((one) => one.startsWith(`${name}_`) && /\.orig\.tar\./.test(one));
  assert.ok(file, `The source of ${name} was not downloaded.`);
  execute('tar', ['-xf', file, '-C', 'files', '--strip-components=1', '--wildcards', pattern], folder);
  return files;
}

function execute(command: string, args: readonly string[], folder: string): void {
  const { status, error, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}
