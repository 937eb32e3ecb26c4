import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createVendorApp } from '../../../demo/vendor/app.ts';
import { listen as listenVendor } from '../../../demo/vendor/listen.ts';
import { openVendorStore } from '../../../demo/vendor/store.ts';
import { Webhooks } from '../../../demo/vendor/webhooks.ts';
import { accessPath, bearer, draftPath, listen, temporaryDirectory } from '../harness.ts';
import { clients } from '../http-clients.ts';
import type { BigRequest, Client } from '../http-clients.ts';

const MB = 1_000_000;

/** The client that is refused for every reason. What becomes of the connections of the others depends only on the size. */
const thorough = 'node:http';

/** One of the clients, which is closed with the test. */
function connect(t: TestContext, name: string, port: number): Client {
  const client = clients[name]?.(port) ?? assert.fail(name);
  t.after(client.close);
  return client;
}

/** More than the system takes of a body that the service does not read. */
const LONG = 12 * MB;

type Refused = Omit<BigRequest, 'size' | 'chunked'> & { status: number };

/** Sends what is refused, and then, on the same connection where it may be kept, asks for what is answered. */
const checking =
  ({ send }: Client, chunked: boolean, welcome: string) =>
  async (size: number, { status, ...request }: Refused): Promise<void> => {
    const what = `${request.method ?? 'POST'} ${request.path} ${status}, ${size} bytes`;
    const refused = await send({ ...request, size, chunked });
    assert.equal(refused.status, status, what);
    const next = await send({ method: 'GET', path: welcome, size: 0, chunked: false });
    assert.deepEqual([next.status, next.closes], [200, false], what);
  };

for (const client of Object.keys(clients)) {
  for (const chunked of [false, true]) {
    const framing = chunked ? 'in chunks' : 'of a declared length';
    test(`the service answers ${client} with a body ${framing} that it does not read, and then the next request`, async (t) => {
      const { port, environmentToken, editorToken } = await listen(t);
      const environment = await environmentToken();
      const vendor = bearer(environment);
      const editor = bearer(await editorToken(accessPath, environment));
      const other = bearer(await editorToken(accessPath.replace('add-record', 'other'), environment));
      const welcome = '/api/v1/features';
      const check = checking(connect(t, client, port), chunked, welcome);
      const save = { path: draftPath, headers: editor };
      for (const size of [1.1 * MB, LONG]) await check(size, { ...save, status: 413 });
      const refusals: Refused[] = [
        { path: draftPath, status: 401 },
        { path: draftPath, headers: other, status: 403 },
        { path: '/nothing', status: 404 },
        { path: welcome, status: 405 },
        { ...save, headers: { ...editor, 'content-type': 'text/html' }, status: 415 },
        { path: `${draftPath}/promote`, headers: editor, status: 413 },
        { path: '/exec/com.acme.t1/default/add-record/v1.0.0', headers: vendor, status: 404 },
        { path: '/api/v1/draft/%FF/default/x', status: 400 },
        { method: 'PUT', path: draftPath, status: 405 },
        { path: draftPath, headers: { host: 'elsewhere.test' }, status: 421 },
        { path: draftPath, headers: { host: 'no host' }, status: 400 },
      ];
      const isThorough = client === thorough && !chunked;
      for (const refused of isThorough ? refusals : refusals.slice(0, 1)) await check(1.1 * MB, refused);
    });
  }
}

test('the service answers without waiting for a body that it does not read', async (t) => {
  const { port } = await listen(t);
  const client = connect(t, 'node:http', port);
  // Of a body that never ends no more is received than what is worth waiting for.
  const response = await client.send({ path: draftPath, size: Infinity, chunked: true });
  assert.deepEqual([response.status, response.closes], [401, true]);
});

test('the vendor’s app answers a client with a body that it does not read, and then the next request', async (t) => {
  const store = openVendorStore(temporaryDirectory(t));
  t.after(() => store.close());
  const hosts: string[] = [];
  const app = createVendorApp({
    store,
    webhooks: new Webhooks(),
    assets: new Map(),
    hosts,
    servicePort: 1,
    environmentToken: () => '',
  });
  const { port, close } = await listenVendor(app, 0);
  t.after(close);
  hosts.push(`127.0.0.1:${port}`);
  const own = { origin: `http://127.0.0.1:${port}` };
  for (const [client, chunked] of [
    [thorough, false],
    ['a client that sends all before it reads, as Python’s', true],
  ] as const) {
    const check = checking(connect(t, client, port), chunked, '/session');
    await check(LONG, { path: '/session', headers: own, status: 413 });
    await check(1.1 * MB, { path: '/session', status: 403 });
    await check(1.1 * MB, { path: '/nothing', headers: own, status: 404 });
    // A response without a body.
    await check(1.1 * MB, { method: 'DELETE', path: '/session', headers: own, status: 204 });
  }
});
