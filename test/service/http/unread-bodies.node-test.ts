import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { accessPath, bearer, draftPath, listen } from '../harness.ts';
import { clients } from '../http-clients.ts';
import type { BigRequest, Client } from '../http-clients.ts';
import { setUpVendor } from '../../demo/vendor-setup.ts';

const MB = 1_000_000;

/** The client that is refused for every reason. What becomes of the connections of the others depends only on the size. */
const thorough = 'node:http';

/** One of the clients, which is closed with the test. */
function connect(t: TestContext, name: string, port: number): Client {
  const client = clients[name]?.(port) ?? assert.fail(name);
  t.after(client.close);
  return client;
}

type Refused = Omit<BigRequest, 'size' | 'chunked'> & { status: number };

/** How one client sends its bodies, and what it asks for after each. */
interface Sender extends Client {
  readonly chunked: boolean;
  readonly welcome: string;
}

/** Sends what is refused, and then, on the same connection where it may be kept, what is answered. */
async function checkRefusal(sender: Sender, size: number, { status, ...request }: Refused): Promise<void> {
  const { send, chunked, welcome } = sender;
  const what = `${request.method ?? 'POST'} ${request.path} ${status}, ${size} bytes`;
  const refused = await send({ ...request, size, chunked });
  assert.equal(refused.status, status, what);
  const next = await send({ method: 'GET', path: welcome, size: 0, chunked: false });
  assert.deepEqual([next.status, next.closes], [200, false], what);
}

describe('the service, when it does not read a body', () => {
  for (const client of Object.keys(clients)) {
    for (const chunked of [false, true]) {
      const framing = chunked ? 'in chunks' : 'of a declared length';
      test(`answers ${client} with a body ${framing}, and then the next request`, async (t) => {
        const { port, environmentToken, editorToken } = await listen(t);
        const environment = await environmentToken();
        const vendor = bearer(environment);
        const editor = bearer(await editorToken(accessPath, environment));
        const other = bearer(await editorToken(accessPath.replace('add-record', 'other'), environment));
        const welcome = '/api/v1/features';
        const sender = { ...connect(t, client, port), chunked, welcome };
        const check = (size: number, refused: Refused) => checkRefusal(sender, size, refused);
        const save = { path: draftPath, headers: editor };
        for (const size of [1.1 * MB, 30 * MB]) await check(size, { ...save, status: 413 });
        const execution = '/exec/com.acme.t1/default/add-record/v1.0.0';
        const refusals: Refused[] = [
          { path: draftPath, status: 401 },
          { path: draftPath, headers: other, status: 403 },
          { path: '/nothing', status: 404 },
          { path: welcome, status: 405 },
          { ...save, headers: { ...editor, 'content-type': 'text/html' }, status: 415 },
          { path: `${draftPath}/promote`, headers: editor, status: 413 },
          { path: execution, headers: vendor, status: 404 },
          { path: '/api/v1/draft/%FF/default/x', status: 400 },
          { method: 'PUT', path: draftPath, status: 405 },
          { path: draftPath, headers: { host: 'elsewhere.test' }, status: 421 },
          { path: draftPath, headers: { host: 'no host' }, status: 400 },
        ];
        for (const refused of client === thorough ? refusals : refusals.slice(0, 1)) {
          await check(3 * MB, refused);
        }
      });
    }
  }

  test('answers without waiting for the body', async (t) => {
    const { port } = await listen(t);
    const client = connect(t, 'node:http', port);
    // Of a body that never ends no more is received than what is worth waiting for.
    const response = await client.send({ path: draftPath, size: Infinity, chunked: true });
    assert.deepEqual([response.status, response.closes], [401, true]);
  });
});

describe('the vendor’s app, when it does not read a body', () => {
  let vendor: Awaited<ReturnType<typeof setUpVendor>>;
  before(async () => {
    vendor = await setUpVendor();
  });
  after(() => vendor.close());

  for (const client of Object.keys(clients)) {
    for (const chunked of [false, true]) {
      const framing = chunked ? 'in chunks' : 'of a declared length';
      test(`answers ${client} with a body ${framing}, and then the next request`, async (t) => {
        const { port } = vendor;
        const own = { origin: `http://127.0.0.1:${port}` };
        const sender = { ...connect(t, client, port), chunked, welcome: '/session' };
        const check = (size: number, refused: Refused) => checkRefusal(sender, size, refused);
        for (const size of [MB, 30 * MB]) await check(size, { path: '/session', headers: own, status: 413 });
        const refusals: Refused[] = [
          { path: '/session', status: 403 },
          { path: '/session', headers: { ...own, 'content-type': 'text/html' }, status: 415 },
          { path: '/nothing', headers: own, status: 404 },
          { path: '/plugins/editor-token', headers: own, status: 413 },
          { path: '/plugins/editor-token', status: 403 },
        ];
        for (const refused of client === thorough ? refusals : refusals.slice(0, 1)) {
          await check(3 * MB, refused);
        }
        // A response without a body.
        await check(3 * MB, { method: 'DELETE', path: '/session', headers: own, status: 204 });
      });
    }
  }
});
