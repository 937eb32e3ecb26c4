import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { HttpError } from 'plugin-editor/client.js';
import { Notices } from '../../../editor/src/ui/notices.ts';
import { Actions, type ActionsParts } from '../../../editor/src/workspace/actions.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

test('the text is checked again once the session, which had ended, is there again', async () => {
  let checks = 0;
  const checkSource = async () => {
    checks++;
    throw new HttpError('The service', 401);
  };
  const source = { lang: 'typescript', contents: '' };
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
    serviceState: { on: () => {} },
  };
  const actions = new Actions(parts as unknown as ActionsParts);
  actions.handleEdit();
  mock.timers.tick(1000);
  await new Promise(setImmediate);
  mock.timers.tick(60_000);
  assert.equal(checks, 1);
  actions.handleResolved(['session']);
  mock.timers.tick(1000);
  assert.equal(checks, 2);
});
