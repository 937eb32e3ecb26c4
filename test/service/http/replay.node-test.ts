import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, afterEach, test } from 'node:test';
import type { TestContext } from 'node:test';
import { v7 as createUuid } from 'uuid';
import type { ServiceOptions } from '../../../service/src/http/create-service.ts';
import { defaultWaiting } from '../../../service/src/sandbox/waiting-runs.ts';
import { toRecord } from '../../../service/src/runs/to-record.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { takeReplay } from '../../../service/src/storage/tables/replays.ts';
import { addRuns, packRuns } from '../../../service/src/storage/tables/runs.ts';
import { findTenant } from '../../../service/src/storage/tables/tenants.ts';
import { findNewestVersion } from '../../../service/src/storage/tables/versions.ts';
import { until } from '../../support/until.ts';
import { secretsKey } from '../outbound/connected-service.ts';
import { startUpstream } from '../outbound/upstream.ts';
import { bearer, errorOf, startService } from '../harness.ts';
import { startPlugin } from '../plugin.ts';
import { cleanUpFirst } from '../storage/databases.ts';
import { patientLimits, sharedToolProcesses, withOwnSandbox } from '../tool-processes.ts';

const upstream = await startUpstream();
const origin = `http://localhost:${upstream.port}`;
after(() => upstream[Symbol.asyncDispose]());
afterEach(() => upstream.reset());

const path = '/api/v1/plugin/com.acme.t1/default/add-record';
const pluginKey = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
const jsonType = { 'content-type': 'application/json' };

const before = `export async function run(input) {
  if (input === 'bad') throw new Error('No.');
  if (input === 'call') return (await fetch('${origin}/rate?of=EUR')).text();
  if (input === 'caught') return fetch('${origin}/rate', { method: 'PUT' }).catch((error) => error.message);
  return JSON.stringify({ input, length: input.length });
}`;

/** The order of the members is another one, `bad` is mended, `new` fails, and the call of `other` was never made. */
const draft = `export async function run(input) {
  if (input === 'new') throw new Error('New.');
  if (input === 'call') return (await fetch('${origin}/rate?of=EUR')).text();
  if (input === 'caught') return fetch('${origin}/rate', { method: 'PUT' }).catch((error) => error.message);
  if (input === 'other') return (await fetch('${origin}/rate?of=USD')).text();
  return JSON.stringify({ length: input.length, input });
}`;

interface Result {
  readonly uuid: string;
  readonly same: boolean;
  readonly before: { readonly output?: string; readonly error?: { readonly code: string } };
  readonly after: Result['before'] & { readonly took: number };
  readonly calls?: readonly {
    readonly connection: string;
    readonly status?: number;
    readonly error?: string;
  }[];
}

interface Counts {
  readonly replayed: number;
  readonly same: number;
  readonly different: number;
  readonly failed: number;
  readonly skipped: number;
}

async function start(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const plugin = await startPlugin(t, 't1', undefined, {
    secrets: { keys: [secretsKey] },
    outbound: { allow: [origin], timeout: 60_000 },
    recording: { level: 'payloads' },
    runLimits: patientLimits,
    toolProcesses: sharedToolProcesses(),
    ...options,
  });
  const { send, vendor } = plugin;
  const rates = { connections: [{ name: 'rates', origin }] };
  const namespace = '/api/v1/environment/com.acme/namespaces/default';
  const set = await send('PUT', namespace, { ...vendor, ...jsonType }, JSON.stringify(rates));
  assert.ok(set.status < 300, set.body);
  const session = async (...permissions: string[]) => {
    const grant = JSON.stringify({ permissions });
    const response = await send(
      'POST',
      '/api/v1/tenant/com.acme.t1/session',
      { ...vendor, ...jsonType },
      grant,
    );
    const { token } = JSON.parse(response.body) as { token: string };
    return { authorization: `Bearer ${token}` };
  };
  const author = await session('read', 'write', 'runs');
  const vendorWith = async (scopes: string[]) => {
    const details = JSON.stringify({ holder: scopes.join(), scopes });
    const made = await send(
      'POST',
      '/api/v1/environment/com.acme/tokens',
      { ...vendor, ...jsonType },
      details,
    );
    return bearer((JSON.parse(made.body) as { token: string }).token);
  };
  const listed = async () => {
    const { body } = await send('GET', `${path}/runs?limit=200`, vendor);
    return (JSON.parse(body) as { runs: { uuid: string; input: string }[] }).runs;
  };
  const post = (body: object | undefined, headers: Record<string, string> = author) =>
    send('POST', `${path}/replay`, { ...headers, ...jsonType }, body && JSON.stringify(body));
  return {
    ...plugin,
    author,
    session,
    vendorWith,
    listed,
    post,
    replay: async (body?: object, headers?: Record<string, string>) => {
      const response = await post(body, headers);
      assert.equal(response.status, 200, response.body);
      assert.match(response.headers['content-type'] ?? '', /^text\/event-stream/);
      const events = response.body
        .trimEnd()
        .split('\n\n')
        .map((one) => /^event: (\w+)\ndata: (.*)$/.exec(one)?.slice(1) ?? []);
      assert.equal(events.at(-1)?.[0], 'done', response.body);
      return {
        results: events.slice(0, -1).map(([, data = '']) => JSON.parse(data) as Result),
        counts: JSON.parse(events.at(-1)?.[1] ?? '') as Counts,
      };
    },
    refusal: async (body?: object, headers?: Record<string, string>) => {
      const response = await post(body, headers);
      return `${response.status} ${(JSON.parse(response.body) as { error: { code: string } }).error.code}`;
    },
  };
}

const storedReplay = ({ db }: Storage) => db.query.selectFrom('replays').select('lease').executeTakeFirst();

test('a draft is tried on the recorded inputs, with the recorded calls, and nothing is recorded', async (t) => {
  const { build, deploy, run, listed, replay, refusal, session, vendorWith, send, vendor, storage, clock } =
    await start(t);
  assert.ok((await build(before)).succeeded);
  assert.equal(await deploy(), 'v1.0.0');
  upstream.handle = (_, response) => response.end('1.08');
  for (const input of ['one', 'bad', 'call', 'caught', 'new', 'other', 'x'.repeat(17_000)])
    await run('v1.0.0', input);
  await until('the runs are recorded', async () => (await listed()).length === 7);
  const runs = await listed();
  assert.equal(upstream.requests.length, 1);

  assert.ok((await build(draft)).succeeded);
  const { results, counts } = await replay();
  assert.deepEqual(counts, { replayed: 6, same: 3, different: 1, failed: 2, skipped: 1 });
  assert.deepEqual(
    results.map(({ uuid }) => uuid),
    runs.slice(1).map(({ uuid }) => uuid),
  );
  const byInput = new Map(results.map((one, i) => [runs[i + 1]?.input, one]));
  assert.equal(byInput.get('one')?.same, true);
  const mended = byInput.get('bad');
  assert.deepEqual(
    [mended?.same, mended?.before.error?.code, mended?.after.output],
    [false, 'plugin-error', '{"length":3,"input":"bad"}'],
  );
  const called = byInput.get('call');
  assert.deepEqual([called?.same, called?.after.output], [true, '1.08']);
  assert.deepEqual(
    called?.calls?.map(({ connection, status }) => [connection, status]),
    [['rates', 200]],
  );
  assert.equal(byInput.get('other')?.calls?.[0]?.error, 'call-not-recorded');
  for (const input of ['new', 'other'])
    assert.equal(byInput.get(input)?.after.error?.code, 'plugin-error', input);

  const same = await replay({ version: 'v1.0.0', limit: 4 }, vendor);
  assert.deepEqual(same.counts, { replayed: 3, same: 3, different: 0, failed: 0, skipped: 1 });
  assert.equal(upstream.requests.length, 1);
  assert.equal(await refusal({ version: 'v1.0.9' }), '404 version-not-found');
  assert.equal(await refusal({ limit: 201 }), '422 invalid-body');
  for (const permissions of [
    ['read', 'runs'],
    ['read', 'write'],
  ])
    assert.equal(await refusal({}, await session(...permissions)), '403 not-permitted');
  // It shows what real runs put out, which is for `read`, and is no list.
  for (const scopes of [['read', 'access-deploy'], ['manage']])
    assert.equal(await refusal({}, await vendorWith(scopes)), '403 not-permitted');
  assert.equal(await refusal({ limit: 0 }, await vendorWith(['manage', 'read'])), '422 invalid-body');
  assert.ok(!(await build('no program')).succeeded);
  assert.equal(await refusal(), '409 not-built');
  // The newest fifty by default, which are more than are read at once.
  const version = await findNewestVersion(storage.db, pluginKey);
  assert.ok(version);
  const more = Array.from({ length: 70 }, (_, i) =>
    toRecord(
      {
        id: createUuid({ msecs: clock.now + 1, seq: i }),
        plugin: pluginKey,
        version,
        input: `${i}`,
        outcome: { result: `{"input":"${i}","length":${`${i}`.length}}`, logs: [] },
        took: 1,
      },
      'payloads',
    ),
  );
  await addRuns(storage.db, await packRuns(storage.db, more));
  const fifty = await replay({ version: 'v1.0.0' });
  assert.deepEqual(fifty.counts, { replayed: 50, same: 50, different: 0, failed: 0, skipped: 0 });
  assert.deepEqual(
    fifty.results.map(({ uuid }) => uuid),
    more
      .map(({ id }) => id)
      .toReversed()
      .slice(0, 50),
  );
  const usage = await send('GET', '/api/v1/environment/com.acme/usage', vendor);
  assert.equal((JSON.parse(usage.body) as { days: { runs: number }[] }).days[0]?.runs, 7);
  assert.equal((await listed()).length, 7 + more.length);
});

test('a version that another node has deleted a moment ago is not found', async (t) => {
  const { build, deploy, run, refusal, storage } = await start(t);
  await build(before);
  await deploy();
  await run('newest', '{}');
  const version = await findNewestVersion(storage.db, pluginKey);
  assert.ok(version);
  // Else the draft keeps the program.
  await build(draft);
  await storage.db.query.deleteFrom('versions').execute();
  await storage.db.query.deleteFrom('programs').where('hash', '=', version.hash).execute();
  storage.db.programs.delete(version.hash);
  assert.equal(await refusal({ version: 'v1.0.0' }), '404 version-not-found');
});

test('inputs that are not recorded cannot be replayed', async (t) => {
  const { build, refusal } = await start(t, { recording: { level: 'logs' } });
  await build(before);
  assert.equal(await refusal(), '409 no-payloads');
});

test('a tenant has one replay at a time over all nodes, which ends when its client goes', async (t) => {
  const waiting = { ...defaultWaiting, time: 60_000 };
  const toolProcesses = withOwnSandbox({ runLimits: patientLimits, waiting });
  const { sandbox } = toolProcesses;
  cleanUpFirst(t, () => sandbox.close());
  const first = await start(t, { toolProcesses });
  const { build, deploy, run, listed, refusal, replay, post, send, vendor, port, author, storage, clock } =
    first;
  await build('export const run = () => "";');
  await deploy();
  await run('v1.0.0', 'x');
  await until('the run is recorded', async () => (await listed()).length === 1);
  await build('export const run = () => new Promise((resolve) => setTimeout(resolve, 60_000));');
  const target = { host: '127.0.0.1', port, method: 'POST', path: `${path}/replay`, headers: author };
  const client = request(target);
  client.on('error', () => {});
  client.end();
  await until('the replayed run waits', () => sandbox.connected.waiting === 1);
  const other = await startService(t, { storage, recording: { level: 'payloads' } });
  const replayOnOther = () =>
    other.fetch(`${path}/replay`, {
      method: 'POST',
      headers: { ...author, ...jsonType },
      body: JSON.stringify({ version: 'v1.0.0' }),
    });
  assert.equal((await errorOf(await replayOnOther())).code, 'too-many-requests');
  client.destroy();
  await until('the replay has ended', () => sandbox.connected.waiting === 0);
  await until('another may begin', async () => {
    const response = await replayOnOther();
    // Unread, it would hold the replay until its time to write is over.
    await response.text();
    return response.status === 200;
  });
  await until('that one has ended', async () => !(await storedReplay(storage)));

  // A tenant that is suspended ends it, and the run that waits is no result.
  const tenantPath = '/api/v1/tenant/com.acme.t1';
  const setSuspended = (suspended: boolean) =>
    send('PATCH', tenantPath, { ...vendor, ...jsonType }, JSON.stringify({ suspended }));
  const suspended = post({});
  await until('the replayed run waits', () => sandbox.connected.waiting === 1);
  await setSuspended(true);
  const { body } = await suspended;
  assert.match(body, /^event: error\ndata: .*"code":"tenant-suspended"/);
  assert.doesNotMatch(body, /event: result/);
  await setSuspended(false);
  await until('its end', async () => !(await storedReplay(storage)));

  // A node that was killed leaves its replay behind.
  const { id: tenantId } = (await findTenant(storage.db, { environment: 'com.acme', tenant: 't1' })) ?? {};
  assert.ok(tenantId);
  const endsAt = clock.now + 30_000;
  assert.ok(await takeReplay(storage.db, { tenantId, lease: 'killed', endsAt }, clock.now));
  assert.equal(await refusal({ version: 'v1.0.0' }), '429 too-many-requests');
  clock.now = endsAt;
  assert.equal((await replay({ version: 'v1.0.0' })).counts.same, 1);

  // The client of one whose lease is lost is told so.
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(sandbox, 'runAndMeasure', async (options: Parameters<typeof sandbox.runAndMeasure>[0]) => {
    await storage.db.query.deleteFrom('replays').execute();
    t.mock.timers.tick(10_000);
    const signal = options.signal?.() ?? assert.fail();
    await once(signal, 'abort');
    throw signal.reason;
  });
  assert.match((await post({ version: 'v1.0.0' })).body, /The replay was cancelled before its end\./);
});
