import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import { type Notice, Notices } from '../../../editor/src/ui/notices.ts';
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

test('what is replaced is kept and can be brought back, unless it is there elsewhere', () => {
  const sourceOf = (contents: string) => ({ lang: 'javascript', contents, tests: [{ name: contents }] });
  type Source = ReturnType<typeof sourceOf>;
  const document = {
    source: sourceOf('a day of work'),
    replace: (source: Source) => void (document.source = source),
  };
  const kept = new Map<string, string>([['copy', 'restored']]);
  const copies = {
    keep: () => {},
    drop: () => {},
    isKept: true,
    keepAside: ({ contents }: Source) => kept.set(contents, contents) && contents,
    remove: (key: string) => kept.delete(key),
  };
  const shown: string[] = [];
  const notices = new Notices();
  let notice = (): Notice => ({ text: '', tone: 'note' });
  mock.method(notices, 'show', (kind: string, made: typeof notice) => {
    shown.push(kind);
    notice = made;
  });
  const bringBack = () => notice().actions?.[0]?.run();
  const session = {
    copies,
    notices,
    signal: new AbortController().signal,
    host: {},
    store: { save: async () => {} },
  };
  const saving = new DraftSaving(
    session as unknown as PluginSession,
    new Access(['read', 'write'], false),
    document as unknown as PluginDocument,
    true,
  );
  saving.replace(sourceOf('restored'), () => 'It is restored.', { from: 'copy' });
  assert.equal(notice().text, 'It is restored. The former text is kept in this browser.');
  assert.deepEqual([...kept.keys()], ['a day of work']);
  bringBack();
  assert.deepEqual(document.source, sourceOf('a day of work'));
  assert.deepEqual([...kept.keys()], ['restored']);
  kept.clear();
  const template = sourceOf('template');
  saving.replace(template, () => 'It is another.', { spare: template });
  bringBack();
  assert.deepEqual(document.source, sourceOf('a day of work'));
  assert.deepEqual([...kept.keys()], []);
  const [edited, tests] = [sourceOf('edited'), [{ name: 'other' }]];
  saving.replace({ ...document.source, tests }, () => 'It is another.');
  assert.equal(notice().text, 'It is another. The former tests are kept in this browser.');
  document.source = { ...edited, tests };
  bringBack();
  assert.deepEqual(document.source, { ...edited, tests: sourceOf('a day of work').tests });
  assert.equal(notice().text, 'The former tests are here again. The former tests are kept in this browser.');
  bringBack();
  assert.deepEqual(document.source, { ...edited, tests });
  document.source = sourceOf('a day of work');
  // One kind for all, which no other notice takes the place of.
  assert.deepEqual([...new Set(shown)], ['replaced']);
  copies.keepAside = () => undefined as never;
  saving.replace(template, () => 'It is another.');
  assert.equal(notice().text, 'It is another.');
  bringBack();
  assert.deepEqual(document.source, sourceOf('a day of work'));
});

test('that this browser keeps no copies is said at the first change, and once', () => {
  const document = { source: { lang: 'javascript', contents: 'one' } };
  const notices = new Notices();
  const shown: string[] = [];
  mock.method(notices, 'show', (_kind: string, notice: () => Notice) => shown.push(notice().text));
  let checks = 0;
  const copies = { keep: () => {}, drop: () => {}, canKeep: () => ++checks === 0, isKept: false };
  const abort = new AbortController();
  const session = { copies, notices, signal: abort.signal, store: {}, host: {} } as unknown as PluginSession;
  const access = new Access(['read', 'write'], false);
  const saving = new DraftSaving(session, access, document as unknown as PluginDocument, true);
  saving.start();
  assert.deepEqual(shown, []);
  saving.handleEdit();
  saving.handleEdit();
  abort.abort();
  assert.equal(checks, 1);
  assert.equal(shown.length, 1);
  assert.match(shown[0] ?? '', /^This browser keeps no copy of unsaved text here/);
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

for (const [what, error] of [
  ['was saved elsewhere', new HttpError('The service', 412)],
  ['was deleted elsewhere', Object.assign(new HttpError('The service', 404), { code: 'draft-not-found' })],
] as const) {
  test(`a request that is refused because the draft ${what} has it saved, where that is permitted, and else read`, async () => {
    const document = { source: { lang: 'javascript', contents: 'one' } };
    const asked: string[] = [];
    const store = {
      save: async () => void asked.push('save'),
      read: async () => void asked.push('read'),
    };
    const copies = { keep: () => {}, drop: () => {} };
    const signal = new AbortController().signal;
    const session = { copies, signal, notices: new Notices(), store, host: {} };
    for (const permissions of [['write'], ['deploy']]) {
      const saving = new DraftSaving(
        session as unknown as PluginSession,
        new Access(permissions, false),
        document as unknown as PluginDocument,
        true,
      );
      saving.handleRefusal(new HttpError('The service', 409));
      saving.handleRefusal(error);
      await new Promise(setImmediate);
    }
    assert.deepEqual(asked, ['save', 'read']);
  });
}
