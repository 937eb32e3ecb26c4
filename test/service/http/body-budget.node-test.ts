import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { readPlainText } from '../../../service/src/http/body.ts';
import { limitBodies } from '../../../service/src/http/body-budget.ts';
import { errorResponse, unauthorized } from '../../../service/src/http/errors.ts';
import { until } from '../../support/until.ts';

const limits = { total: 4000, perEnvironment: 3000, perTenant: 2000 };

/** An app whose responses wait until they are let go, and what sends it bodies in the name of a tenant, such as `com.acme t1`. */
function startApp() {
  const pending: (() => void)[] = [];
  const app = new Hono();
  app.use('*', limitBodies(limits));
  app.post('/', async (c) => {
    const [environment = '', tenant = ''] = (c.req.header('authorization') ?? '').split(' ');
    if (tenant === 'nobody') {
      await new Promise<void>((resolve) => pending.push(resolve));
      throw unauthorized('token-invalid', 'no');
    }
    c.set('request', { id: 'an-id', responseHeaders: {}, environment, tenant });
    const text = await readPlainText(c, 10_000);
    await new Promise<void>((resolve) => pending.push(resolve));
    return c.text(`${text.length}`);
  });
  app.onError((error) => errorResponse(error, 'an-id'));
  const send = async (size: number, authorization: string, headers: Record<string, string> = {}) =>
    app.request('/', {
      method: 'POST',
      body: 'x'.repeat(size),
      headers: { authorization, 'content-length': `${size}`, ...headers },
    });
  /** Answers the requests that wait, once there are so many. */
  const respondToPending = async (count: number) => {
    await until(`${count} pending requests`, () => pending.length >= count);
    for (const respond of pending.splice(0)) respond();
  };
  return { send, respondToPending };
}

test('bodies beyond what one tenant may send at once are answered with 503 and Retry-After, and those of others are taken', async () => {
  const { send, respondToPending } = startApp();
  const taken = [send(1000, 'com.acme t1'), send(1000, 'com.acme t1')];
  const refused = await send(1, 'com.acme t1');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  taken.push(send(1000, 'com.acme t2'));
  assert.equal((await send(1, 'com.acme t2')).status, 503, 'The environment has used up its own.');
  taken.push(send(1000, 'com.other t1'));
  assert.equal((await send(1, 'com.other t1')).status, 503, 'The total is used up.');
  await respondToPending(taken.length);
  for (const one of taken) assert.equal(await (await one).text(), '1000');
  const after = send(2000, 'com.acme t1');
  await respondToPending(1);
  assert.equal((await after).status, 200);
});

test('bodies of requests without a valid token are not read, and take no room from others', async () => {
  const { send, respondToPending } = startApp();
  const guesses = Array.from({ length: 10 }, (_, i) => send(2000, `com.acme${i} nobody`));
  const good = send(2000, 'com.acme t1');
  await respondToPending(11);
  assert.equal((await good).status, 200);
  for (const one of guesses) assert.equal((await one).status, 401);
});

test('a request without a body is never refused because of the bodies of others', async () => {
  const { send, respondToPending } = startApp();
  const taken = [send(2000, 'com.acme t1'), send(1000, 'com.acme t2'), send(1000, 'com.other t1')];
  const empty = send(0, 'com.acme t1');
  await respondToPending(4);
  assert.equal((await empty).status, 200);
  await Promise.all(taken);
});

test('a body of unknown length counts as the largest one', async () => {
  const { send } = startApp();
  assert.equal((await send(1, 'com.acme t1', { 'transfer-encoding': 'chunked' })).status, 503);
});
