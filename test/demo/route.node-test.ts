import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRoute, routeTo } from '../../demo/page/route.ts';

for (const [ident, fn] of [
  ['com.example.customer-7', 'add-record'],
  ['com.example.customer-7', undefined],
  ['a.b', 'a/b?c#d e%'],
  ['com.example.ü', '寿司'],
] as const) {
  test(`a route survives being written and read: ${ident} ${fn}`, () => {
    assert.deepEqual(readRoute(routeTo(ident, fn)), { ident, fn });
  });
}

for (const hash of ['', '#', '#/', '#add-record', '#/a/b/c', '#/%E0%A4%A/b']) {
  test(`an address is not a route: "${hash}"`, () => {
    assert.deepEqual(readRoute(hash), { ident: undefined, fn: undefined });
  });
}
