import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createClient } from '../../../editor/src/service/client.ts';
import { BearerAuth } from '../../../editor/src/service/bearer-auth.ts';
import { DraftConflict, DraftDeleted } from '../../../editor/src/service/draft-errors.ts';
import { DraftStore } from '../../../editor/src/service/draft-store.ts';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import { startEditorService } from '../harness.ts';

const source = (contents: string) => ({ contents, lang: 'javascript' });

const service = await startEditorService({ editor: false });
after(() => service.close());
let count = 0;

/** A new plugin of the service. */
async function setUp() {
  const target = { fn: `plugin-${++count}` };
  const location = { environment: 'com.acme', userID: 't1', namespace: 'default', pluginName: target.fn };
  const auth = new BearerAuth(await service.token(target));
  const client = createClient(service.origin, auth);
  return {
    open: () => new DraftStore(client, location),
    /** The draft's text, as the service has it; `undefined` where there is none. */
    saved: async () => (await service.draft(target))?.contents,
    saveElsewhere: (contents: string) => service.save(source(contents), target),
    remove: () => service.remove(target),
    renewToken: async () => (auth.token = await service.token(target)),
  };
}

type Setting = Awaited<ReturnType<typeof setUp>>;

/** Saves a text so that it reaches the service, whose response is lost. */
function loseResponse({ saved }: Setting, store: DraftStore, contents: string) {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    await real(input, init);
    throw new TypeError('connection lost');
  };
  return store
    .save(source(contents))
    .then(
      () => assert.fail('the response was not lost'),
      (error: unknown) => assert.ok(error instanceof NetworkError),
    )
    .finally(() => (globalThis.fetch = real))
    .then(async () => assert.equal(await saved(), contents));
}

describe('DraftStore', () => {
  test('finds no draft at first, and then the saved one', async () => {
    const { open, saved } = await setUp();
    const store = open();
    assert.equal(await store.load(), undefined);
    await store.save(source('1'));
    await store.save(source('2'));
    assert.equal(await saved(), '2');
    const draft = await open().load();
    assert.equal(draft?.source.contents, '2');
    assert.ok(draft?.etag);
  });

  test('does not overwrite what was saved elsewhere, but returns it', async () => {
    const { open, saved, saveElsewhere } = await setUp();
    const store = open();
    await store.load();
    await store.save(source('1'));
    await saveElsewhere('theirs');
    await assert.rejects(store.save(source('mine')), (error) => {
      assert.ok(error instanceof DraftConflict);
      assert.equal(error.theirs.source.contents, 'theirs');
      return true;
    });
    assert.equal(await saved(), 'theirs');
  });

  test('does not overwrite a draft that was created elsewhere meanwhile', async () => {
    const { open, saveElsewhere } = await setUp();
    const store = open();
    await store.load();
    await saveElsewhere('theirs');
    await assert.rejects(store.save(source('mine')), DraftConflict);
  });

  test('overwrites exactly the draft that the user has seen and settled', async () => {
    const { open, saved, saveElsewhere } = await setUp();
    const store = open();
    await store.load();
    await saveElsewhere('theirs');
    const conflict = await store.save(source('mine')).catch((error: unknown) => error);
    assert.ok(conflict instanceof DraftConflict);
    store.acceptAsBase(conflict.theirs);
    await store.save(source('mine'));
    assert.equal(await saved(), 'mine');

    await saveElsewhere('theirs 2');
    store.acceptAsBase(conflict.theirs);
    await assert.rejects(store.save(source('mine 2')), DraftConflict);
  });

  test('does not create a draft anew that was deleted, unless the user asks for it', async () => {
    const { open, saved, remove, renewToken } = await setUp();
    const store = open();
    await store.load();
    await store.save(source('1'));
    await remove();
    await renewToken();
    await assert.rejects(store.save(source('2')), DraftDeleted);
    assert.equal(await saved(), undefined);
    store.acceptDeletion();
    await store.save(source('2'));
    assert.equal(await saved(), '2');
  });

  test('reports no conflict with its own text when the response to saving it was lost', async () => {
    const setting = await setUp();
    const store = setting.open();
    await store.load();
    await loseResponse(setting, store, 'first');
    await store.save(source('first'));
    await loseResponse(setting, store, 'second');
    await store.save(source('third'));
    assert.equal(await setting.saved(), 'third');
    await loseResponse(setting, store, 'fourth');
    await setting.saveElsewhere('theirs');
    await assert.rejects(store.save(source('fifth')), DraftConflict);
  });

  test('sends each save once, and leaves retries to its caller', async (t) => {
    const { open } = await setUp();
    const store = open();
    await store.load();
    t.after(() => (service.script.respond = undefined));
    service.script.respond = () => new Response('busy', { status: 503 });
    const before = service.seen.length;
    await assert.rejects(
      store.save(source('1')),
      (error) => error instanceof HttpError && error.status === 503,
    );
    assert.equal(service.seen.length, before + 1);
  });

  // Browsers keep connections with and without credentials apart; the scripts of the page came over one with them.
  test('reads the draft over the connection of the page, and sends no credentials when it saves', async (t) => {
    const { open, saveElsewhere } = await setUp();
    await saveElsewhere('1');
    const sent: [method: string, credentials: RequestCredentials][] = [];
    const real = globalThis.fetch;
    t.after(() => (globalThis.fetch = real));
    globalThis.fetch = (input, init) => {
      const { method = 'GET', credentials } = init ?? {};
      sent.push([method, credentials as RequestCredentials]);
      return real(input, init);
    };
    const store = open();
    assert.ok(await store.load());
    await store.save(source('2'));
    assert.deepEqual(sent, [
      ['GET', 'same-origin'],
      ['POST', 'omit'],
    ]);
  });
});
