import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packed } from './fixture.ts';
import { type Packed, packAnew } from './pack.ts';

/** The hash of every file, by its path. */
async function hashes({ installed, files }: Packed): Promise<Record<string, string>> {
  const hash = (bytes: Buffer) => createHash('sha384').update(bytes).digest('base64');
  const read = files.map(async (file) => [file, hash(await readFile(join(installed, file)))] as const);
  return Object.fromEntries(await Promise.all(read));
}

test('two builds of one source are equal byte for byte, wherever they are made', async () => {
  const again = await packAnew();
  try {
    assert.notEqual(again.builtIn, packed.builtIn);
    assert.deepEqual(await hashes(again), await hashes(packed));
  } finally {
    await again.remove();
  }
});

test('integrity.json has the hash of every script, and the version', async () => {
  const all = await hashes(packed);
  const text = await readFile(join(packed.installed, 'dist/cdn/integrity.json'), 'utf8');
  const scripts = packed.files.filter((file) => /^dist\/cdn\/.+\.js$/.test(file));
  assert.equal(scripts.length, 2);
  assert.deepEqual(JSON.parse(text), {
    version: packed.manifest.version,
    files: Object.fromEntries(scripts.map((file) => [file.replace('dist/cdn/', ''), `sha384-${all[file]}`])),
  });
});
