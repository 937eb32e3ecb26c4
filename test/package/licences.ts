import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packed } from './fixture.ts';

const root = new URL('../../', import.meta.url);

test('the files for script tags come with the full licence of everything bundled into them', async () => {
  const licences = await readFile(join(packed.installed, 'dist/cdn/LICENSES.txt'), 'utf8');
  const bundled = [...licences.matchAll(/^## (\S+) - /gm)].map(([, name]) => name);
  assert.deepEqual(bundled, ['@lit/reactive-element', 'lit-element', 'lit-html', 'lit']);
  for (const name of bundled) {
    const at = (path: string) => readFile(new URL(`node_modules/${name}/${path}`, root), 'utf8');
    const { version, license } = JSON.parse(await at('package.json')) as Record<string, string>;
    const section = `## ${name} - ${version} (${license})\n\n${(await at('LICENSE')).trim()}\n`;
    assert.ok(licences.includes(section), name);
  }
});
