import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { bearer, errorOf, startService } from '../harness.ts';

const list = '/api/v1/environment/com.acme/namespaces';

export const order = {
  description: 'Called for each order.',
  input: {
    type: 'object',
    properties: { total: { type: 'number' }, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
    required: ['total'],
    $defs: { line: { type: 'object', properties: { sku: { type: 'string' } } } },
  },
  output: { type: 'object', properties: { discount: { type: 'number' } }, required: ['discount'] },
  samples: [{ name: 'small', input: { total: 20 }, output: { discount: 0 } }],
  templates: { javascript: 'export const run = (input) => ({ discount: input.total / 10 });\n' },
};

async function start(t: TestContext) {
  const running = await startService(t);
  const token = await running.environmentToken();
  const ask = async (method: string, path: string, body?: unknown) =>
    running.fetch(path, {
      method,
      headers: { ...bearer(token), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return { ...running, token, ask };
}

test('a namespace is said, answered, listed by pages and taken away', async (t) => {
  const { ask } = await start(t);
  const path = `${list}/orders`;
  assert.equal((await errorOf(await ask('GET', path))).code, 'namespace-not-found');
  assert.equal((await errorOf(await ask('DELETE', path))).status, 404);

  const first = await ask('PUT', path, { ...order, unknown: 1, namespace: 'other' });
  assert.equal(first.status, 201);
  assert.deepEqual(await first.json(), { namespace: 'orders', ...order });
  assert.deepEqual(await (await ask('GET', path)).json(), { namespace: 'orders', ...order });

  const second = await ask('PUT', path, { input: true });
  assert.equal(second.status, 200);
  assert.deepEqual(await second.json(), { namespace: 'orders', input: true });

  for (const name of ['a', 'b']) await ask('PUT', `${list}/${name}`, {});
  const names: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const answer = await ask('GET', `${list}?limit=1${next && `&after=${next}`}`);
    const page = (await answer.json()) as { namespaces: { namespace: string }[]; next?: string };
    names.push(...page.namespaces.map(({ namespace }) => namespace));
    next = page.next;
  }
  assert.deepEqual(names, ['a', 'b', 'orders']);

  assert.equal((await ask('DELETE', path)).status, 204);
  assert.equal((await ask('GET', path)).status, 404);
});
