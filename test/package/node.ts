import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { data, declarations, modules, packed, scripts } from './fixture.ts';
import { run } from '../support/programs.ts';

/** Runs a module in the folder where the package is installed, and answers with what it printed. */
async function runThere(code: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: packed.consumer,
  });
  return stdout.trim();
}

const { resolve } = createRequire(join(packed.consumer, 'index.js'));

for (const specifier of modules) {
  test(`${specifier} can be imported in Node`, async () => {
    const names = await runThere(
      `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(specifier)}))));`,
    );
    assert.notDeepEqual(JSON.parse(names), []);
  });
}

test('server.js makes a token endpoint in Node, which denies a request without an origin', async () => {
  const code = `
    import { createTokenEndpoint } from 'plugin-editor/server.js';
    const endpoint = createTokenEndpoint({ access: { getEditorToken: async () => ({ token: 't' }) }, authorize: () => false });
    const response = await endpoint(new Request('https://app.example/token', { method: 'PUT' }));
    console.log(response.status);`;
  assert.equal(await runThere(code), '403');
});

test('data and scripts resolve to packed files', async () => {
  assert.ok(scripts.length > 0);
  for (const specifier of [...data, ...scripts]) {
    const text = await readFile(resolve(specifier), 'utf8');
    if (specifier.endsWith('.json')) assert.equal(typeof JSON.parse(text), 'object', specifier);
  }
});

test('all declarations were packed', () => {
  const lacking = declarations.filter((file) => !packed.files.includes(file));
  assert.deepEqual(lacking, []);
});

test('a file outside the export map cannot be imported', () => {
  assert.throws(() => resolve('plugin-editor/dist/core/token.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
});

test('installing the package runs nothing', () => {
  const ran = Object.keys(packed.manifest.scripts).filter((name) =>
    /^(pre|post)?(install|prepare|uninstall)$|^prepublish$/.test(name),
  );
  assert.deepEqual(ran, []);
  // npm would compile a native add-on by itself.
  assert.ok(!packed.files.includes('binding.gyp'));
});

test('the package holds what is published and nothing else', () => {
  const others = packed.files.filter((file) => !file.startsWith('dist/'));
  assert.deepEqual(others.toSorted(), ['LICENSE', 'README.md', 'package.json']);
});
