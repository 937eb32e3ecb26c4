import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { bearer } from '../../harness.ts';
import { draftOf, startVendor } from './vendor.ts';

const kibibyte = 1024;
const plugin = '/api/v1/plugin/com.acme.t1/default/add-record';

/** A vendor whose tenants may store 100 KiB, and what an author does with one plugin. */
async function startAuthor(t: TestContext) {
  const vendor = await startVendor(t, { tenantStorage: 100 * kibibyte });
  const { startSession, fetch, send, save } = vendor;
  const { token } = await startSession('com.acme.t1');
  const path = draftOf('com.acme.t1', 'add-record');
  return {
    ...vendor,
    token,
    saveText: (length: number) => save(token, { lang: 'javascript', contents: 'x'.repeat(length) }, {}, path),
    build: (length: number, accept = 'application/json') =>
      fetch('/api/v1/build/javascript/com.acme.t1/default/add-record', {
        method: 'POST',
        headers: { ...bearer(token), 'content-type': 'text/plain', accept },
        body: `export const run = () => '${'x'.repeat(length)}';`,
      }),
    deploy: () => send('POST', `${path}/promote`, undefined, token),
    usage: async () => {
      const session = await send('GET', '/api/v1/session', undefined, token);
      return ((await session.json()) as { usage: Record<string, number> }).usage;
    },
  };
}

async function fullOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { code: string; details?: { usedMb: number; allowedMb: number } };
  };
  return [response.status, error.code, error.details?.allowedMb];
}

const full = [403, 'storage-full', 0.098];

test('past what a tenant may store, what would add to it is refused, and what makes room works', async (t) => {
  const { saveText, build, deploy, usage, send, token, okay, refusal } = await startAuthor(t);
  for (let i = 0; i < 3; i++) {
    assert.equal((await build(10 * kibibyte + i)).status, 200);
    assert.equal((await deploy()).status, 200);
  }
  const { storageMb = 0, allowedStorageMb } = await usage();
  assert.ok(storageMb > 0.07 && storageMb < 0.098, String(storageMb));
  assert.equal(allowedStorageMb, 0.098);
  const tenant = await okay<{ usage: object }>(send('GET', '/api/v1/tenant/com.acme.t1'));
  assert.deepEqual(tenant.usage, await usage());

  assert.deepEqual(await fullOf(await saveText(50 * kibibyte)), full);
  assert.deepEqual(await fullOf(await build(50 * kibibyte)), full);
  assert.equal((await saveText(10)).status, 200, 'A shorter draft makes room.');
  assert.equal((await build(12 * kibibyte)).status, 200);
  assert.deepEqual(await fullOf(await deploy()), full);

  assert.equal(
    await refusal(send('DELETE', `${plugin}/versions/v1.0.2`, undefined, token)),
    '409 version-in-use',
  );
  assert.equal((await send('DELETE', `${plugin}/versions/v1.0.0`, undefined, token)).status, 204);
  assert.equal(await refusal(send('DELETE', `${plugin}/versions/v1.0.0`)), '404 version-not-found');
  assert.equal((await deploy()).status, 200);
  assert.deepEqual(await fullOf(await build(30 * kibibyte)), full);
  assert.equal((await send('DELETE', plugin)).status, 204);
  assert.equal((await usage())['storageMb'], 0);
});

test('a version can only be deleted by who may deploy', async (t) => {
  const { build, deploy, send, startSession, refusal } = await startAuthor(t);
  for (const length of [1, 2]) {
    await build(length);
    await deploy();
  }
  const { token } = await startSession('com.acme.t1', { permissions: ['write'] });
  const path = `${plugin}/versions/v1.0.0`;
  assert.equal(await refusal(send('DELETE', path, undefined, token)), '403 not-permitted');
  assert.equal((await send('DELETE', path)).status, 204);
  assert.equal(await refusal(send('DELETE', `${plugin}x/versions/v1.0.0`)), '404 plugin-not-found');
});

test('a streamed build whose program is past what a tenant may store says so in its last event', async (t) => {
  const { build, send, token } = await startAuthor(t);
  // The draft has room, and its program beside it has not.
  const response = await build(60 * kibibyte, 'text/event-stream');
  assert.equal(response.status, 200);
  const events = (await response.text()).trimEnd().split('\n\n');
  assert.deepEqual(
    events.map((event) => /^event: (\w+)$/m.exec(event)?.[1]),
    ['log', 'error'],
  );
  const { status, error } = JSON.parse(/^data: (.*)$/m.exec(events.at(-1) ?? '')?.[1] ?? '') as {
    status: number;
    error: { code: string; message: string; details: { allowedMb: number }; requestId: string };
  };
  assert.deepEqual([status, error.code, error.details.allowedMb], full);
  assert.match(error.message, /may take\. Delete versions or plugins, or shorten drafts, to make room\.$/);
  assert.equal(error.requestId, response.headers.get('x-request-id'));
  const draft = await send('GET', draftOf('com.acme.t1', 'add-record'), undefined, token);
  assert.equal(draft.status, 200, 'The draft was saved.');
});
