import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { DraftConflict, DraftDeleted } from '../../../editor/src/service/draft-errors.ts';
import { SaveQueue } from '../../../editor/src/draft/save-queue.ts';
import { HttpError, NetworkError } from 'plugin-editor/client.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A queue over a text, with saves that end when the test says so and a clock that the test turns. */
function setUp(t: TestContext, { exists = true } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const saves: { value: string; end: (error?: Error) => Promise<void> }[] = [];
  const states: string[] = [];
  const copy: { value?: string | undefined } = {};
  const page = { text: 'a' };
  const queue = new SaveQueue<string>({
    read: () => page.text,
    isSame: (a, b) => a === b,
    send: (value) =>
      new Promise((resolve, reject) => {
        const end = async (error?: Error) => {
          if (error) reject(error);
          else resolve();
          await settled();
        };
        saves.push({ value, end });
      }),
    copies: { keep: (value) => (copy.value = value), drop: () => delete copy.value },
    base: 'a',
    exists,
  });
  queue.on('state', ({ state }) =>
    states.push(state.kind === 'failed' ? `failed ${state.failure}` : state.kind),
  );
  t.after(() => queue.close());
  const edit = (text: string) => {
    page.text = text;
    queue.handleEdit();
  };
  const last = () => {
    const save = saves.at(-1);
    assert.ok(save, 'nothing was sent');
    return save;
  };
  return { queue, saves, states, copy, page, edit, last, tick: (ms: number) => t.mock.timers.tick(ms) };
}

const network = () => new NetworkError('POST /', undefined);
const http = (status: number, retryAfter?: number) => new HttpError('POST /', status, retryAfter);

describe('the save queue', () => {
  test('saves one second after the last change, and not before', async (t) => {
    const { saves, states, edit, last, tick } = setUp(t);
    edit('ab');
    tick(900);
    edit('abc');
    tick(999);
    assert.equal(saves.length, 0);
    tick(1);
    assert.deepEqual(
      saves.map(({ value }) => value),
      ['abc'],
    );
    await last().end();
    assert.deepEqual(states, ['unsaved', 'saving', 'saved']);
  });

  test('saves within ten seconds of continuous typing', (t) => {
    const { saves, edit, tick } = setUp(t);
    for (let second = 0; second < 20 && saves.length === 0; second++) {
      edit(`a${second}`);
      tick(500);
    }
    assert.equal(saves.length, 1);
  });

  test('sends one save at a time, the newest state last', async (t) => {
    const { queue, saves, edit, last, tick, states } = setUp(t);
    edit('ab');
    queue.flush();
    edit('abc');
    queue.flush();
    edit('abcd');
    tick(60_000);
    assert.equal(saves.length, 1);
    await last().end();
    assert.deepEqual(
      saves.map(({ value }) => value),
      ['ab', 'abcd'],
    );
    assert.equal(states.at(-1), 'saving');
    await last().end();
    assert.equal(states.at(-1), 'saved');
    assert.equal(saves.length, 2);
  });

  test('counts as unsaved until the builder has confirmed, and not when a change is undone', async (t) => {
    const { queue, saves, edit, last, tick, states } = setUp(t);
    assert.equal(queue.isUnsaved, false);
    edit('ab');
    assert.equal(queue.isUnsaved, true);
    tick(1000);
    assert.equal(queue.isUnsaved, true);
    await last().end();
    assert.equal(queue.isUnsaved, false);
    edit('abc');
    edit('ab');
    assert.equal(queue.isUnsaved, false);
    tick(1000);
    assert.equal(saves.length, 1);
    assert.equal(states.at(-1), 'saved');
  });

  test('saves a new plugin without changes only when asked to', async (t) => {
    const { queue, saves, states, edit, last, tick } = setUp(t, { exists: false });
    assert.equal(queue.state.kind, 'new');
    edit('ab');
    edit('a');
    tick(1000);
    assert.equal(saves.length, 0);
    assert.equal(states.at(-1), 'new');
    queue.flush({ force: true });
    await last().end();
    assert.equal(states.at(-1), 'saved');
  });

  test('keeps a copy from the first try until the save has succeeded', async (t) => {
    const { queue, copy, edit, last, tick } = setUp(t);
    edit('ab');
    assert.equal(copy.value, undefined);
    queue.flush();
    assert.equal(copy.value, 'ab');
    await last().end(network());
    assert.equal(copy.value, 'ab');
    edit('abc');
    tick(300);
    assert.equal(copy.value, 'abc');
    queue.flush();
    await last().end();
    assert.equal(copy.value, undefined);
  });

  for (const [name, error] of [
    ['no connection', network()],
    ['a failing service', http(503)],
  ] as const) {
    test(`tries again by itself after ${name}, waiting longer each time`, async (t) => {
      const { saves, edit, last, tick } = setUp(t);
      edit('ab');
      tick(1000);
      await last().end(error);
      const before = saves.length;
      tick(700);
      assert.equal(saves.length, before);
      tick(301);
      assert.equal(saves.length, before + 1);
      await last().end(error);
      tick(1400);
      assert.equal(saves.length, before + 1);
      tick(601);
      assert.equal(saves.length, before + 2);
      await last().end();
    });
  }

  test('waits as long as a busy service asks for', async (t) => {
    const { saves, edit, last, tick } = setUp(t);
    edit('ab');
    tick(1000);
    await last().end(http(503, 20_000));
    tick(19_999);
    assert.equal(saves.length, 1);
    tick(1);
    assert.equal(saves.length, 2);
  });

  test('tries again at once when the connection is back', async (t) => {
    const { queue, saves, edit, last, tick } = setUp(t);
    edit('ab');
    tick(1000);
    await last().end(network());
    queue.resume();
    assert.equal(saves.length, 2);
  });

  test('stops saving when the session has ended, until there is another token', async (t) => {
    const { queue, saves, states, copy, edit, last, tick } = setUp(t);
    edit('ab');
    tick(1000);
    await last().end(http(401));
    assert.equal(states.at(-1), 'failed session');
    edit('abc');
    tick(60_000);
    assert.equal(saves.length, 1);
    assert.equal(copy.value, 'abc');
    assert.equal(queue.isUnsaved, true);
    queue.resume();
    await last().end();
    assert.equal(last().value, 'abc');
    assert.equal(states.at(-1), 'saved');
    assert.equal(copy.value, undefined);
  });

  test('sends a refused text again only after a change', async (t) => {
    const { queue, saves, states, edit, last, tick } = setUp(t);
    edit('ab');
    tick(1000);
    await last().end(http(413));
    assert.equal(states.at(-1), 'failed too-large');
    tick(60_000);
    queue.resume();
    assert.equal(saves.length, 1);
    edit('abc');
    tick(1000);
    assert.equal(saves.length, 2);
  });

  test('keeps a text that storage is too full for, and saves it shortened, or once there is room', async (t) => {
    const { queue, saves, states, copy, edit, last, tick } = setUp(t);
    const full = Object.assign(http(403), { code: 'storage-full' });
    edit('a long text');
    tick(1000);
    await last().end(full);
    assert.equal(states.at(-1), 'failed storage-full');
    assert.equal(copy.value, 'a long text');
    tick(60_000);
    assert.equal(saves.length, 1);
    edit('short');
    tick(1000);
    await last().end(full);
    assert.equal(saves.length, 2);
    queue.resume();
    await last().end();
    assert.deepEqual([saves.length, last().value, states.at(-1)], [3, 'short', 'saved']);
  });

  test('clears a failure when the text is again the saved one', async (t) => {
    const { queue, states, copy, edit, last, tick } = setUp(t);
    edit('ab');
    tick(1000);
    await last().end(http(413));
    edit('a');
    tick(300);
    assert.equal(states.at(-1), 'unchanged');
    assert.equal(copy.value, undefined);
    assert.equal(queue.isUnsaved, false);
  });

  test('counts the same text as unsaved after a save whose outcome is unknown', async (t) => {
    const { queue, saves, edit, last, tick } = setUp(t);
    edit('ab');
    tick(1000);
    await last().end(network());
    edit('a');
    assert.equal(queue.isUnsaved, true);
    tick(30_000);
    assert.equal(last().value, 'a');
    assert.equal(saves.length, 2);
  });

  test('stops all saving at a conflict until it is resolved', async (t) => {
    const { queue, saves, states, copy, edit, page, last, tick } = setUp(t);
    edit('mine');
    tick(1000);
    await last().end(new DraftConflict({ source: { contents: 'theirs', lang: 'x' }, etag: '"2"' }));
    assert.equal(states.at(-1), 'failed conflict');
    edit('mine too');
    tick(60_000);
    queue.flush({ force: true });
    queue.prepareToLeave();
    queue.resume();
    assert.equal(saves.length, 1);
    assert.equal(copy.value, 'mine too');

    queue.acceptAsBase('theirs');
    assert.equal(last().value, 'mine too');
    await last().end();
    assert.equal(states.at(-1), 'saved');

    page.text = 'theirs';
    queue.acceptAsBase('theirs');
    assert.equal(saves.length, 2);
    assert.equal(copy.value, undefined);
  });

  test('has no draft once that was deleted, and creates it anew once the user asks for it', async (t) => {
    const { queue, saves, states, edit, last, tick } = setUp(t);
    edit('mine');
    tick(1000);
    await last().end(new DraftDeleted());
    assert.equal(states.at(-1), 'failed deleted');
    assert.equal(queue.exists, false);
    edit('mine too');
    tick(60_000);
    queue.resume();
    assert.equal(saves.length, 1);

    queue.acceptDeletion();
    queue.acceptDeletion();
    await last().end(network());
    assert.equal(saves.length, 2);
    assert.equal(queue.exists, false);
    tick(1000);
    await last().end();
    assert.deepEqual([saves.length, queue.exists, states.at(-1)], [3, true, 'saved']);
  });

  test('keeps a copy and saves at once when the page is left with changes', async (t) => {
    const { queue, saves, copy, edit, last } = setUp(t);
    queue.prepareToLeave();
    assert.equal(saves.length, 0);
    edit('ab');
    queue.prepareToLeave();
    assert.equal(copy.value, 'ab');
    assert.equal(saves.length, 1);
    edit('abc');
    queue.prepareToLeave();
    assert.equal(copy.value, 'abc');
    await last().end();
    assert.equal(last().value, 'abc');
  });

  test('waits for nothing once it is closed', async (t) => {
    const { queue, saves, edit, last, tick } = setUp(t);
    edit('ab');
    queue.flush();
    queue.close();
    await last().end(network());
    tick(60_000);
    assert.equal(saves.length, 1);
  });

  test('answers a request to save with whether the builder has the text, by the present save or the next', async (t) => {
    const { queue, saves, edit, last } = setUp(t);
    assert.equal(await queue.saveNow(), true);
    assert.equal(saves.length, 0);
    edit('ab');
    queue.flush();
    edit('abc');
    const saved = queue.saveNow();
    await last().end();
    assert.deepEqual(
      saves.map(({ value }) => value),
      ['ab', 'abc'],
    );
    await last().end();
    assert.equal(await saved, true);
    edit('abcd');
    const failed = queue.saveNow();
    await last().end(network());
    assert.equal(await failed, false);
  });

  test('saves once more on request where the save that was being sent fails, as it may have begun offline', async (t) => {
    const { queue, saves, edit, last } = setUp(t);
    edit('ab');
    queue.flush();
    const saved = queue.saveNow();
    await last().end(network());
    assert.equal(saves.length, 2);
    await last().end();
    assert.equal(await saved, true);
    edit('abc');
    queue.flush();
    const failed = queue.saveNow();
    await last().end(network());
    await last().end(network());
    assert.equal(await failed, false);
    assert.equal(saves.length, 4);
  });

  test('has ended saving when it answers, although the text was changed during the save that was asked for', async (t) => {
    const { queue, saves, edit, last } = setUp(t);
    edit('ab');
    queue.flush();
    edit('abc');
    const saved = queue.saveNow();
    await last().end();
    edit('abcd');
    await last().end();
    assert.equal(await saved, true);
    assert.deepEqual([saves.length, queue.base, queue.state.kind], [2, 'abc', 'unsaved']);
  });

  test('saves a new plugin without changes on request, but not one in conflict', async (t) => {
    const { queue, last, edit, saves } = setUp(t, { exists: false });
    const saved = queue.saveNow();
    await last().end();
    assert.equal(await saved, true);
    edit('b');
    queue.flush();
    await last().end(new DraftConflict({ source: { contents: '', lang: '' } }));
    assert.equal(await queue.saveNow(), false);
    assert.equal(saves.length, 2);
  });

  test('sends nothing while another action changes the draft, and sends it afterwards', async (t) => {
    const { queue, saves, edit, tick, copy } = setUp(t);
    let end: (() => void) | undefined;
    const held = queue.holdDuring(() => new Promise<void>((resolve) => (end = resolve)), 'action');
    edit('ab');
    tick(1000);
    queue.flush();
    assert.equal(saves.length, 0);
    assert.equal(copy.value, 'ab');
    // The plugin is closed once there is nothing left to save.
    queue.close();
    let isIdle = false;
    void queue.whenIdle().then(() => (isIdle = true));
    await settled();
    assert.equal(isIdle, false);
    end?.();
    await held;
    assert.equal(saves.length, 1);
    assert.equal(isIdle, false);
    await saves[0]?.end();
    assert.equal(isIdle, true);
  });

  test('is idle after another action during which nothing was edited', async (t) => {
    const { queue } = setUp(t);
    const held = queue.holdDuring(settled, 'action');
    const idle = queue.whenIdle();
    await held;
    await idle;
  });

  test('sends a save that the host asks for, and the last before the page goes, during another action', async (t) => {
    const { queue, saves, edit } = setUp(t);
    const [replaced, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const action = queue.holdDuring(async () => {
      await queue.holdDuring(() => replaced.promise, 'draft');
      await ended.promise;
    }, 'action');
    edit('ab');
    const saved = queue.saveNow();
    // The action replaces the draft itself.
    assert.equal(saves.length, 0);
    replaced.resolve();
    await settled();
    assert.equal(saves.length, 1);
    await saves[0]?.end();
    assert.equal(await saved, true);
    edit('abc');
    queue.flush();
    assert.equal(saves.length, 1);
    queue.prepareToLeave(true);
    assert.equal(saves.length, 2);
    ended.resolve();
    await action;
  });

  for (const exists of [true, false]) {
    const name = exists ? 'a draft' : 'a new plugin';
    test(`ends a requested save of ${name} that was held, although its edit was undone meanwhile`, async (t) => {
      const { queue, saves, edit } = setUp(t, { exists });
      let end: (() => void) | undefined;
      const held = queue.holdDuring(() => new Promise<void>((resolve) => (end = resolve)), 'draft');
      edit('ab');
      let isSaved: boolean | undefined;
      void queue.saveNow().then((saved) => (isSaved = saved));
      edit('a');
      end?.();
      await held;
      await settled();
      // Only a new plugin is to be saved although nothing is left of the edit.
      assert.equal(saves.length, exists ? 0 : 1);
      await saves[0]?.end();
      assert.equal(isSaved, true);
    });
  }

  test("saves again when the server's copy may have changed", (t) => {
    const { queue, saves } = setUp(t);
    queue.invalidateBase();
    assert.equal(saves.length, 1);
  });
});
