import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { boundBodies } from '../../../service/src/http/body-budget.ts';
import { errorResponse } from '../../../service/src/http/errors.ts';

const limits = { total: 3000, perToken: 2000 };

/** An app whose answers wait until they are let go, and what sends it bodies. */
function startApp() {
  const answers: (() => void)[] = [];
  const app = new Hono();
  app.use('*', boundBodies(limits));
  app.post('/', async (c) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return c.text(`${(await c.req.text()).length}`);
  });
  app.onError((error) => errorResponse(error, 'an-id'));
  const send = async (size: number, token: string, headers: Record<string, string> = {}) =>
    app.request('/', {
      method: 'POST',
      body: 'x'.repeat(size),
      headers: { authorization: `Bearer ${token}`, 'content-length': `${size}`, ...headers },
    });
  const letGo = () => {
    for (const answer of answers.splice(0)) answer();
  };
  return { send, letGo };
}

test('bodies past what one token may send at once are 503 with Retry-After, and others are taken', async () => {
  const { send, letGo } = startApp();
  const taken = [send(1000, 'a'), send(1000, 'a')];
  const refused = await send(1, 'a');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  taken.push(send(1000, 'b'));
  assert.equal((await send(1, 'b')).status, 503, 'The total is used up.');
  letGo();
  for (const one of taken) assert.equal(await (await one).text(), '1000');
  const after = send(2000, 'a');
  letGo();
  assert.equal((await after).status, 200);
});

test('a request without a body is never refused for the bodies of others', async () => {
  const { send, letGo } = startApp();
  const taken = [send(2000, 'a'), send(1000, 'b')];
  const empty = send(0, 'a');
  letGo();
  assert.equal((await empty).status, 200);
  await Promise.all(taken);
});

test('a body that does not say how large it is counts as the largest', async () => {
  const { send } = startApp();
  assert.equal((await send(1, 'a', { 'transfer-encoding': 'chunked' })).status, 503);
});
