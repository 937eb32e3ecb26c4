import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { ServiceOptions } from '../../../service/src/http/create-service.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';
import { bearer, listen } from '../harness.ts';
import { patientMonitor, proxyOf } from '../lost-database/proxied.ts';
import { running, startPlugin } from '../plugin.ts';
import { engineUnderTest, databaseWithSchema, openDuring, postgresTest } from '../storage/databases.ts';

const anyProxy = { trustedProxies: toBlockList(['127.0.0.1']) };

type HttpResponse = Awaited<ReturnType<Awaited<ReturnType<typeof listen>>['send']>>;

/** How often each status is among some answers. */
function statuses(responses: readonly HttpResponse[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

/** Checks that a response is a refusal by a rate, and returns what its headers say. */
function refusalOf({ status, headers, body }: HttpResponse) {
  assert.equal(status, 429);
  const { error } = JSON.parse(body) as { error: { code: string; message: string } };
  assert.equal(error.code, 'too-many-requests');
  // Structured fields (RFC 9651): a list of one string with parameters that are integers.
  const policy = /^"([a-z-]+)";q=(\d+);w=60$/.exec(String(headers['ratelimit-policy']));
  const limit = /^"([a-z-]+)";r=0;t=(\d+)$/.exec(String(headers['ratelimit']));
  assert.ok(policy && limit, JSON.stringify(headers));
  assert.equal(limit[1], policy[1]);
  assert.equal(headers['retry-after'], limit[2]);
  return { policy: policy[1], quota: Number(policy[2]), seconds: Number(limit[2]), message: error.message };
}

/** A storage whose statements are told. */
async function startStorage(t: TestContext, onStatement: (sql: string) => void) {
  const address = await databaseWithSchema(t, engineUnderTest());
  const storage = await openDuring(t, address, { log: ({ query }) => onStatement(query.sql) });
  return { storage };
}

/** A plugin that is deployed. */
async function deployed(t: TestContext, options: Partial<ServiceOptions>) {
  const plugin = await startPlugin(t, 't1', undefined, options);
  await plugin.build(running('return input;'));
  await plugin.deploy();
  return plugin;
}

describe('the service', () => {
  test('refuses runs of a tenant beyond its rate until the minute is over, and not those of others', async (t) => {
    const plugin = await deployed(t, { rates: { tenantRuns: 5 } });
    const responses = await times(8, () => plugin.run('v1.0.0'));
    assert.deepEqual(statuses(responses), { 200: 5, 429: 3 });
    const refusal = refusalOf(responses.find(({ status }) => status === 429) ?? assert.fail());
    assert.deepEqual(
      [refusal.policy, refusal.quota, refusal.seconds],
      ['tenant-runs', 5, 60],
      refusal.message,
    );
    const other = await startPlugin(t, 't2', plugin);
    await other.build(running('return input;'));
    await other.deploy();
    assert.equal((await other.run('v1.0.0')).status, 200);

    plugin.clock.now += 59_500;
    assert.equal(refusalOf(await plugin.run('newest')).seconds, 1);
    plugin.clock.now += 500;
    assert.equal((await plugin.run('newest')).status, 200);
  });

  test('refuses the runs of all tenants of an environment beyond its rate, without counting them for a tenant', async (t) => {
    const plugin = await deployed(t, { rates: { environmentRuns: 4, tenantRuns: 5 } });
    assert.deepEqual(statuses(await times(20, () => plugin.run('v1.0.0'))), { 200: 4, 429: 16 });
    assert.equal(refusalOf(await plugin.run('v1.0.0')).policy, 'environment-runs');
  });

  test('does not count tests of a draft as runs', async (t) => {
    const plugin = await deployed(t, { rates: { environmentRuns: 1, tenantRuns: 1 } });
    await times(5, () => plugin.test());
  });

  test('refuses any requests with a token beyond its rate, and none with other tokens', async (t) => {
    const plugin = await startPlugin(t, 't1', undefined, { rates: { tokenRequests: 6 } });
    const read = () => plugin.send('GET', plugin.paths.draft, plugin.editor);
    assert.deepEqual(statuses(await times(10, read)), { 404: 6, 429: 4 });
    assert.equal(
      refusalOf(await plugin.saveDraft({ contents: '', lang: 'javascript' })).policy,
      'token-requests',
    );
    const other = await startPlugin(t, 't1', plugin);
    assert.equal((await other.send('GET', other.paths.draft, other.editor)).status, 404);
  });

  test("counts an environment token's requests for editor tokens, but not its runs, towards the token's rate", async (t) => {
    const plugin = await deployed(t, { rates: { tokenRequests: 8 } });
    assert.deepEqual(statuses(await times(30, () => plugin.run('v1.0.0'))), { 200: 30 });
    const access = () => plugin.send('GET', '/auth/v2/access/com.acme.t1/default/other', plugin.vendor);
    // It has got one for the plugin above.
    assert.deepEqual(statuses(await times(10, access)), { 200: 7, 429: 3 });
  });

  test('counts requests without a valid token by address, and locks out nobody with a valid one', async (t) => {
    const service = await startPlugin(t, 't1', undefined, { rates: { addressRequests: 6 } });
    const { send, paths, editor } = service;
    const requests = [
      () => send('GET', '/api/v1/features'),
      () => send('GET', '/api/v1/template/javascript'),
      () => send('GET', '/api/v2/template/javascript/name'),
      () => send('GET', paths.draft),
      () => send('GET', paths.draft, bearer('pe_edit_unknown')),
      () => send('POST', paths.newest, bearer('pe_env_unknown')),
    ];
    const responses = await times(6, async (i) => (await requests[i]?.()) ?? assert.fail());
    assert.deepEqual(statuses(responses), { 200: 3, 401: 3 });
    for (const request of requests) assert.equal(refusalOf(await request()).policy, 'address-requests');
    assert.equal((await send('GET', paths.draft, editor)).status, 404);
    assert.equal(
      (await send('GET', '/auth/v2/access/com.acme.t1/default/add-record', service.vendor)).status,
      200,
    );
  });

  /** A service with an editor. */
  function listenWithEditor(t: TestContext, addressRequests: number) {
    const page = { body: new TextEncoder().encode('<!doctype html>'), type: 'text/html' };
    const script = { body: new TextEncoder().encode('export {}'), type: 'text/javascript' };
    return listen(t, {
      rates: { addressRequests },
      editorAssets: new Map([
        ['index.html', page],
        ['assets/main-12345678.js', script],
      ]),
    });
  }

  test('does not count files of the editor', async (t) => {
    const { send } = await listenWithEditor(t, 1);
    const responses = await times(10, () => send('GET', '/editor/assets/main-12345678.js'));
    assert.deepEqual(statuses(responses), { 200: 10 });
  });

  test('limits pages of the editor by address, apart from all other requests', async (t) => {
    const { send } = await listenWithEditor(t, 5);
    assert.deepEqual(statuses(await times(8, () => send('GET', '/api/v1/features'))), { 200: 5, 429: 3 });
    const pages = await times(8, () => send('GET', '/editor/'));
    assert.deepEqual(statuses(pages), { 200: 5, 429: 3 });
    assert.equal(
      refusalOf(pages.find(({ status }) => status === 429) ?? assert.fail()).policy,
      'address-requests',
    );
  });

  test('counts requests to unknown paths by address when they come without a valid token', async (t) => {
    const service = await startPlugin(t, 't1', undefined, { rates: { addressRequests: 6 } });
    const { send, paths, editor } = service;
    const strays = [
      () => send('GET', '/wp-login.php'),
      () => send('DELETE', '/api/v1/features'),
      () => send('GET', '/api/v1/features', { host: 'other.example' }),
      () => send('GET', '/api/v1/template/cobol'),
      () => send('GET', '/editor/nothing'),
      () => send('GET', '/nowhere', bearer('pe_edit_unknown')),
    ];
    const responses = await times(6, async (i) => (await strays[i]?.()) ?? assert.fail());
    assert.deepEqual(statuses(responses), { 404: 4, 405: 1, 421: 1 });
    for (const stray of strays) assert.equal(refusalOf(await stray()).policy, 'address-requests');
    assert.equal((await send('GET', '/healthz', { host: 'other.example' })).status, 200);
    // There is no draft yet, which a good token may ask for as often as it likes.
    const drafts = await times(10, () => send('GET', paths.draft, editor));
    assert.deepEqual(statuses(drafts), { 404: 10 });
  });

  test('looks up few of a flood of invalid tokens, and accepts valid ones from their address', async (t) => {
    const lookUps: string[] = [];
    const { storage } = await startStorage(t, (sql) => {
      if (/from ["`]editor_tokens["`]/.test(sql)) lookUps.push(sql);
    });
    const service = await startPlugin(t, 't1', undefined, { storage, rates: { addressRequests: 5 } });
    const { send, paths, editor } = service;
    const other = await startPlugin(t, 't2', service);
    // Known from now on.
    assert.equal((await send('GET', paths.draft, editor)).status, 404);
    lookUps.length = 0;
    const began = performance.now();
    const flood = times(300, (i) => send('GET', paths.draft, bearer(`pe_edit_guess-${i}`)));
    const known = times(10, () => send('GET', paths.draft, editor));
    const responses = await flood;
    assert.deepEqual(statuses(await known), { 404: 10 });
    assert.deepEqual(statuses(responses), { 401: 5, 429: 295 });
    // The flood takes longer on a busy machine, and each 100 ms allow one more.
    const maxLookUps = 100 + (performance.now() - began) / 100;
    assert.ok(lookUps.length < maxLookUps, `${lookUps.length} look-ups`);
    // This node sees it for the first time.
    assert.equal((await send('GET', other.paths.draft, other.editor)).status, 404);
  });

  postgresTest(
    'does not report a rate as used up when the node had no share of it and the database is unavailable',
    async (t) => {
      const direct = await databaseWithSchema(t, 'postgres');
      assert.ok(direct.engine === 'postgres');
      const { proxy, proxied } = await proxyOf(t, direct.url);
      const storage = await openDuring(t, proxied, { postgresLimits: patientMonitor });
      const { send } = await listen(t, { storage, rates: { addressRequests: 600 } });
      await proxy.refuse();
      const responses = [];
      for (let i = 0; i < 20; i++) responses.push(await send('GET', '/api/v1/features'));
      assert.deepEqual(statuses(responses), { 200: 6, 503: 14 });
      const last = responses.at(-1) ?? assert.fail();
      assert.equal((JSON.parse(last.body) as { error: { code: string } }).error.code, 'storage-unavailable');
      assert.match(String(last.headers['retry-after']), /^\d+$/);
    },
  );

  test('does not count requests with a valid token for their address', async (t) => {
    const service = await startPlugin(t, 't1', undefined, { rates: { addressRequests: 1 } });
    for (const tenant of ['t2', 't3', 't4']) {
      const { send, paths, editor } = await startPlugin(t, tenant, service);
      assert.equal((await send('GET', paths.draft, editor)).status, 404);
    }
    assert.equal((await service.send('GET', '/api/v1/features')).status, 200);
  });

  test('gives each client behind a trusted proxy a rate of its own, IPv6 clients by their /64', async (t) => {
    const { send } = await listen(t, { rates: { addressRequests: 3 }, ...anyProxy });
    const from = (address: string) => send('GET', '/api/v1/features', { 'x-forwarded-for': address });
    assert.deepEqual(statuses(await times(5, () => from('203.0.113.5'))), { 200: 3, 429: 2 });
    assert.equal((await from('203.0.113.6')).status, 200);
    assert.deepEqual(statuses(await times(5, (i) => from(`2001:db8:1:2::${i}`))), { 200: 3, 429: 2 });
    assert.equal((await from('2001:db8:1:3::1')).status, 200);
  });

  test('lets no client change its address by headers, unless a proxy is trusted', async (t) => {
    const { send } = await listen(t, { rates: { addressRequests: 3 } });
    const from = (address: string) => send('GET', '/api/v1/features', { 'x-forwarded-for': address });
    assert.deepEqual(statuses(await times(5, (i) => from(`203.0.113.${i}`))), { 200: 3, 429: 2 });
  });

  test('refuses a run beyond the rate before its body is sent', async (t) => {
    const plugin = await deployed(t, { rates: { tenantRuns: 1 } });
    await plugin.run('v1.0.0');
    const socket = connect(plugin.port, '127.0.0.1').setEncoding('latin1');
    t.after(() => socket.destroy());
    const { authorization } = plugin.vendor;
    socket.write(
      `POST ${plugin.paths.newest} HTTP/1.1\r\nhost: 127.0.0.1:${plugin.port}\r\nauthorization: ${authorization}\r\ncontent-length: 1000000\r\n\r\n`,
    );
    const [received] = (await once(socket, 'data')) as [string];
    assert.match(received, /^HTTP\/1\.1 429 /);
  });

  test('lets pages of other origins read a refusal', async (t) => {
    const { send } = await listen(t, { rates: { addressRequests: 1 } });
    const read = () => send('GET', '/api/v1/features', { origin: 'https://app.example.com' });
    await read();
    const refused = await read();
    refusalOf(refused);
    assert.equal(refused.headers['access-control-allow-origin'], '*');
    const exposed = String(refused.headers['access-control-expose-headers']).toLowerCase().split(/, ?/);
    for (const name of ['retry-after', 'ratelimit', 'ratelimit-policy'])
      assert.ok(exposed.includes(name), name);
  });

  test('enforces a rate of runs on two nodes together', async (t) => {
    const rates = { tenantRuns: 60 };
    const one = await deployed(t, { rates });
    const other = await listen(t, { rates, storage: await openDuring(t, one.address) });
    const run = (port: number) =>
      port === one.port
        ? one.run('v1.0.0')
        : other.send('POST', one.paths.exec('v1.0.0'), { ...one.vendor, 'content-type': 'text/plain' });
    const responses = await times(120, (i) => run(i % 2 ? one.port : other.port));
    const { 200: taken = 0, 429: refused = 0 } = statuses(responses);
    assert.equal(taken + refused, 120);
    assert.ok(Math.abs(taken - 60) <= 6, `${taken} of 60 ran`);
  });
});
