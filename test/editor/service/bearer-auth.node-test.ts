import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { SchemaError } from 'plugin-editor/client.js';
import { createClient } from '../../../editor/src/service/client.ts';
import { BearerAuth } from '../../../editor/src/service/bearer-auth.ts';

/** A service that takes one token alone; `sent` has the token of each request. `first` answers the first request. */
function serviceFor(t: TestContext, valid: string, first?: () => Response) {
  const sent: string[] = [];
  t.mock.method(globalThis, 'fetch', async (_: string, init?: RequestInit) => {
    const token = new Headers(init?.headers).get('authorization')?.replace('Bearer ', '') ?? '';
    sent.push(token);
    if (first && sent.length === 1) return first();
    return token === valid ? new Response('done') : new Response('refused', { status: 401 });
  });
  const request = async (auth: BearerAuth) => {
    const init = { method: 'POST', body: 'x', headers: { authorization: `Bearer ${auth.token}` } };
    return (await auth.fetch('http://service.test/', init)).status;
  };
  return { sent, request };
}

describe('BearerAuth', () => {
  test('asks for one token when several requests fail together, and sends each once more', async (t) => {
    let renewals = 0;
    const auth = new BearerAuth('old', async () => `new-${++renewals}`);
    const { sent, request } = serviceFor(t, 'new-1');
    assert.deepEqual(await Promise.all([request(auth), request(auth)]), [200, 200]);
    assert.deepEqual(sent, ['old', 'old', 'new-1', 'new-1']);
    assert.equal(renewals, 1);
  });

  test('uses a token that arrived meanwhile without asking', async (t) => {
    const auth = new BearerAuth('old', () => assert.fail('asked'));
    const { sent, request } = serviceFor(t, 'new');
    const done = request(auth);
    auth.token = 'new';
    assert.equal(await done, 200);
    assert.deepEqual(sent, ['old', 'new']);
  });

  test('sends the token that arrived while a client waited for a busy service', async (t) => {
    const auth = new BearerAuth('old', () => assert.fail('asked'));
    const waits: number[] = [];
    const { sent } = serviceFor(t, 'new', () => {
      auth.token = 'new';
      return new Response('busy', { status: 503, headers: { 'retry-after': '0' } });
    });
    const client = createClient('http://service.test', auth);
    const location = { environment: 'com.acme', userID: 'one', pluginName: 'orders' };
    // The response is no record, so that the call rejects once the service has taken the token.
    await assert.rejects(client.test(location, 'x', { onBusy: (wait) => waits.push(wait) }), SchemaError);
    assert.deepEqual(sent, ['old', 'new']);
    assert.equal(waits.length, 1);
  });

  test('asks once, also when the new token is refused', async (t) => {
    let renewals = 0;
    const auth = new BearerAuth('old', async () => `bad-${++renewals}`);
    const { sent, request } = serviceFor(t, 'good');
    assert.equal(await request(auth), 401);
    assert.deepEqual(sent, ['old', 'bad-1']);
  });

  test('returns the refusal when no token can be had', async (t) => {
    const { sent, request } = serviceFor(t, 'good');
    for (const auth of [
      new BearerAuth('old'),
      new BearerAuth('old', () => Promise.reject(new Error('signed out'))),
      new BearerAuth('old', async () => 'no header can hold\nthis'),
    ]) {
      assert.equal(await request(auth), 401);
    }
    assert.deepEqual(sent, ['old', 'old', 'old']);
  });

  test('returns the refusal when the launcher does not answer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const auth = new BearerAuth('old', () => new Promise(() => {}));
    const { request } = serviceFor(t, 'good');
    const done = request(auth);
    await new Promise(setImmediate);
    t.mock.timers.tick(10_000);
    assert.equal(await done, 401);
  });
});
