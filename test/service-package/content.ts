import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { publintMessages } from '../package/publint.ts';
import { consumer, installed, sourceFolder, tarball } from './fixture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  name: string;
  version: string;
  engines: { node: string };
  [field: string]: unknown;
}

const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Manifest;

test('the package holds what is built, its README and its licence, and nothing else', () => {
  const others = tarball.files.filter((file) => !file.startsWith('dist/'));
  assert.deepEqual(others.toSorted(), ['LICENSE', 'README.md', 'package.json']);
  const kinds = new Set(tarball.files.map((file) => /\.d\.ts$|\.[a-z]+$/.exec(file)?.[0] ?? file));
  // Sources would end in ".ts", and source maps name them.
  assert.deepEqual([...kinds].toSorted(), [
    '.br',
    '.css',
    '.d.ts',
    '.gz',
    '.html',
    '.js',
    '.json',
    '.md',
    '.svg',
    '.txt',
    'LICENSE',
  ]);
  assert.deepEqual(
    tarball.files.filter((file) => /(?:^|[/.-])(?:tests?|fixtures?)[/.]/.test(file)),
    [],
  );
});

test('the package holds the editor, with the licences of everything bundled into it', async () => {
  const licences = await readFile(join(installed, 'dist/editor/LICENSES.txt'), 'utf8');
  for (const name of ['@codemirror/view', '@lezer/common', 'zod']) {
    assert.match(licences, new RegExp(`^## ${name} - [\\d.]+ \\(MIT\\)$`, 'm'));
  }
});

test('the package holds only the declarations that its entry refers to', () => {
  const declarations = tarball.files.filter((file) => file.endsWith('.d.ts'));
  assert.ok(declarations.includes('dist/index.d.ts'));
  assert.deepEqual(
    declarations.filter((file) => /^dist\/(?:accounts|http|processes|sandbox|toolchains)\//.test(file)),
    [],
  );
});

test('no file of the package names a folder of the machine that built it', async () => {
  for (const file of tarball.files) {
    const text = await readFile(join(installed, file), 'utf8');
    for (const folder of [root, sourceFolder, consumer])
      assert.ok(!text.includes(folder), `${file}: ${folder}`);
  }
});

test('the package depends on no package of this repository', () => {
  for (const [field, value] of Object.entries(manifest)) {
    if (!/dependencies/i.test(field)) continue;
    assert.deepEqual(
      Object.keys(value as object).filter((name) => name.startsWith('plugin-editor')),
      [],
      field,
    );
  }
});

test('installing the package compiles nothing, as none of its dependencies has a script for that', async () => {
  const lock = JSON.parse(await readFile(join(consumer, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  const withScript = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
  assert.deepEqual(withScript, []);
});

test('the package is no larger than promised', () => {
  // The editor’s files are in it as they are and compressed in two ways, as they are served. Language help, Vim’s keys, the
  // validator of schemas and both languages are a third of them.
  assert.ok(tarball.size <= 1_750_000, `packed ${tarball.size} bytes`);
  assert.ok(tarball.unpackedSize <= 3_800_000, `unpacked ${tarball.unpackedSize} bytes`);
});

test('publint reports no problem', async () => {
  assert.deepEqual(await publintMessages(installed, manifest), []);
});
