import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import { Notices } from '../../../editor/src/ui/notices.ts';
import { Actions, type ActionsParts } from '../../../editor/src/workspace/actions.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Actions on a text that was shown and checked; the first checks have these errors. `count` returns how many there were. */
async function startActions(...errors: Error[]) {
  let checks = 0;
  const checkSource = async () => {
    const error = errors[checks++];
    if (error) throw error;
    return { diagnostics: [] };
  };
  const source = { lang: 'typescript', contents: '' };
  let goOnline = () => {};
  const parts = {
    session: {
      client: { checkSource },
      location: {},
      notices: new Notices(),
      screen: { draw: () => {} },
      signal: new AbortController().signal,
    },
    access: { canWrite: true },
    document: { source, editor: { contents: '', mark: () => {}, markSyntax: () => {} } },
    saving: { exists: true, source },
    serviceState: {
      on: (type: string, listener: () => void) => {
        if (type === 'online') goOnline = listener;
      },
    },
  };
  const actions = new Actions(parts as unknown as ActionsParts);
  actions.handleEdit();
  const count = async () => {
    mock.timers.tick(1000);
    await new Promise(setImmediate);
    return checks;
  };
  assert.equal(await count(), 1);
  return { actions, goOnline, count };
}

test('the text is checked again once the session, which had ended, is there again', async () => {
  const { actions, count } = await startActions(new HttpError('The service', 401));
  mock.timers.tick(60_000);
  assert.equal(await count(), 1);
  actions.handleResolved(['session']);
  assert.equal(await count(), 2);
});

test('the text is checked again once the service, which could not be reached, answers', async () => {
  const { goOnline, count } = await startActions(new NetworkError('The service', new TypeError()));
  goOnline();
  assert.equal(await count(), 2);
});

test('a text that was checked is not checked again when the page comes back into view', async () => {
  const { actions, count } = await startActions();
  actions.handleResolved([]);
  assert.equal(await count(), 1);
});
