import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import { Notices } from '../../../editor/src/ui/notices.ts';
import { Access } from '../../../editor/src/workspace/access.ts';
import { DraftSaving } from '../../../editor/src/workspace/draft-saving.ts';
import type { PluginDocument } from '../../../editor/src/workspace/plugin-document.ts';
import type { PluginSession } from '../../../editor/src/workspace/plugin-session.ts';

test('a source is not brought back once nothing may be changed, because it could not be saved', () => {
  const present = { lang: 'javascript', contents: 'present' };
  const document = {
    source: present,
    replace: (source: typeof present) => (document.source = source),
  };
  const copies = { keep: () => {}, drop: () => {} };
  const session = { copies, signal: new AbortController().signal } as unknown as PluginSession;
  const access = new Access(['read', 'write'], false);
  const saving = new DraftSaving(session, access, document as unknown as PluginDocument, true);
  access.isHostReadOnly = true;
  saving.restore({ lang: 'javascript', contents: 'former' });
  assert.equal(document.source.contents, 'present');
  assert.equal(saving.isUnsaved, false);
});

test('that the text would be lost with the page is said once, and not again with each try that fails', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const document = { source: { lang: 'javascript', contents: 'one' } };
  let tries = 0;
  const save = async () => {
    tries++;
    throw new NetworkError('The service', new Error());
  };
  const notices = new Notices();
  const show = mock.method(notices, 'show');
  const copies = { keep: () => {}, drop: () => {}, canKeep: () => true, isKept: false };
  const signal = new AbortController().signal;
  const session = { copies, signal, notices, store: { save }, host: {} } as unknown as PluginSession;
  const access = new Access(['read', 'write'], false);
  const saving = new DraftSaving(session, access, document as unknown as PluginDocument, true);
  document.source = { lang: 'javascript', contents: 'two' };
  saving.handleEdit();
  for (let i = 0; i < 3; i++) {
    mock.timers.tick(30_000);
    await new Promise(setImmediate);
  }
  mock.timers.reset();
  assert.equal(tries, 3);
  assert.equal(show.mock.callCount(), 1);
});

test('what failed for lack of a connection is saved as soon as the service answers, and no other failure is', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const document = { source: { lang: 'javascript', contents: 'one' } };
  const failures = [new NetworkError('The service', new Error()), new HttpError('The service', 503, 20_000)];
  let tries = 0;
  const save = async () => {
    throw failures[tries++];
  };
  const copies = { keep: () => {}, drop: () => {}, canKeep: () => true, isKept: true };
  const signal = new AbortController().signal;
  const session = { copies, signal, notices: new Notices(), store: { save }, host: {} };
  const access = new Access(['read', 'write'], false);
  const saving = new DraftSaving(
    session as unknown as PluginSession,
    access,
    document as unknown as PluginDocument,
    true,
  );
  document.source = { lang: 'javascript', contents: 'two' };
  saving.handleEdit();
  mock.timers.tick(1000);
  await new Promise(setImmediate);
  for (let i = 0; i < 2; i++) {
    saving.handleOnline();
    await new Promise(setImmediate);
    assert.equal(tries, 2);
  }
  mock.timers.reset();
});
