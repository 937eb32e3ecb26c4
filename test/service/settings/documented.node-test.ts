import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { settings } from '../../../service/src/settings/settings.ts';

test('the page of settings names every variable that is read, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/service/settings.md'), 'utf8');
  const named = [...page.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name = '']) => name);
  assert.deepEqual(new Set(named), new Set(Object.values(settings).map(({ variable }) => variable)));
});
