import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Notices } from '../../../editor/src/ui/notices.ts';
import type { Dock } from '../../../editor/src/workspace/dock.ts';
import type { PluginSession } from '../../../editor/src/workspace/plugin-session.ts';
import type { ServiceState } from '../../../editor/src/workspace/service-state.ts';
import { StorageNotice } from '../../../editor/src/workspace/storage-notice.ts';

/** The notice of a session whose service says how much is stored; `shown` is its text. */
async function setUp(storageMb: number | undefined) {
  const usage = { storageMb, recordsMb: 1, allowedStorageMb: 500 };
  const shown: { text: string | undefined; labels: string[] } = { text: undefined, labels: [] };
  const notices = new Notices();
  notices.show = (_, notice) => {
    const { text, actions = [] } = notice();
    Object.assign(shown, { text, labels: actions.map(({ label }) => label) });
  };
  notices.hide = () => (shown.text = undefined);
  const details = () => Promise.resolve(storageMb === undefined ? {} : { usage: { ...usage } });
  const session = {
    details: details(),
    client: { getSession: details },
    notices,
    signal: new AbortController().signal,
  } as unknown as PluginSession;
  const focused: string[] = [];
  const dock = { focus: (panel: string) => focused.push(panel) } as unknown as Dock;
  const notice = new StorageNotice(session, { hasVersions: true } as ServiceState, dock);
  await new Promise(setImmediate);
  return { notice, shown, usage };
}

test('the user is told that storage is nearly full from 90 % on, and when it is full', async () => {
  assert.equal((await setUp(449)).shown.text, undefined);
  assert.equal((await setUp(undefined)).shown.text, undefined);
  const { shown, usage, notice } = await setUp(450);
  assert.match(shown.text ?? '', /nearly full: 450 of 500 MB.*delete old versions/);
  assert.deepEqual(shown.labels, ['Show versions', 'Dismiss']);
  usage.storageMb = 500.2;
  await notice.load();
  assert.match(shown.text ?? '', /is full: 500 of 500 MB.*delete old versions/);
  usage.storageMb = 100;
  await notice.load();
  assert.equal(shown.text, undefined);
});

test('a notice about storage that was dismissed is not shown again for the same', async () => {
  const { shown, usage, notice } = await setUp(460);
  shown.text = undefined;
  usage.storageMb = 470;
  await notice.load();
  assert.equal(shown.text, undefined);
});
