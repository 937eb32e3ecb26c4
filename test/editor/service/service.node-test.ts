import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError, NetworkError, SchemaError, TimeoutError } from 'plugin-editor/client.js';
import { failureOf } from '../../../editor/src/service/failure.ts';
import { allowedBuilders, findBuilder } from '../../../editor/src/service/builders.ts';

test('each error of a builder becomes the failure that a user can act on', () => {
  const status = (code: number) => failureOf(new HttpError('GET /', code));
  assert.equal(failureOf(new NetworkError('GET /', undefined)), 'connection');
  assert.equal(failureOf(new TimeoutError('GET /', 1)), 'connection');
  assert.equal(failureOf(new SchemaError('GET /', 'not JSON')), 'service');
  assert.equal(failureOf(new TypeError('a fault of ours')), 'service');
  for (const code of ['storage-full', 'tenant-suspended', 'too-many-plugins']) {
    assert.equal(failureOf(Object.assign(new HttpError('POST /', 403), { code })), code);
  }
  const unavailable = Object.assign(new HttpError('POST /', 503), { code: 'storage-unavailable' });
  assert.equal(failureOf(unavailable), 'storage-unavailable');
  const table = [0, 302, 400, 401, 403, 404, 408, 412, 413, 415, 422, 429, 500, 503].map((code) => [
    code,
    status(code),
  ]);
  assert.deepEqual(table, [
    // A redirect, by its number or as a browser shows it: another program answered, which passes.
    [0, 'service'],
    [302, 'service'],
    [400, 'refused'],
    [401, 'session'],
    [403, 'forbidden'],
    [404, 'refused'],
    [408, 'connection'],
    [412, 'conflict'],
    [413, 'too-large'],
    [415, 'refused'],
    [422, 'refused'],
    [429, 'busy'],
    [500, 'service'],
    [503, 'busy'],
  ]);
});

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
