import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureAdvice, saveStatus } from '../../../editor/src/draft/save-status.ts';

test('the status line says whether the text is saved', () => {
  const textOf = (state: Parameters<typeof saveStatus>[0]) => saveStatus(state).text;
  assert.equal(textOf({ kind: 'unchanged' }), 'All changes saved');
  assert.equal(textOf({ kind: 'new' }), 'New plugin, not saved yet');
  assert.equal(textOf({ kind: 'unsaved' }), 'Unsaved changes');
  assert.equal(textOf({ kind: 'saving' }), 'Saving…');
  const at = new Date(2026, 0, 1, 12, 3);
  // As the user's language writes it: `12:03 PM`, `12.03`.
  const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit' }).format(at);
  assert.equal(textOf({ kind: 'saved', at }), `Saved ${time}`);
  assert.equal(textOf({ kind: 'failed', failure: 'connection' }), 'Not saved: connection lost, retrying');
  assert.equal(textOf({ kind: 'failed', failure: 'session' }), 'Not saved: your session ended');
  for (const failure of [
    'service',
    'busy',
    'forbidden',
    'tenant-suspended',
    'too-many-plugins',
    'conflict',
    'too-large',
    'storage-full',
    'storage-unavailable',
    'refused',
  ] as const) {
    assert.match(textOf({ kind: 'failed', failure }), /^Not saved: ./);
  }
});

test('the advice says whether this browser holds a copy, and comes with each lasting failure', () => {
  assert.match(failureAdvice('session', true) ?? '', /in this browser/);
  assert.match(failureAdvice('session', false) ?? '', /on this page only/);
  assert.match(failureAdvice('storage-full', true) ?? '', /delete old versions or shorten/);
  assert.match(failureAdvice('too-many-plugins', true) ?? '', /Delete one/);
  assert.match(failureAdvice('tenant-suspended', true) ?? '', /suspended/);
  assert.match(
    failureAdvice('refused', true, 'Too many tests.') ?? '',
    /The service says: “Too many tests\.”$/,
  );
  assert.equal(failureAdvice('connection', true), undefined);
  assert.match(failureAdvice('connection', false) ?? '', /cannot keep a copy/);
});
