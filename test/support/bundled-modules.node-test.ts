import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bundledModules } from './bundled-modules.ts';

const { plugin } = bundledModules();
const resolve = (source: string) => plugin.resolveImport?.({ source } as never);

test('a library is imported from its bundle, and everything else is left to the test runner', () => {
  assert.equal(resolve('lit/html.js'), '/bundled/lit/html.js');
  assert.equal(resolve('zod/mini'), '/bundled/zod/mini.js');
  assert.equal(resolve('@codemirror/state'), undefined);
  assert.equal(resolve('./lit.js'), undefined);
});

test('a part of a library that is not bundled with the others is an error, which says what to do', () => {
  assert.throws(() => resolve('lit/directives/map.js'), /Add "lit\/directives\/map\.js" to SPECIFIERS/);
});
