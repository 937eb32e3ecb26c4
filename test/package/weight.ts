import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packed } from './fixture.ts';

test('the package is no larger than promised', () => {
  assert.ok(packed.size <= 160_000, `packed ${packed.size} bytes`);
  assert.ok(packed.unpackedSize <= 570_000, `unpacked ${packed.unpackedSize} bytes`);
});
