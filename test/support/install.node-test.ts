import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, it } from 'node:test';
import { installPackages, packagesOf } from '../../tools/setup/install-packages.ts';

/** A folder that depends on a package inside itself, so that no registry is needed. */
async function folderWithLock(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'install-'));
  t.after(() => rm(folder, { recursive: true }));
  const self = { name: 'host', version: '1.0.0', dependencies: { guest: 'file:guest' } };
  const packages = {
    '': self,
    guest: { version: '1.0.0' },
    'node_modules/guest': { resolved: 'guest', link: true },
  };
  await mkdir(join(folder, 'guest'));
  await writeFile(join(folder, 'guest/package.json'), '{ "name": "guest", "version": "1.0.0" }');
  await writeFile(join(folder, 'guest/index.js'), 'module.exports = "hello";');
  await writeFile(join(folder, 'package.json'), JSON.stringify(self));
  const lock = { name: 'host', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  return folder;
}

describe('packages in a folder of their own', () => {
  it('are installed when they are first needed, and loaded from there', async (t) => {
    const folder = await folderWithLock(t);
    const load = await packagesOf(folder);
    assert.equal(load('guest'), 'hello');
  });

  it('are installed once for several callers at the same time', async (t) => {
    const folder = await folderWithLock(t);
    // npm writes a log for each of its runs.
    const logs = join(folder, 'logs');
    const before = process.env['npm_config_logs_dir'];
    process.env['npm_config_logs_dir'] = logs;
    t.after(() => {
      if (before === undefined) delete process.env['npm_config_logs_dir'];
      else process.env['npm_config_logs_dir'] = before;
    });
    const loads = [1, 2, 3].map(async () => (await packagesOf(folder))('guest') as unknown);
    assert.deepEqual(await Promise.all(loads), ['hello', 'hello', 'hello']);
    assert.equal((await readdir(logs)).length, 1);
  });

  it('are installed although a process was killed while installing', async (t) => {
    const folder = await folderWithLock(t);
    const source = `const { DatabaseSync } = require('node:sqlite');
      const database = new DatabaseSync(process.argv[1]);
      database.exec('BEGIN EXCLUSIVE');
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['-e', source, join(folder, '.install-lock')]);
    assert.equal(signal, 'SIGKILL');
    await installPackages(folder);
    assert.ok(existsSync(join(folder, 'node_modules/guest/index.js')));
  });

  it('fail with the message of npm when they cannot be installed', async (t) => {
    const folder = await folderWithLock(t);
    await writeFile(join(folder, 'package.json'), '{ "name": "host", "dependencies": { "other": "1.0.0" } }');
    await assert.rejects(installPackages(folder), /npm ci[^]*other/);
  });
});
