import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Tenant } from '../../src/server.ts';
import { PLUGIN, RUN, VERSION } from '../core/client/records.ts';
import { pageRequest } from '../server/endpoint-fixture.ts';
import type { Rule } from '../support/script-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { type Workplace, startWorkplace, tscFile } from './package.ts';
import { blocksIn, read } from './markdown.ts';

// Every block of the guide for back ends: it compiles as strictly as can be, and what it asks the builder is what it says.

const blocks = ['back-end', 'roles']
  .flatMap((page) => blocksIn(read(`docs/guides/${page}.md`)))
  .filter(({ language }) => language !== 'mermaid');

/** What the guide takes from the reader's own code. */
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

let place: Workplace;
let builder: Awaited<ReturnType<typeof startScriptedServer>>;
before(async () => {
  [place, builder] = await Promise.all([startWorkplace({}), startScriptedServer()]);
  await place.write('secrets.ts', SECRETS);
  await place.write('session.ts', SESSION);
  for (const { name, code } of blocks) {
    await place.write(name, code.replaceAll('https://builder.example.com', builder.url()));
  }
});
after(async () => {
  await builder?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

type Exports = Record<string, (...given: never[]) => Promise<unknown>>;
type Calls = Record<string, (...given: unknown[]) => Promise<unknown>>;

/** What a block exports, with a builder that answers like this; and what that is asked. */
async function load(
  name: string,
  ...rules: Rule[]
): Promise<{ calls: Calls; asked: () => Promise<string[]> }> {
  await builder.reset(...rules);
  const seen = (await builder.requests()).length;
  return {
    calls: (await place.load<Exports>(name)) as Calls,
    asked: async () =>
      (await builder.requests())
        .slice(seen)
        .map(({ method, path, search, body }) => `${method} ${path}${search}${body && ` ${body}`}`),
  };
}

describe('From your back end', () => {
  test('has names for all its blocks', () => {
    assert.deepEqual(
      blocks.map(({ language, name }) => [language, /^[\w-]+\.ts$/.test(name)]),
      blocks.map(() => ['ts', true]),
    );
  });

  test('compiles, without the types of Node and with all types of libraries checked', async () => {
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
      noEmit: true,
    };
    await place.write(
      'tsconfig.json',
      JSON.stringify({ compilerOptions, files: blocks.map(({ name }) => name) }),
    );
    await place.run(process.execPath, [tscFile, '-p', '.']);
  });

  test('list.ts lists all pages of plugins', async () => {
    const { calls, asked } = await load(
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

  test('roll-back.ts makes the version before the live one live, and the newest again', async () => {
    const versions = ['v1.0.2', 'v1.0.1', 'v1.0.0'].map((version) => ({ ...VERSION, version }));
    const { calls, asked } = await load(
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

  test('failures.ts lists the latest failures', async () => {
    const { calls, asked } = await load('failures.ts', {
      path: `${PLUGIN_PATH}/runs`,
      json: { runs: [RUN] },
    });
    assert.deepEqual(await calls['latestFailures']?.('customer-7', 'add-record'), [
      { uuid: RUN.uuid, timestamp: RUN.timestamp, version: RUN.version, why: 'plugin-error: no price' },
    ]);
    assert.deepEqual(await asked(), [`GET ${PLUGIN_PATH}/runs?success=false&limit=10`]);
  });

  test('customers.ts suspends, resumes and deletes, and deletes again', async () => {
    const tenant: Tenant = {
      environment: 'com.acme',
      tenant: 'customer-7',
      ident: 'com.acme.customer-7',
      description: '',
      suspended: true,
      createdAt: '2031-01-02T03:04:05Z',
      plugins: 1,
    };
    const { calls, asked } = await load(
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

  test('rotate.ts uses the new token from the next call on', async () => {
    const tokens = '/api/v1/environment/com.acme/tokens';
    const { calls, asked } = await load(
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

  test('roles.ts asks for what the role may do, and for whom', async () => {
    const token = (permissions: string[], actor: string) => ({
      json: { token: 'editor-1', expires_in: 60, permissions, actor },
    });
    const { calls, asked } = await load(
      'roles.ts',
      { path: '/auth/*', ...token(['read'], 'u-1') },
      { path: `${TENANT}/session`, status: 201, ...token(['read', 'runs'], 'c-1') },
      { path: `${TENANT}/sessions`, method: 'DELETE', status: 204 },
    );
    const { signIn } = await place.load<{ signIn: (session: object) => void }>('session.ts');
    const ask = calls['endpoint'] as (request: Request) => Promise<Response>;
    const answer = async () => (await ask(pageRequest())).status;
    assert.equal(await answer(), 403);
    signIn({ customer: 'customer-7', userId: 'u-1', role: 'viewer' });
    assert.equal(await answer(), 200);
    await calls['supportToken']?.('customer-7', 'c-1');
    await calls['endSessionsOf']?.('customer-7', 'u-1');
    assert.deepEqual(await asked(), [
      'GET /auth/v2/access/com.acme.customer-7/default/add-record?permissions=read&actor=u-1',
      `POST ${TENANT}/session {"permissions":["read","runs"],"actor":"c-1","expires_in":600}`,
      `DELETE ${TENANT}/sessions?actor=u-1`,
    ]);
  });
});
