import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { bearer } from '../service/harness.ts';
import { lastRequest, sendRaw } from './raw-socket.ts';
import { MINUTE, type PluginNames, VICTIM, pathOf, startWithPlugins } from './service-plugins.ts';
import { readDraft } from '../../service/src/storage/tables/drafts.ts';

const SOURCE = 'export const run = (input) => input;\n';
const path = pathOf(VICTIM);

/** Each operation that needs a token, on the victim's plugin, and how it is answered with the right one. */
const OPERATIONS: [needs: 'editor' | 'environment', method: 'GET' | 'POST', target: string, body?: string][] =
  [
    ['editor', 'GET', `/api/v1/draft/${path}`],
    ['editor', 'POST', `/api/v1/draft/${path}`, JSON.stringify({ contents: SOURCE, lang: 'javascript' })],
    ['editor', 'POST', `/api/v1/build/javascript/${path}`, SOURCE],
    ['editor', 'POST', `/api/v1/check/javascript/${path}`, SOURCE],
    ['editor', 'POST', `/api/v1/test/${path}`, 'input'],
    ['editor', 'POST', `/api/v1/test/javascript/${path}`, JSON.stringify({ contents: SOURCE, payload: '' })],
    ['editor', 'GET', `/api/v1/progress/${path}`],
    ['editor', 'POST', `/api/v1/draft/${path}/promote`],
    ['environment', 'GET', `/auth/v2/access/${path}`],
    ['environment', 'POST', `/exec/name/${path}`, 'input'],
    ['environment', 'POST', `/exec/${path}/v1.0.0`, 'input'],
  ];

async function start(t: TestContext) {
  const running = await startWithPlugins(t);
  const sendRequest = (index: number, headers: Record<string, string>) => {
    const [, method, target, body = ''] = OPERATIONS[index] ?? [];
    return running.send(method ?? '', target ?? '', { 'content-type': 'application/json', ...headers }, body);
  };
  return { ...running, sendRequest };
}

test('each operation accepts only its own kind of token, for exactly its plugin or environment', async (t) => {
  const { sendRequest, clock, environmentToken, renewEnvironmentToken, editorToken, storage } =
    await start(t);
  const expired = await editorToken(VICTIM);
  const replaced = await environmentToken('com.acme');
  clock.now += 16 * MINUTE;
  const of = (change: Partial<PluginNames>) => editorToken({ ...VICTIM, ...change });
  const right = { environment: await renewEnvironmentToken('com.acme'), editor: await of({}) };

  const others: [name: string, token: string, editor: 401 | 403, environment: 401 | 403][] = [
    ['no token', '', 401, 401],
    ['an unknown editor token', `pe_edit_${'x'.repeat(43)}`, 401, 401],
    ['an unknown environment token', `pe_env_${'x'.repeat(43)}`, 401, 401],
    ['an expired editor token', expired, 401, 401],
    ['a replaced environment token', replaced, 401, 401],
    ['the token of another plugin', await of({ fn: 'add-records' }), 403, 401],
    ['that of one in capitals', await of({ fn: 'Add-Record' }), 403, 401],
    ['that of one whose name goes on', await of({ fn: 'add-record/promote' }), 403, 401],
    ['the token of another namespace', await of({ namespace: 'Default' }), 403, 401],
    ['the token of another tenant', await of({ tenant: 't2' }), 403, 401],
    ['that of a tenant in capitals', await of({ tenant: 'T1' }), 403, 401],
    ['that of a tenant with a space', await of({ tenant: 't1 ' }), 403, 401],
    ['that of a tenant with a line break', await of({ tenant: 't1\n' }), 403, 401],
    ['the token of another environment', await of({ environment: 'com.other' }), 403, 401],
    ['that of an environment in capitals', await of({ environment: 'COM.ACME' }), 403, 401],
    [
      'that of one whose names are moved by a place',
      await of({ environment: 'com', tenant: 'acme' }),
      403,
      401,
    ],
    ['the token of the environment above', await environmentToken('com'), 401, 403],
    ['that of an environment below', await environmentToken('com.acme.t1'), 401, 403],
    ['that of another environment', await environmentToken('com.other'), 401, 403],
    ['that of an environment that ends alike', await environmentToken('xcom.acme'), 401, 403],
  ];
  const before = await readDraft(storage.db, { ...VICTIM, pluginName: VICTIM.fn });
  for (const [index, [needs, method, target]] of OPERATIONS.entries()) {
    for (const [name, token, editor, environment] of others) {
      const { status, headers, body } = await sendRequest(index, token ? bearer(token) : {});
      const expected = needs === 'editor' ? editor : environment;
      assert.equal(status, expected, `${method} ${target} with ${name}: ${body}`);
      assert.equal(headers['www-authenticate'], expected === 401 ? 'Bearer' : undefined);
    }
    const wrongKind = bearer(needs === 'editor' ? right.environment : right.editor);
    assert.equal(
      (await sendRequest(index, wrongKind)).status,
      401,
      `${method} ${target} with the other kind`,
    );
  }
  assert.equal(before, undefined);
  assert.equal(
    await readDraft(storage.db, { ...VICTIM, pluginName: VICTIM.fn }),
    undefined,
    'nothing was saved',
  );

  // In this order, as the last of them need what the first ones made; without them all above would prove nothing.
  for (const index of [1, 2, 0, 3, 4, 5, 6, 7, 8, 9]) {
    const [needs = 'editor', method, target] = OPERATIONS[index] ?? [];
    const { status, body } = await sendRequest(index, bearer(right[needs]));
    assert.equal(status, 200, `${method} ${target}: ${body}`);
  }
});

test('a token is accepted only unchanged, in one header of the form Bearer', async (t) => {
  const { send, editorToken, environmentToken, port } = await startWithPlugins(t);
  const targets = [
    [`/api/v1/progress/${path}`, await editorToken(VICTIM), 'pe_edit_', 'pe_env_'],
    [`/auth/v2/access/${path}`, await environmentToken('com.acme'), 'pe_env_', 'pe_edit_'],
  ] as const;
  for (const [target, token, prefix, otherPrefix] of targets) {
    const secret = token.slice(prefix.length);
    const spellings = [
      token,
      'Bearer',
      'Bearer ',
      `Bearer${token}`,
      `Bearer\t${token}`,
      `Bearer: ${token}`,
      `Bearer "${token}"`,
      `Bearer token=${token}`,
      `Bearer ${token}=`,
      `Bearer ${token},`,
      `Bearer ${token};x`,
      `Bearer ${token} x`,
      `Bearer ${token}\u00a0`,
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer x, Bearer ${token}`,
      `Bearer ${encodeURIComponent(token).replace('_', '%5F')}`,
      `Bearer ${token.toLowerCase()}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token}A`,
      `Bearer ${secret}`,
      `Bearer ${prefix}${prefix}${secret}`,
      `Bearer ${otherPrefix}${secret}`,
      `Bearer ${Buffer.from(token).toString('base64')}`,
      `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
      `Basic ${Buffer.from(`${token}:`).toString('base64')}`,
      `Token ${token}`,
      `Digest ${token}`,
      'Bearer null',
      'Bearer undefined',
      "Bearer ' OR '1'='1",
      'Bearer *',
      'Bearer %',
    ];
    for (const authorization of spellings) {
      const { status, body } = await send('GET', target, { authorization });
      assert.equal(status, 401, `${authorization.replaceAll(token, '…')}: ${body}`);
      assert.ok(!body.includes(secret), 'no answer repeats it');
    }
    for (const [place, headers] of [
      ['', { cookie: `token=${token}; authorization=Bearer ${token}` }],
      ['', { 'proxy-authorization': `Bearer ${token}` }],
      ['', { 'x-authorization': `Bearer ${token}`, 'x-api-key': token, 'x-access-token': token }],
      [`?token=${token}`, {}],
      [`?access_token=${token}&authorization=Bearer%20${token}`, {}],
    ] as const) {
      const { status, body } = await send('GET', target + place, headers);
      assert.equal(status, 401, `${place} ${JSON.stringify(Object.keys(headers))}: ${body}`);
    }
    // A proxy may go by the first of two headers and we by the last, or the other way round.
    const own = `Authorization: Bearer ${token}`;
    for (const lines of [
      [own, 'Authorization: Bearer x'],
      ['Authorization: Bearer x', own],
      [own, own],
      [own, `authorization: Basic ${Buffer.from('a:b').toString('base64')}`],
    ]) {
      const request = [`GET ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...lines];
      assert.deepEqual((await sendRaw(port, lastRequest(request))).statuses, [401]);
    }
    for (const authorization of [`Bearer ${token}`, `bearer  ${token}  `]) {
      assert.equal((await send('GET', target, { authorization })).status, 200);
    }
  }
});
