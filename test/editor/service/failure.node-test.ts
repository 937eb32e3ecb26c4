import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError, NetworkError, SchemaError, TimeoutError } from 'plugin-editor/client.js';
import { failureOf } from '../../../editor/src/service/failure.ts';

test('each error of a builder becomes the failure that a user can act on', () => {
  const status = (code: number) => failureOf(new HttpError('GET /', code));
  assert.equal(failureOf(new NetworkError('GET /', undefined)), 'connection');
  assert.equal(failureOf(new TimeoutError('GET /', 1)), 'connection');
  assert.equal(failureOf(new SchemaError('GET /', 'not JSON')), 'service');
  assert.equal(failureOf(new TypeError('a fault of ours')), 'service');
  const table = [0, 302, 400, 401, 403, 404, 408, 412, 413, 415, 422, 429, 500, 503].map((code) => [
    code,
    status(code),
  ]);
  assert.deepEqual(table, [
    // A redirect, by its number or as a browser shows it: somebody else answered, which passes.
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
