import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { run } from '../support/programs.ts';
import { whyStale } from '../../tools/setup/lock-file.js';
import { isAtLeast, missingNodeAdvice } from '../../tools/setup/node-version.js';

const lit = { version: '3.3.3', integrity: 'sha512-a' };
const required = { packages: { '': { version: '1.0.0' }, 'node_modules/lit': lit } };
const there = () => true;

describe('whyStale', () => {
  it('reports nothing when everything is installed', () => {
    const installed = { packages: { 'node_modules/lit': lit, 'node_modules/extra': { version: '1.0.0' } } };
    assert.equal(whyStale(required, installed, there), undefined);
  });

  it('names what is missing, in the list or on disk', () => {
    assert.equal(whyStale(required, undefined, there), 'nothing is installed yet');
    assert.equal(whyStale(required, {}, there), 'nothing is installed yet');
    assert.equal(whyStale(required, { packages: {} }, there), 'lit is missing');
    assert.equal(
      whyStale(required, required, () => false),
      'lit is missing',
    );
    const inner = { packages: { 'node_modules/a/node_modules/@b/c': lit } };
    assert.equal(whyStale(inner, { packages: {} }, there), '@b/c is missing');
  });

  it('names a package of another version or build', () => {
    const older = { packages: { 'node_modules/lit': { ...lit, version: '3.3.2' } } };
    assert.equal(whyStale(required, older, there), 'lit is 3.3.2, not 3.3.3');
    const other = { packages: { 'node_modules/lit': { ...lit, integrity: 'sha512-b' } } };
    assert.match(whyStale(required, other, there) ?? '', /^lit 3\.3\.3 is another build/);
  });

  it('ignores builds for other systems, unless they are outdated', () => {
    const optional = { packages: { 'node_modules/lit': { ...lit, optional: true, os: ['aix'] } } };
    assert.equal(whyStale(optional, { packages: {} }, there), undefined);
    const older = { packages: { 'node_modules/lit': { version: '1.0.0' } } };
    assert.equal(whyStale(optional, older, there), 'lit is 1.0.0, not 3.3.3');
    const own = {
      packages: {
        'node_modules/lit': { ...lit, optional: true, os: [process.platform], cpu: [process.arch] },
      },
    };
    assert.equal(whyStale(own, { packages: {} }, there), 'lit is missing');
  });

  it('ignores the folders of the project itself', () => {
    const linked = { packages: { 'node_modules/here': { link: true } } };
    assert.equal(whyStale(linked, { packages: {} }, there), undefined);
  });
});

describe('Node versions', () => {
  for (const [version, range, expected] of [
    ['20.19.0', '>=20.19', true],
    ['20.18.9', '>=20.19', false],
    ['18.20.4', '>=20.19', false],
    ['22.0.0', '>=20.19', true],
    ['24.1.0', '24', true],
    ['9.99.0', '>=20.19', false],
  ] as const) {
    it(`${version} is ${expected ? '' : 'not '}in the range ${range}`, () => {
      assert.equal(isAtLeast(version, range), expected);
    });
  }

  it('lead to advice when the Node of the project was not set up', () => {
    assert.match(missingNodeAdvice('20.19.0', false) ?? '', /npm rebuild node --ignore-scripts=false/);
    assert.equal(missingNodeAdvice('20.19.0', true), undefined);
    assert.equal(missingNodeAdvice('24.0.0', false), undefined);
  });
});

for (const place of ['', 'test/packages/', 'test/apps/', 'tools/site/'])
  it(`${place}package-lock.json holds all builds that a package chooses from, which npm ci requires`, async () => {
    const text = await readFile(new URL(`../../${place}package-lock.json`, import.meta.url), 'utf8');
    const { packages } = JSON.parse(text) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const names = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')));
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !names.has(name))
        .map((name) => `${path} needs ${name}`),
    );
    assert.deepEqual(missing, []);
  });

describe('dependencies.js', () => {
  const copyScripts = async (root: string) => {
    await mkdir(join(root, 'tools/setup'), { recursive: true });
    for (const file of ['dependencies.js', 'lock-file.js', 'node-version.js']) {
      await cp(new URL(`../../tools/setup/${file}`, import.meta.url), join(root, 'tools/setup', file));
    }
  };

  it('installs what is missing, even inside npm, and then does nothing', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'dependencies-'));
    t.after(() => rm(root, { recursive: true }));
    await copyScripts(root);
    const self = {
      name: 'host',
      version: '1.0.0',
      type: 'module',
      engines: { node: '>=20.19' },
      scripts: { setup: `"${process.execPath}" tools/setup/dependencies.js` },
      // A development dependency on a folder of the project: installed without a registry.
      devDependencies: { guest: 'file:guest' },
    };
    const lock = {
      name: 'host',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': self,
        guest: { version: '2.0.0', dev: true },
        'node_modules/guest': { resolved: 'guest', link: true },
      },
    };
    await mkdir(join(root, 'guest'));
    await writeFile(join(root, 'guest/package.json'), '{ "name": "guest", "version": "2.0.0" }');
    await writeFile(join(root, 'package.json'), JSON.stringify(self));
    await writeFile(join(root, 'package-lock.json'), JSON.stringify(lock));

    const env = { ...process.env, NODE_ENV: 'production', npm_config_offline: 'true' };
    const first = await run('npm', ['run', '--silent', 'setup'], { cwd: root, env });
    assert.match(first.stderr, /npm ci: nothing is installed yet/);
    // Output is left to the program that started the set-up.
    assert.equal(first.stdout, '');
    const guest = await readFile(join(root, 'node_modules/guest/package.json'), 'utf8');
    assert.equal((JSON.parse(guest) as { version: string }).version, '2.0.0');

    const second = await run('npm', ['run', '--silent', 'setup'], { cwd: root, env });
    assert.equal(second.stdout + second.stderr, '');
  });

  it('installs nothing when node_modules is a link, and says where to do it', async (t) => {
    const original = await mkdtemp(join(tmpdir(), 'dependencies-'));
    t.after(() => rm(original, { recursive: true }));
    await mkdir(join(original, 'node_modules/guest'), { recursive: true });
    const copy = await mkdtemp(join(tmpdir(), 'dependencies-'));
    t.after(() => rm(copy, { recursive: true }));
    await copyScripts(copy);
    const host = { name: 'host', version: '1.0.0', type: 'module', engines: { node: '>=20.19' } };
    await writeFile(join(copy, 'package.json'), JSON.stringify(host));
    await writeFile(
      join(copy, 'package-lock.json'),
      JSON.stringify({ name: 'host', lockfileVersion: 3, packages: { '': host, 'node_modules/other': {} } }),
    );
    await symlink(join(original, 'node_modules'), join(copy, 'node_modules'), 'junction');

    const ended = run(process.execPath, ['tools/setup/dependencies.js'], { cwd: copy });
    await assert.rejects(
      ended,
      /nothing is installed yet.*in the folder that the link node_modules leads to/,
    );
    assert.deepEqual(await readdir(join(original, 'node_modules')), ['guest']);
  });
});
