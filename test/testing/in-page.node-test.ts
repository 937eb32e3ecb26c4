import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standInTokenEndpoint } from '../../src/testing/in-page.ts';

test('standInTokenEndpoint passes a Request to another address on with its body', async (t) => {
  Object.assign(globalThis, { location: { href: 'http://localhost/page' } });
  t.after(() => Reflect.deleteProperty(globalThis, 'location'));
  t.mock.method(globalThis, 'fetch', async (request: Request) => new Response(await request.text()));
  const endpoint = standInTokenEndpoint('/token');
  t.after(() => endpoint.restore());
  const response = await fetch(new Request('http://localhost/notes', { method: 'POST', body: 'a note' }));
  assert.equal(await response.text(), 'a note');
});
