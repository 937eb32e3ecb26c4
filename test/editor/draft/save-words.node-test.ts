import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf, openFailureWords } from '../../../editor/src/shell/failure.ts';
import { failureAdvice, saveWords } from '../../../editor/src/draft/save-words.ts';
import { HttpError, NetworkError, SchemaError, TimeoutError } from '../../../src/client.ts';

test('each error of a builder is the failure that a user can act on', () => {
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

test('the status line says what is saved', () => {
  const words = (state: Parameters<typeof saveWords>[0]) => saveWords(state).text;
  assert.equal(words({ kind: 'unchanged' }), 'All changes saved');
  assert.equal(words({ kind: 'new' }), 'New plugin, not saved yet');
  assert.equal(words({ kind: 'unsaved' }), 'Unsaved changes');
  assert.equal(words({ kind: 'saving' }), 'Saving…');
  const at = new Date(2026, 0, 1, 12, 3);
  // As the user's language writes it: `12:03 PM`, `12.03`.
  const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }).format(at);
  assert.equal(words({ kind: 'saved', at }), `Saved ${time}`);
  assert.equal(words({ kind: 'failed', failure: 'connection' }), 'Not saved: connection lost, retrying');
  assert.equal(words({ kind: 'failed', failure: 'session' }), 'Not saved: your session ended');
  for (const failure of Object.keys(openFailureWords) as (keyof typeof openFailureWords)[]) {
    assert.match(words({ kind: 'failed', failure }), /^Not saved: ./);
  }
});

test('advice says whether this browser holds a copy, and comes with each failure that does not pass', () => {
  assert.match(failureAdvice('session', true) ?? '', /in this browser/);
  assert.match(failureAdvice('session', false) ?? '', /on this page only/);
  assert.equal(failureAdvice('connection', true), undefined);
  assert.match(failureAdvice('connection', false) ?? '', /cannot keep a copy/);
});
