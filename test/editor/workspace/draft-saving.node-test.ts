import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { HttpError, NetworkError, type PluginSource } from 'plugin-editor/client.js';
import type { LocalCopies } from '../../../editor/src/draft/local-copies.ts';
import { Recovery } from '../../../editor/src/draft/recovery.ts';
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

test('a copy that this browser kept is called what it is, and the way back from it comes before the next offer', () => {
  const copyOf = (key: string, isReplaced: boolean) => ({
    key,
    source: { lang: 'javascript', contents: key },
    at: new Date(0),
    isReplaced,
  });
  const log: string[] = [];
  const notices = new Notices();
  let offer = (): Notice => ({ text: '', tone: 'note' });
  mock.method(notices, 'show', (_kind: string, notice: typeof offer) => {
    offer = notice;
    log.push(notice().text.replace(/ \(.*/, ''));
  });
  const saving = {
    state: { kind: 'unchanged' } as const,
    source: { lang: 'javascript', contents: 'draft' },
    saved: { lang: 'javascript', contents: 'draft' },
    replace: (source: PluginSource, _said: unknown, { spare }: { spare: PluginSource | undefined }) => {
      log.push(
        `restored ${source.contents}, ${spare ? `without ${spare.contents}` : 'with what it replaces'}`,
      );
    },
  };
  const recovery = new Recovery({
    session: {
      copies: { remove: () => {} } as unknown as LocalCopies,
      notices,
      signal: new AbortController().signal,
    },
    workspace: () => ({ access: { canWrite: true }, saving }),
    mayWrite: () => false,
    begin: () => {},
  });
  recovery.start([copyOf('unsaved', false), copyOf('replaced', true)], undefined);
  offer().actions?.[0]?.run();
  offer().actions?.[0]?.run();
  assert.deepEqual(log, [
    'This browser kept changes to this plugin that were not saved',
    'This browser kept the text and the tests that were replaced',
    'restored unsaved, with what it replaces',
    'restored replaced, with what it replaces',
  ]);
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
