import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { PluginSource } from 'plugin-editor/client.js';
import type { CompareOptions } from '../../../editor/src/draft/compare-dialog.ts';
import type { LocalCopies, LocalCopy } from '../../../editor/src/draft/local-copies.ts';
import { Recovery } from '../../../editor/src/draft/recovery.ts';
import { type Notice, Notices } from '../../../editor/src/ui/notices.ts';

const draft: PluginSource = { lang: 'javascript', contents: 'draft' };

const copyOf = (key: string, isReplaced = false): LocalCopy => ({
  key,
  source: { lang: 'javascript', contents: key },
  at: new Date(0),
  isReplaced,
});

/** The offers of a recovery, and a log of what was done. `isOpen`: whether there is a draft to compare with. */
function setUp({ canWrite = true, isOpen = true } = {}) {
  const log: string[] = [];
  const access = { canWrite };
  const notices = new Notices();
  let shown: Notice | undefined;
  mock.method(notices, 'show', (_kind: string, notice: () => Notice) => {
    shown = notice();
    log.push(shown.text.replace(/ \(.*/, ''));
  });
  mock.method(notices, 'hide', () => (shown = undefined));
  const dialog: { labels?: string[]; choose: () => unknown } = { choose: () => undefined };
  mock.method(notices, 'loadModule', async () => ({
    showCompareDialog: async ({ choices }: CompareOptions<unknown>) => {
      dialog.labels = choices.map(({ label }) => label);
      return dialog.choose();
    },
  }));
  const saving = {
    state: { kind: 'unchanged' } as const,
    source: draft,
    saved: draft,
    replace: (source: PluginSource, _said: unknown, { spare }: { spare: PluginSource | undefined }) => {
      log.push(
        `restored ${source.contents}, ${spare ? `without ${spare.contents}` : 'with what it replaces'}`,
      );
    },
  };
  const copies = {
    remove: (key: string) => log.push(`removed ${key}`),
    putBack: ({ key }: LocalCopy) => log.push(`put back ${key}`),
  };
  const recovery = new Recovery({
    session: {
      copies: copies as unknown as LocalCopies,
      notices,
      signal: new AbortController().signal,
    },
    workspace: () => (isOpen ? { access, saving } : undefined),
    mayWrite: () => access.canWrite,
    begin: ({ contents }) => log.push(`begun ${contents}`),
  });
  const labels = () => shown?.actions?.map(({ label }) => label);
  const press = async (name: string) => {
    const action = shown?.actions?.find(({ label }) => label === name);
    assert.ok(action, `${name} among ${labels()?.join()}`);
    action.run();
    await new Promise(setImmediate);
  };
  return { recovery, access, dialog, log, labels, press };
}

const OFFER = 'This browser kept changes to this plugin that were not saved';
const DISCARDED = 'The copy was discarded.';

test('a copy that this browser kept is called what it is, and the way back from it comes before the next offer', async () => {
  const { recovery, log, press } = setUp();
  recovery.start([copyOf('unsaved'), copyOf('replaced', true)], undefined);
  await press('Restore');
  await press('Restore');
  assert.deepEqual(log, [
    OFFER,
    'This browser kept the text and the tests that were replaced',
    'restored unsaved, with what it replaces',
    'restored replaced, with what it replaces',
  ]);
});

test('a copy of what the service has is removed, and not offered', () => {
  const { recovery, log } = setUp();
  recovery.start([copyOf('draft')], draft);
  assert.deepEqual(log, ['removed draft']);
});

test('a copy is gone when it is discarded, unless that is undone', async () => {
  const { recovery, log, labels, press } = setUp();
  recovery.start([copyOf('a')], draft);
  assert.deepEqual(labels(), ['Restore', 'Compare', 'Discard']);
  await press('Discard');
  await press('Undo');
  assert.deepEqual(log, [OFFER, 'removed a', DISCARDED, 'put back a', OFFER]);
  await press('Discard');
  await press('Dismiss');
  assert.deepEqual(log.slice(5), ['removed a', DISCARDED]);
  assert.equal(labels(), undefined);
});

test('a copy is shown, but not offered to be restored, where the plugin may not be written', async () => {
  const { recovery, access, dialog, log, labels, press } = setUp({ canWrite: false });
  recovery.start([copyOf('a')], draft);
  assert.deepEqual(labels(), ['Compare', 'Discard']);
  await press('Compare');
  assert.deepEqual(dialog.labels, ['Discard']);
  assert.deepEqual(log, [OFFER]);
  // It became so while the user chose.
  access.canWrite = true;
  dialog.choose = () => {
    access.canWrite = false;
    return 'restore';
  };
  await press('Compare');
  assert.deepEqual(dialog.labels, ['Restore', 'Discard']);
  assert.deepEqual(log, [OFFER]);
});

test('a copy is restored or discarded from the comparison', async () => {
  const { recovery, dialog, log, press } = setUp();
  recovery.start([copyOf('a'), copyOf('b')], draft);
  for (const choice of ['restore', 'discard']) {
    dialog.choose = () => choice;
    await press('Compare');
  }
  assert.deepEqual(log, [OFFER, OFFER, 'restored a, with what it replaces', 'removed b', DISCARDED]);
});

test('a copy begins the plugin where nothing is open that it could be compared with', async () => {
  const { recovery, log, labels, press } = setUp({ isOpen: false });
  recovery.start([copyOf('a')], undefined);
  assert.deepEqual(labels(), ['Restore', 'Discard']);
  await press('Restore');
  assert.deepEqual(log, [OFFER, 'removed a', 'begun a']);
});
