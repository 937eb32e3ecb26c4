import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { BuilderClient } from '../../src/client.ts';
import type { Tenant } from '../../src/server.ts';
import { PLUGIN, RUN, VERSION } from '../core/client/records.ts';
import { pageRequest } from '../server/endpoint-fixture.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { type Project, createProject, tscFile } from './package.ts';
import { type Builder, startBuilder } from './builder.ts';
import { blocksIn, read } from './markdown.ts';
import { until } from '../support/until.ts';

// Every block of the guide for back ends compiles with the strictest settings and sends the requests that it describes, and the
// real service answers as described.

const blocks = ['back-end', 'calls', 'roles', 'rollouts', 'webhooks']
  .flatMap((page) => blocksIn(read(`docs/guides/${page}.md`)))
  .filter(({ language }) => language === 'ts');

/** The part of the guide's code that its reader has to write. */
const SECRETS = `const values = new Map([['ENVIRONMENT_TOKEN', 'env-1']]);
export const secrets = {
  read: async (name: string) => values.get(name) ?? '',
  write: async (name: string, value: string) => void values.set(name, value),
};`;
const SESSION = `export type Role = 'viewer' | 'author' | 'owner';
let current: { customer: string; userId: string; role: Role } | undefined;
export const signIn = (session: typeof current) => { current = session; };
export const sessionOf = async (request: Request) => (request.url ? current : undefined);`;

const TENANT = '/api/v1/tenant/com.acme.customer-7';
const PLUGIN_PATH = '/api/v1/plugin/com.acme.customer-7/default/add-record';

/** Writes all blocks into a folder, with the URL of a builder and a token for it. */
async function writeBlocks(folder: string, url: string, token: string): Promise<void> {
  await place.write(`${folder}/secrets.ts`, SECRETS.replace('env-1', token));
  await place.write(`${folder}/session.ts`, SESSION);
  for (const { name, code } of blocks) {
    await place.write(`${folder}/${name}`, code.replaceAll('https://builder.example.com', url));
  }
}

let place: Project;
let builder: Awaited<ReturnType<typeof startScriptedServer>>;
before(async () => {
  [place, builder] = await Promise.all([
    createProject({ packages: ['standardwebhooks', '@types/node'] }),
    startScriptedServer(),
  ]);
  await writeBlocks('.', builder.url(), 'env-1');
});
after(async () => {
  await builder?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

type Exports = Record<string, (...parameters: never[]) => Promise<unknown>>;
type Calls = Record<string, (...parameters: unknown[]) => Promise<unknown>>;

/** The exports of a block, with a builder that follows these rules, and the requests to it. */
async function load(
  name: string,
  ...rules: Rule[]
): Promise<{ calls: Calls; requests: () => Promise<string[]> }> {
  await builder.reset(...rules);
  const seen = (await builder.requests()).length;
  return {
    calls: (await place.load<Exports>(name)) as Calls,
    requests: async () =>
      (await builder.requests())
        .slice(seen)
        .map(({ method, path, search, body }) => `${method} ${path}${search}${body && ` ${body}`}`),
  };
}

describe('the page "From your back end"', () => {
  test('names all its blocks', () => {
    assert.deepEqual(
      blocks.map(({ language, name }) => [language, /^[\w-]+\.ts$/.test(name)]),
      blocks.map(() => ['ts', true]),
    );
  });

  test('compiles without the types of Node, with the types of all libraries checked', async () => {
    const compilerOptions = {
      target: 'es2023',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2024', 'webworker'],
      types: [],
      allowImportingTsExtensions: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      skipLibCheck: false,
      // TypeScript's own.
      skipDefaultLibCheck: true,
      noEmit: true,
    };
    const compile = async (files: readonly string[], options: object) => {
      await place.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files }));
      await place.run(process.execPath, [tscFile, '-p', '.']);
    };
    // The library of Standard Webhooks has Node's `Buffer` in its types.
    const withNode = ['receive-webhook.ts'];
    const names = blocks.map(({ name }) => name);
    await compile(
      names.filter((name) => !withNode.includes(name)),
      compilerOptions,
    );
    await compile(withNode, { ...compilerOptions, lib: ['es2024'], types: ['node'], skipLibCheck: true });
  });

  test('lists all pages of plugins with list.ts', async () => {
    const { calls, requests: asked } = await load(
      'list.ts',
      { path: `${TENANT}/plugins`, times: 1, json: { plugins: [PLUGIN], next: 'c1' } },
      { path: `${TENANT}/plugins`, json: { plugins: [{ ...PLUGIN, live: null, draft: null }] } },
    );
    const found = { namespace: 'default', name: 'add-record' };
    assert.deepEqual(await calls['pluginsOf']?.('customer-7'), [
      { ...found, live: 'v1.0.0', savedBy: 'u-1' },
      { ...found, live: 'never deployed', savedBy: undefined },
    ]);
    assert.deepEqual(await asked(), [`GET ${TENANT}/plugins`, `GET ${TENANT}/plugins?after=c1`]);
    await assert.rejects(
      calls['pluginsOf']?.('bob@example.com') ?? Promise.resolve(),
      /the tenant must hold no period/,
    );
  });

  test('starts a rollout with rollout.ts, and finishes it or rolls back with finish.ts', async () => {
    const at = '/api/v1/plugin/com.acme.customer-7/default/price-rule';
    const rollout = { version: 'v1.0.1', percent: 10, startedAt: '', runs: 0, failures: 0 };
    const { calls, requests: asked } = await load('rollout.ts', {
      path: `${at}/rollout`,
      json: { ...rollout, live: { version: 'v1.0.0', runs: 0, failures: 0 } },
    });
    await calls['startRollout']?.('v1.0.1');
    assert.deepEqual(await asked(), [
      `PUT ${at}/rollout {"version":"v1.0.1","percent":10,"stop":{"runs":200,"failures":0.05}}`,
    ]);
    const end = await load(
      'finish.ts',
      { path: `${at}/rollout`, status: 204 },
      { path: `${at}/live`, json: { ...PLUGIN, name: 'price-rule' } },
    );
    await end.calls['rollBack']?.();
    await end.calls['finish']?.('v1.0.1');
    assert.deepEqual(await end.requests(), [`DELETE ${at}/rollout`, `PUT ${at}/live {"version":"v1.0.1"}`]);
  });

  test('finds the runs that a draft ends in another way with try.ts', async () => {
    const at = '/api/v1/plugin/com.acme.customer-7/default/price-rule';
    const counts = { replayed: 2, same: 1, different: 1, failed: 0, skipped: 0 };
    const results: [type: string, data: object][] = [
      ['result', { uuid: 'r-1', same: true, before: { output: '1' }, after: { output: '1', took: 1 } }],
      ['result', { uuid: 'r-2', same: false, before: { output: '1' }, after: { output: '2', took: 1 } }],
      ['done', counts],
    ];
    const events = results.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    const { calls, requests: asked } = await load('try.ts', {
      path: `${at}/replay`,
      headers: { 'content-type': 'text/event-stream' },
      body: events.join(''),
    });
    assert.deepEqual(await calls['tryDraft']?.(), { changed: ['r-2: 1 → 2'], ...counts });
    assert.deepEqual(await asked(), [`POST ${at}/replay {"limit":100}`]);
  });

  test('creates a webhook with create-webhook.ts, and keeps its secret', async () => {
    const path = '/api/v1/environment/com.acme/webhooks';
    const url = 'https://app.acme.com/hooks';
    const events = ['plugin.deployed', 'plugin.live', 'plugin.failing', 'plugin.recovered'];
    const webhook = { id: 'w-1', url, events, enabled: true, createdAt: '', secret: 'whsec_1' };
    const { calls, requests: asked } = await load('create-webhook.ts', { path, status: 201, json: webhook });
    assert.equal(await calls['createWebhook']?.(url), 'w-1');
    assert.deepEqual(await asked(), [`POST ${path} ${JSON.stringify({ url, events })}`]);
    const { secrets } = await place.load<{ secrets: { read: (name: string) => Promise<string> } }>(
      'secrets.ts',
    );
    assert.equal(await secrets.read('WEBHOOK_SECRET'), 'whsec_1');
  });

  test('makes the version before the live one live with roll-back.ts, and the newest again', async () => {
    const versions = ['v1.0.2', 'v1.0.1', 'v1.0.0'].map((version) => ({ ...VERSION, version }));
    const { calls, requests: asked } = await load(
      'roll-back.ts',
      { path: PLUGIN_PATH, json: { ...PLUGIN, live: 'v1.0.2' } },
      { path: `${PLUGIN_PATH}/versions`, json: { versions } },
      { path: `${PLUGIN_PATH}/live`, method: 'PUT', json: PLUGIN },
    );
    assert.equal(await calls['rollBack']?.('customer-7', 'add-record'), 'v1.0.1');
    await calls['rollForward']?.('customer-7', 'add-record');
    assert.deepEqual((await asked()).slice(2), [
      `PUT ${PLUGIN_PATH}/live {"version":"v1.0.1"}`,
      `PUT ${PLUGIN_PATH}/live {"version":null}`,
    ]);
  });

  test('lists the latest failures with failures.ts', async () => {
    const { calls, requests: asked } = await load('failures.ts', {
      path: `${PLUGIN_PATH}/runs`,
      json: { runs: [RUN] },
    });
    assert.deepEqual(await calls['latestFailures']?.('customer-7', 'add-record'), [
      { uuid: RUN.uuid, timestamp: RUN.timestamp, version: RUN.version, why: 'plugin-error: no price' },
    ]);
    assert.deepEqual(await asked(), [`GET ${PLUGIN_PATH}/runs?success=false&limit=10`]);
  });

  test('suspends, resumes and deletes repeatedly with customers.ts', async () => {
    const tenant: Tenant = {
      environment: 'com.acme',
      tenant: 'customer-7',
      ident: 'com.acme.customer-7',
      description: '',
      suspended: true,
      createdAt: '2031-01-02T03:04:05Z',
      plugins: 1,
    };
    const { calls, requests: asked } = await load(
      'customers.ts',
      { path: TENANT, method: 'PATCH', json: tenant },
      { path: TENANT, method: 'DELETE', times: 1, status: 204 },
      { path: TENANT, method: 'DELETE', times: 1, status: 404 },
      { path: TENANT, method: 'DELETE', status: 403 },
    );
    await calls['suspend']?.('customer-7');
    await calls['resume']?.('customer-7');
    await calls['deleteCustomer']?.('customer-7');
    await calls['deleteCustomer']?.('customer-7');
    await assert.rejects(calls['deleteCustomer']?.('customer-7') ?? Promise.resolve(), { status: 403 });
    assert.deepEqual((await asked()).slice(0, 3), [
      `PATCH ${TENANT} {"suspended":true}`,
      `PATCH ${TENANT} {"suspended":false}`,
      `DELETE ${TENANT}`,
    ]);
  });

  test('gives a customer other limits with limits.ts, and takes them back', async () => {
    const tenant = { environment: 'com.acme', tenant: 'customer-7', ident: 'com.acme.customer-7' };
    const { calls, requests: asked } = await load('limits.ts', {
      path: TENANT,
      method: 'PATCH',
      json: { ...tenant, description: '', suspended: false, createdAt: '', plugins: 1 },
    });
    await calls['startTrial']?.('customer-7');
    await calls['endTrial']?.('customer-7');
    assert.deepEqual(await asked(), [
      `PATCH ${TENANT} {"limits":{"plugins":10,"runsPerMinute":60,"records":"outcome"}}`,
      `PATCH ${TENANT} {"limits":{"plugins":null,"runsPerMinute":null,"records":null}}`,
    ]);
  });

  test('adds up the runs of all pages with usage.ts', async () => {
    const usage = '/api/v1/environment/com.acme/usage';
    const day = { day: '2031-01-02', tenant: 'customer-7', runs: 3, failures: 0, milliseconds: 1, builds: 0 };
    const { calls, requests: asked } = await load(
      'usage.ts',
      { path: usage, times: 1, json: { days: [day, { ...day, tenant: 'customer-8' }], next: 'c1' } },
      { path: usage, json: { days: [{ ...day, day: '2031-01-03', runs: 4 }] } },
    );
    const runs = (await calls['runsByCustomer']?.('2031-01-02', '2031-01-03')) as Map<string, number>;
    assert.deepEqual(
      [...runs],
      [
        ['customer-7', 7],
        ['customer-8', 3],
      ],
    );
    assert.deepEqual(await asked(), [
      `GET ${usage}?from=2031-01-02&to=2031-01-03`,
      `GET ${usage}?from=2031-01-02&to=2031-01-03&after=c1`,
    ]);
  });

  test('stores keys and a host of a connection with store-key.ts', async () => {
    const [own, shared] = [
      '/api/v1/tenant/com.acme.customer-7/connections/default',
      '/api/v1/environment/com.acme/connections/default',
    ];
    const { calls, requests: asked } = await load(
      'store-key.ts',
      ...[`${own}/rates`, `${own}/shop`, `${shared}/rates`].map((path) => ({
        path,
        method: 'PUT',
        status: 204,
      })),
    );
    await calls['storeKey']?.('customer-7', 'k-7');
    await calls['storeSharedKey']?.('k-0');
    await calls['storeHost']?.('customer-7', 'https://seven.example.com');
    assert.deepEqual(await asked(), [
      `PUT ${own}/rates {"value":"k-7"}`,
      `PUT ${shared}/rates {"value":"k-0"}`,
      `PUT ${own}/shop {"origin":"https://seven.example.com"}`,
    ]);
  });

  test('takes a message with a right signature alone with receive-webhook.ts', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { secrets } = await place.load<{ secrets: { write: (...pair: string[]) => Promise<void> } }>(
      'secrets.ts',
    );
    await secrets.write('WEBHOOK_SECRET', secret);
    const { receiveWebhook } = await place.load<{
      receiveWebhook: (request: Request) => Promise<Response>;
    }>('receive-webhook.ts');
    const body = JSON.stringify({ type: 'plugin.live', timestamp: '', data: { name: 'add-record' } });
    const now = new Date();
    const send = (text: string) =>
      receiveWebhook(
        new Request('https://app.example.com/webhook', {
          method: 'POST',
          body: text,
          headers: {
            'webhook-id': 'msg_1',
            'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
            'webhook-signature': new Webhook(secret).sign('msg_1', now, body),
          },
        }),
      );
    assert.equal((await send(body)).status, 204);
    assert.equal((await send(`${body} `)).status, 400);
  });

  test('uses the new token from the next call on with rotate.ts', async () => {
    const tokens = '/api/v1/environment/com.acme/tokens';
    const { calls, requests: asked } = await load(
      'rotate.ts',
      { path: tokens, method: 'POST', status: 201, json: { id: '2', token: 'env-2' } },
      { path: tokens, json: { tokens: [] } },
      { path: `${tokens}/1`, method: 'DELETE', status: 204 },
    );
    await calls['rotateToken']?.();
    await calls['tokens']?.();
    await calls['revoke']?.('1');
    assert.deepEqual(await asked(), [
      `POST ${tokens} {"overlap":3600}`,
      `GET ${tokens}`,
      `DELETE ${tokens}/1`,
    ]);
    const used = (await builder.requests()).slice(-3).map(({ headers }) => headers['authorization']);
    assert.deepEqual(used, ['Bearer env-1', 'Bearer env-2', 'Bearer env-2']);
  });

  test('requests the permissions of a role, for its user, with roles.ts', async () => {
    const token = (permissions: string[], actor: string) => ({
      json: { token: 'editor-1', expires_in: 60, permissions, actor },
    });
    const { calls, requests: asked } = await load(
      'roles.ts',
      { path: '/auth/*', ...token(['read'], 'u-1') },
      { path: `${TENANT}/session`, status: 201, ...token(['read', 'runs'], 'c-1') },
      { path: `${TENANT}/sessions`, method: 'DELETE', status: 204 },
    );
    const { signIn } = await place.load<{ signIn: (session: object) => void }>('session.ts');
    const endpoint = calls['endpoint'] as (request: Request) => Promise<Response>;
    const requestStatus = async () => (await endpoint(pageRequest())).status;
    assert.equal(await requestStatus(), 403);
    signIn({ customer: 'customer-7', userId: 'u-1', role: 'viewer' });
    assert.equal(await requestStatus(), 200);
    await calls['supportToken']?.('customer-7', 'c-1');
    await calls['endSessionsOf']?.('customer-7', 'u-1');
    assert.deepEqual(await asked(), [
      'GET /auth/v2/access/com.acme.customer-7/default/add-record?permissions=read&actor=u-1',
      `POST ${TENANT}/session {"permissions":["read","runs"],"actor":"c-1","expires_in":600}`,
      `DELETE ${TENANT}/sessions?actor=u-1`,
    ]);
  });
});

describe('the page "From your back end", with the service', () => {
  const customer = 'customer-7';
  const plugin = { environment: 'com.acme', userID: customer, pluginName: 'add-record' };
  let service: Builder;
  before(async () => {
    service = await startBuilder();
    await writeBlocks('with-service', service.origin, service.environmentToken);
  });
  after(() => service?.[Symbol.asyncDispose]());

  /** The exports of all blocks, by name. */
  const loadAll = async () => {
    // The guides to rollouts and webhooks have functions of the same names.
    const others = ['rollout.ts', 'finish.ts', 'create-webhook.ts'];
    const own = blocks.filter(({ name }) => !others.includes(name));
    const loaded = await Promise.all(own.map(({ name }) => place.load<Exports>(`with-service/${name}`)));
    return Object.assign({}, ...loaded) as Calls;
  };

  test('lists, rolls back, finds failures, assigns roles, limits, reads usage, rotates the token, suspends and deletes', async () => {
    const calls = await loadAll();
    const call = (name: string, ...parameters: unknown[]) => {
      const called = calls[name];
      assert.ok(called, name);
      return called(...parameters);
    };
    const { signIn } = await place.load<{ signIn: (session: object) => void }>('with-service/session.ts');
    const endpoint = calls['endpoint'] as unknown as (request: Request) => Promise<Response>;

    signIn({ customer, userId: 'u-1', role: 'owner' });
    const { token } = (await (await endpoint(pageRequest())).json()) as { token: string };
    const author = new BuilderClient({ baseUrl: service.origin, token });
    for (const output of ['"first"', 'input.missing.field']) {
      const contents = `export function run(input) { return ${output}; }\n`;
      await author.saveDraft(plugin, { contents, lang: 'javascript' });
      await author.build({ ...plugin, language: 'javascript' }, contents);
      await author.deploy(plugin);
    }
    assert.deepEqual(await call('pluginsOf', customer), [
      { namespace: 'default', name: 'add-record', live: 'v1.0.1', savedBy: 'u-1' },
    ]);

    const run = () =>
      service.call('/exec/name/com.acme.customer-7/default/add-record', service.environmentToken, 'x');
    assert.equal((await run()).status, 422);
    let failures: { why: string; version: string }[] = [];
    await until('the failed run is recorded', async () => {
      failures = (await call('latestFailures', customer, 'add-record')) as typeof failures;
      return failures.length > 0;
    });
    assert.equal(failures[0]?.version, 'v1.0.1');
    assert.match(failures[0].why, /^plugin-error: TypeError/);
    assert.equal(await call('rollBack', customer, 'add-record'), 'v1.0.0');
    assert.equal(await (await run()).text(), 'first');
    await call('rollForward', customer, 'add-record');
    assert.equal((await run()).status, 422);

    const support = (await call('supportToken', customer, 'colleague-1')) as { token: string };
    const helper = new BuilderClient({ baseUrl: service.origin, token: support.token });
    // The later runs are recorded within a second.
    assert.equal((await helper.listRuns(plugin)).runs.at(-1)?.error?.code, 'plugin-error');
    await assert.rejects(helper.deploy(plugin), { status: 403, code: 'not-permitted' });
    await call('endSessionsOf', customer, 'u-1');
    await assert.rejects(author.getPlugin(plugin), { status: 401 });
    assert.equal((await helper.getPlugin(plugin)).live, 'v1.0.1');

    const trial = (await call('startTrial', customer)) as Tenant;
    assert.deepEqual(trial.limits, { plugins: 10, runsPerMinute: 60, records: 'outcome' });
    assert.equal(((await call('endTrial', customer)) as Tenant).limits, undefined);
    const today = new Date().toISOString().slice(0, 10);
    await until('the runs are counted', async () => {
      const runs = (await call('runsByCustomer', '2026-01-01', today)) as Map<string, number>;
      return (runs.get(customer) ?? 0) >= 3;
    });

    await call('rotateToken');
    const { tokens } = (await call('tokens')) as { tokens: { id: string; endsAt?: string }[] };
    assert.deepEqual(
      tokens.map(({ endsAt }) => endsAt !== undefined),
      [true, false],
    );
    await call('revoke', tokens[0]?.id);
    assert.equal((await run()).status, 401);

    await call('suspend', customer);
    assert.equal((await endpoint(pageRequest())).status, 403);
    await call('resume', customer);
    assert.equal((await endpoint(pageRequest())).status, 200);
    await call('deleteCustomer', customer);
    await call('deleteCustomer', customer);
    assert.deepEqual(await call('pluginsOf', customer), []);
    assert.equal((await endpoint(pageRequest())).status, 403);
  });
});
