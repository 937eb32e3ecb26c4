import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provisionEnvironmentToken } from '../../../../service/src/accounts/environment-token.ts';
import { operations } from '../../../../service/src/http/app.ts';
import { scopes } from '../../../../service/src/plugins/permissions.ts';
import type { Scope } from '../../../../service/src/plugins/permissions.ts';
import { startVendor } from './vendor.ts';
import type { Vendor } from './vendor.ts';

const path = '/api/v1/environment/com.acme/tokens';

type Created = { id: string; token: string };
interface Listed {
  tokens: { id: string; holder: string; scopes: Scope[]; endsAt?: string }[];
}

/** By the scope, which operations need it. */
const operationsOf: Readonly<Record<string, RegExp>> = {
  run: /^run(?:Plugin|Version)$/,
  access: /^create(?:Session|EditorToken)$/,
  read: /^(?:list|get)(?!Template|NamedTemplate|Session)/,
  'manage and read': /^replayRuns$/,
  manage:
    /^(?:set|put|delete(?!Token)|update|rotate|resend)|^(?:create(?:Tenant|Webhook)|end(?:Sessions|Rollout))$/,
  any: /^(?:createToken|deleteToken|getSession|endSession|getTemplate|getNamedTemplate)$/,
};

test('each operation needs the scope that its name tells', () => {
  for (const { id, scope } of operations) {
    if (scope === undefined) continue;
    const needed = typeof scope === 'string' ? scope : scope.join(' and ');
    const fitting = Object.keys(operationsOf).filter((name) => operationsOf[name]?.test(id));
    assert.deepEqual(fitting, [needed], id);
  }
});

const make = async ({ send, okay }: Vendor, ...wanted: Scope[]) =>
  okay<Created>(send('POST', path, { holder: wanted.join('+'), scopes: wanted }), 201);

test('each operation takes environment tokens with its scopes alone', async (t) => {
  const vendor = await startVendor(t);
  const tokens = new Map<Scope, string>();
  for (const scope of scopes) tokens.set(scope, (await make(vendor, scope)).token);
  const scoped = operations.filter(({ scope }) => scope !== undefined && scope !== 'any');
  assert.ok(scoped.length > 25);
  for (const { id, method, path: pattern, scope } of scoped) {
    const to = pattern.replaceAll(/:(\w+)/g, (_, name: string) => parameters[name] ?? 'none');
    for (const [given, token] of tokens) {
      const { status, code } = await vendor
        .send(method, to, undefined, token)
        .then(async (response) => ({ status: response.status, code: await codeOf(response) }));
      const isRefused = status === 403 && code === 'not-permitted';
      const fits =
        [scope].flat().every((one) => one === given) || (scope === 'access' && given === 'access-deploy');
      assert.equal(isRefused, !fits, `${id} with ${given}: ${status} ${code}`);
    }
  }
});

test('a template holds what the namespace says of its plugins for tokens that may read it alone', async (t) => {
  const vendor = await startVendor(t);
  const samples = [{ name: 'a sample', input: 1 }];
  await vendor.okay(
    vendor.send('PUT', '/api/v1/environment/com.acme/namespaces/prices', { input: true, samples }),
    201,
  );
  const readable: Scope[] = [];
  for (const scope of scopes) {
    const { token } = await make(vendor, scope);
    const response = await vendor.send(
      'GET',
      '/api/v2/template/javascript/p?namespace=prices',
      undefined,
      token,
    );
    assert.equal(response.status, 200);
    if ((await response.text()).includes('a sample')) readable.push(scope);
  }
  assert.deepEqual(readable, ['read']);
});

/** A tenant that is not there, so that nothing is changed. */
const parameters: Readonly<Record<string, string>> = {
  ident: 'com.acme.nobody',
  identifier: 'com.acme.nobody',
  environment: 'com.acme',
  version: 'v1.0.0',
  scope: '@none',
  libraryVersion: '1.0.0',
  uuid: '019a0b2c-4d5e-7f60-8123-456789abcdef',
};

async function codeOf(response: Response): Promise<string | undefined> {
  const body = await response.text();
  try {
    return (JSON.parse(body) as { error?: { code: string } }).error?.code;
  } catch {
    return undefined;
  }
}

test('editor tokens get what the scopes allow, and no more when more is asked for', async (t) => {
  const vendor = await startVendor(t);
  const { send, okay, refusal } = vendor;
  const session = '/api/v1/tenant/com.acme.t1/session';
  const access = '/auth/v2/access/com.acme.t1/default/x';
  const cases: [Scope[], string[], string[]][] = [
    [['access'], ['read', 'write'], ['deploy', 'runs']],
    [['access-deploy'], ['read', 'write', 'deploy'], ['runs']],
    [['access', 'read'], ['read', 'write'], ['deploy']],
    [['access-deploy', 'read'], ['read', 'write', 'deploy'], []],
  ];
  for (const [given, usual, refused] of cases) {
    const { token } = await make(vendor, ...given);
    const made = await okay<{ permissions: string[] }>(send('POST', session, {}, token), 201);
    assert.deepEqual(made.permissions, usual);
    const got = await okay<{ permissions: string[] }>(send('GET', access, undefined, token));
    assert.deepEqual(got.permissions, usual);
    for (const permission of refused) {
      const asked = { permissions: ['read', permission] };
      assert.equal(await refusal(send('POST', session, asked, token)), '403 not-permitted');
      const query = `?permissions=read,${permission}`;
      assert.equal(await refusal(send('GET', access + query, undefined, token)), '403 not-permitted');
    }
    if (!refused.includes('runs')) {
      const asked = { permissions: ['runs'] };
      const runs = await okay<{ permissions: string[] }>(send('POST', session, asked, token), 201);
      assert.deepEqual(runs.permissions, ['read', 'runs']);
    }
  }
});

test('a token makes and ends those alone that have no more scopes than it has', async (t) => {
  const vendor = await startVendor(t);
  const { send, okay, refusal } = vendor;
  const both = await make(vendor, 'run', 'access-deploy');
  const run = await make(vendor, 'run');
  const read = await make(vendor, 'read');
  const by = both.token;
  for (const wanted of [['read'], ['run', 'manage'], ['run', 'access', 'read']])
    assert.equal(await refusal(send('POST', path, { scopes: wanted }, by)), '403 not-permitted');
  for (const wanted of [[], ['all'], ['run', 'run', 'run', 'run', 'run', 'run'], 'run', null])
    assert.equal(await refusal(send('POST', path, { scopes: wanted }, by)), '422 invalid-body');
  const narrow = await okay<Created>(send('POST', path, { holder: 'n', scopes: ['access'] }, by), 201);
  const same = await okay<Created>(send('POST', path, { holder: 's' }, by), 201);
  const { tokens } = await okay<Listed>(send('GET', path));
  const scopesOf = (id: string) => tokens.find((one) => one.id === id)?.scopes;
  assert.deepEqual(scopesOf(narrow.id), ['access']);
  assert.deepEqual(scopesOf(same.id), ['run', 'access-deploy']);
  const shown = await okay<{ scopes: Scope[]; permissions: string[] }>(
    send('GET', '/api/v1/session', undefined, run.token),
  );
  assert.deepEqual([shown.scopes, shown.permissions], [['run'], []]);
  assert.equal(await refusal(send('DELETE', `${path}/${read.id}`, undefined, by)), '403 not-permitted');
  await okay(send('DELETE', `${path}/${run.id}`, undefined, by), 204);
  await okay(send('DELETE', `${path}/${narrow.id}`, undefined, narrow.token), 204);
  assert.equal(await refusal(send('GET', '/api/v1/session', undefined, narrow.token)), '401 token-invalid');
});

test('a new token ends those of its holder with the same scopes alone', async (t) => {
  const { send, okay, storage, clock, environmentToken } = await startVendor(t);
  const ask = (wanted: Scope[]) =>
    okay<Created>(send('POST', path, { holder: 'h', scopes: wanted, overlap: 0 }), 201);
  const [run, access] = [await ask(['run']), await ask(['access', 'read'])];
  const again = await ask(['read', 'access', 'read']);
  const isGood = async (token: string) =>
    (await send('GET', '/api/v1/session', undefined, token)).status === 200;
  assert.deepEqual(
    [await isGood(run.token), await isGood(access.token), await isGood(again.token)],
    [true, false, true],
  );
  const options = { scopes: ['run'] as const, holder: 'h' };
  const byCommand = await provisionEnvironmentToken(storage, 'com.acme', clock.now, options);
  assert.deepEqual([await isGood(run.token), await isGood(byCommand)], [false, true]);
  assert.ok(await isGood(environmentToken));
});
