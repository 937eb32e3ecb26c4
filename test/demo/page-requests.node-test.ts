import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { signIn } from '../../demo/page/back-end.ts';
import { loadData, setLive } from '../../demo/page/data.ts';
import { change, signedInAccount, state } from '../../demo/page/state.ts';
import { followWebhooks } from '../../demo/page/webhooks.ts';
import type { PluginDetails, SignedIn, WebhookMessages } from '../../demo/vendor/wire.ts';

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

describe('a page that is refreshed while a version is being made live', () => {
  const details = (live: string) => ({ live }) as PluginDetails;
  const problem = 'There is no such version; it may have been deleted meanwhile.';
  for (const [what, response, loaded, expected] of [
    ['what that made true', details('v1.0.0'), details('v1.0.0'), { details: details('v1.0.0') }],
    [
      'why that was refused',
      { error: { code: 'not-found', message: problem } },
      details('v1.0.2'),
      { details: details('v1.0.2'), problem },
    ],
  ] as const) {
    test(`shows ${what}`, async (t) => {
      const tenant = { ident: 'com.example.a', plugins: [{ name: 'f' }] };
      const account = { user: { name: 'Ada' }, tenants: [tenant] } as unknown as SignedIn;
      change({ account, ident: tenant.ident, fn: 'f', data: { details: details('v1.0.1') } });
      const pending = Promise.withResolvers<Response>();
      let current = details('v1.0.1');
      t.mock.method(globalThis, 'fetch', async (_: string, { method }: RequestInit) =>
        method === 'PUT' ? pending.promise : Response.json(current),
      );
      const made = setLive('v1.0.0');
      await loadData();
      assert.deepEqual(state.data, { details: details('v1.0.1') });
      current = loaded;
      pending.resolve(Response.json(response));
      await made;
      assert.deepEqual(state.data, expected);
    });
  }
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
