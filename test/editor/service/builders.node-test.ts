import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedBuilders, findBuilder } from '../../../editor/src/service/builders.ts';

const page = 'http://127.0.0.1:8082/editor/?x=1';

test("only the editor's own origin is allowed by default", () => {
  const allowed = allowedBuilders('', page);
  assert.deepEqual(allowed, ['http://127.0.0.1:8082']);
  assert.equal(findBuilder('http://127.0.0.1:8082', allowed), 'http://127.0.0.1:8082');
  assert.equal(findBuilder('HTTP://127.0.0.1:8082/', allowed), 'http://127.0.0.1:8082');
  for (const other of [
    'http://127.0.0.1:8083',
    'https://127.0.0.1:8082',
    'http://localhost:8082',
    'http://127.0.0.1:8082.evil.example',
    'http://user:pw@127.0.0.1:8082',
    'http://127.0.0.1:8082/other',
    'javascript:alert(1)',
    '',
  ]) {
    assert.equal(findBuilder(other, allowed), undefined, other);
  }
});

test('a configured list replaces the default, and an invalid address allows nothing', () => {
  const allowed = allowedBuilders(' https://b.example/base/  /here nonsense:// ftp://x ', page);
  assert.deepEqual(allowed, ['https://b.example/base', 'http://127.0.0.1:8082/here']);
  assert.equal(findBuilder('https://b.example/base', allowed), 'https://b.example/base');
  assert.equal(findBuilder('https://b.example/', allowed), undefined);
  assert.equal(findBuilder('http://127.0.0.1:8082', allowed), undefined);
  assert.deepEqual(allowedBuilders('ftp://x', page), []);
});
