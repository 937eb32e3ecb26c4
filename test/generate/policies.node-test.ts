import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { withPolicies } from './policies.ts';

test('the README has the policies that the tests prove; node test/generate/policies.ts writes them', async () => {
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  assert.equal(text, await withPolicies(text));
});
