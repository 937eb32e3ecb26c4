import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { signIn } from '../../demo/page/back-end.ts';
import { change, signedInAccount, state } from '../../demo/page/state.ts';
import { followWebhooks } from '../../demo/page/webhooks.ts';
import type { SignedIn, WebhookMessages } from '../../demo/vendor/wire.ts';

const accountOf = (name: string) => ({ user: { name } }) as SignedIn;

/** Has each request of the page be answered by the next of these bodies; returns the requests. */
function answer(t: TestContext, bodies: object[]): string[] {
  const requests: string[] = [];
  t.mock.method(globalThis, 'fetch', async (path: string, { body }: RequestInit) => {
    requests.push(`${path}${typeof body === 'string' ? ` ${body}` : ''}`);
    return Response.json(bodies.shift());
  });
  return requests;
}

test('the page signs in whoever is chosen first', async (t) => {
  change({ account: undefined });
  const requests = answer(t, [accountOf('Ada'), accountOf('Cleo')]);
  await Promise.all(['ada', 'cleo'].map(signIn));
  assert.deepEqual(requests, ['/session {"user":"ada"}']);
  assert.equal(signedInAccount(state)?.user.name, 'Ada');
  change({ account: undefined });
  await signIn('cleo');
  assert.equal(signedInAccount(state)?.user.name, 'Cleo');
});

test('the page shows the first messages of a back end that was started again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  change({ account: accountOf('Mia'), drawer: 'open' });
  const message = (number: number, type: string) => ({ number, type, at: '', fields: '' });
  const bodies: WebhookMessages[] = [
    { messages: [message(1, 'a'), message(2, 'b')], last: 2 },
    { messages: [], last: 1 },
    { messages: [message(1, 'c')], last: 1 },
  ];
  const requests = answer(t, bodies);
  followWebhooks();
  for (let i = 0; i < 100 && state.webhooks.length < 3; i++) {
    await turn();
    t.mock.timers.tick(2000);
  }
  // The next timer is set, too, while it is a mock.
  await turn();
  assert.deepEqual(
    requests.slice(0, 3),
    [0, 2, 0].map((after) => `/webhooks?after=${after}`),
  );
  assert.deepEqual(
    state.webhooks.map(({ type }) => type),
    ['a', 'b', 'c'],
  );
});
