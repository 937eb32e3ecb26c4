import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { unattendedStamp, writeAudit } from '../../../../service/src/audit/entries.ts';
import { listAudit } from '../../../../service/src/audit/list-entries.ts';
import { AuditRetention } from '../../../../service/src/audit/retention.ts';
import { operations } from '../../../../service/src/http/app.ts';
import { uuidToBytes } from '../../../../service/src/storage/tables/uuids.ts';
import { until } from '../../../support/until.ts';
import { bearer } from '../../harness.ts';
import { startAuthor } from './deployed-plugin.ts';
import { startVendor } from './vendor.ts';

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly by: Readonly<Record<string, string>>;
  readonly ident?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly version?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}

interface Page {
  readonly entries: Entry[];
  readonly next?: string;
}

const path = '/api/v1/environment/com.acme/audit';
const tenantPath = '/api/v1/tenant/com.acme.t1';
const tokensPath = '/api/v1/environment/com.acme/tokens';

type Author = Awaited<ReturnType<typeof startAuthor>>;

/** An author, and how to send with an actor, and to read the entries that a step adds, the oldest first. */
async function startAudited(t: TestContext) {
  const secrets = { keys: [Buffer.alloc(32, 7)] };
  const author = await startAuthor(t, { actor: 'ada' }, { secrets, recording: { level: 'payloads' } });
  const { fetch, environmentToken, okay, send } = author;
  const sendAs = (actor: string, method: string, to: string, body?: unknown, token = environmentToken) =>
    fetch(to, {
      method,
      headers: {
        ...bearer(token),
        'x-actor': encodeURIComponent(actor),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const list = (query = '') => okay<Page>(send('GET', `${path}${query}`));
  let seen = new Set<string>();
  const added = async () => {
    const { entries } = await list('?limit=200');
    const fresh = entries.filter(({ id }) => !seen.has(id)).toReversed();
    seen = new Set(entries.map(({ id }) => id));
    return fresh;
  };
  await added();
  return { ...author, sendAs, list, added };
}

type Audited = Awaited<ReturnType<typeof startAudited>>;

/** What an operation does in the audit log: the call, and its entries without `id`, `at` and `requestId`. */
interface Row {
  readonly call: (author: Audited) => Promise<Response>;
  readonly entries: readonly Partial<Entry>[];
}

const plugin = { ident: 'com.acme.t1', namespace: 'default', name: 'add-record' };
const backEnd = { kind: 'environment-token', holder: 'demo', actor: 'grace' };
const ada = { kind: 'editor-token', actor: 'ada' };
const text = { 'content-type': 'text/plain' };
const editorPost =
  (to: string, body = '', headers: object = text) =>
  ({ fetch, token }: Author) =>
    fetch(to, { method: 'POST', headers: { ...bearer(token), ...headers }, body });
const as =
  (method: string, to: string, body?: unknown) =>
  ({ sendAs }: Audited) =>
    sendAs('grace', method, to, body);
const none: Row['entries'] = [];
const source = JSON.stringify({ contents: 'export const run = () => "3";', lang: 'javascript' });
const record = { 'content-type': 'application/json' };
const linked = {
  connections: [
    { name: 'rates', origin: 'https://api.example.com', credential: { type: 'header', header: 'x-key' } },
  ],
};
const ofEnvironment = '/api/v1/environment/com.acme/connections/linked/rates';
const ofTenant = `${tenantPath}/connections/linked/rates`;
const credential = { value: 'never in an entry' };
const connection = { namespace: 'linked', details: { connection: 'rates' } };
const librariesPath = '/api/v1/environment/com.acme/libraries';
const library = { contents: 'export const vat = 0.2;' };
const hooksPath = '/api/v1/environment/com.acme/webhooks';
const hook = { url: 'https://app.acme.com/hooks', events: ['plugin.live'] };
/** Sends to the only webhook, or to something of it. */
const toHook =
  (method: string, what = '', body?: unknown) =>
  async ({ okay, send, sendAs }: Audited) => {
    const { webhooks } = await okay<{ webhooks: { id: string }[] }>(send('GET', hooksPath));
    return sendAs('grace', method, `${hooksPath}/${webhooks[0]?.id}${what}`, body);
  };

/**
 * Every operation that is no GET, and the reads that leave an entry, in an order in which each can be done. A new operation needs a
 * row here: an empty one where it changes nothing but drafts.
 */
const rows: Readonly<Record<string, Row>> = {
  createTenant: {
    call: as('POST', '/api/v1/tenant/com.acme.t2', { description: 'Two' }),
    entries: [
      { action: 'tenant.created', by: backEnd, ident: 'com.acme.t2', details: { description: 'Two' } },
    ],
  },
  updateTenant: {
    call: as('PATCH', '/api/v1/tenant/com.acme.t2', { suspended: true, limits: { plugins: 3 } }),
    entries: [
      { action: 'tenant.changed', by: backEnd, ident: 'com.acme.t2', details: { limits: { plugins: 3 } } },
      { action: 'tenant.suspended', by: backEnd, ident: 'com.acme.t2' },
    ],
  },
  deleteTenant: {
    call: as('DELETE', '/api/v1/tenant/com.acme.t2'),
    entries: [{ action: 'tenant.deleted', by: backEnd, ident: 'com.acme.t2' }],
  },
  createSession: {
    call: as('POST', `${tenantPath}/session`, { fn: 'x', actor: 'eve', permissions: ['read'] }),
    entries: [
      {
        action: 'session.created',
        by: backEnd,
        ident: 'com.acme.t1',
        namespace: 'default',
        name: 'x',
        details: { permissions: ['read'], expires_in: 900, actor: 'eve' },
      },
    ],
  },
  createEditorToken: {
    call: as('GET', '/auth/v2/access/com.acme.t1/default/add-record?actor=eve'),
    entries: [
      {
        action: 'access.given',
        by: backEnd,
        ...plugin,
        details: { permissions: ['read', 'write', 'deploy'], actor: 'eve' },
      },
    ],
  },
  endSessions: {
    call: as('DELETE', `${tenantPath}/sessions?actor=eve`),
    entries: [{ action: 'sessions.ended', by: backEnd, ident: 'com.acme.t1', details: { actor: 'eve' } }],
  },
  endSession: {
    async call({ startSession, added, fetch }) {
      const { token } = await startSession('com.acme.t1', { actor: 'eve' });
      await added();
      return fetch('/api/v1/session', { method: 'DELETE', headers: bearer(token) });
    },
    entries: [
      {
        action: 'sessions.ended',
        by: { kind: 'editor-token', actor: 'eve' },
        ident: 'com.acme.t1',
        details: { actor: 'eve', own: true },
      },
    ],
  },
  setNamespace: {
    call: as('PUT', '/api/v1/environment/com.acme/namespaces/typed', { description: 'Types' }),
    entries: [{ action: 'namespace.set', by: backEnd, namespace: 'typed', details: { new: true } }],
  },
  deleteNamespace: {
    call: as('DELETE', '/api/v1/environment/com.acme/namespaces/typed'),
    entries: [{ action: 'namespace.deleted', by: backEnd, namespace: 'typed' }],
  },
  putLibrary: {
    call: as('PUT', `${librariesPath}/money/1.0.0`, library),
    entries: [
      { action: 'library.published', by: backEnd, details: { library: 'money', libraryVersion: '1.0.0' } },
    ],
  },
  deleteLibrary: {
    call: as('DELETE', `${librariesPath}/money/1.0.0`),
    entries: [
      { action: 'library.deleted', by: backEnd, details: { library: 'money', libraryVersion: '1.0.0' } },
    ],
  },
  putScopedLibrary: {
    call: as('PUT', `${librariesPath}/@acme/money/1.0.0`, library),
    entries: [
      {
        action: 'library.published',
        by: backEnd,
        details: { library: '@acme/money', libraryVersion: '1.0.0' },
      },
    ],
  },
  deleteScopedLibrary: {
    call: as('DELETE', `${librariesPath}/@acme/money/1.0.0`),
    entries: [
      {
        action: 'library.deleted',
        by: backEnd,
        details: { library: '@acme/money', libraryVersion: '1.0.0' },
      },
    ],
  },
  setEnvironmentConnectionValue: {
    async call({ okay, send, added, sendAs }) {
      await okay(send('PUT', '/api/v1/environment/com.acme/namespaces/linked', linked), 201);
      await added();
      return sendAs('grace', 'PUT', ofEnvironment, credential);
    },
    entries: [{ action: 'connection-value.set', by: backEnd, ...connection }],
  },
  deleteEnvironmentConnectionValue: {
    call: as('DELETE', ofEnvironment),
    entries: [{ action: 'connection-value.deleted', by: backEnd, ...connection }],
  },
  setTenantConnectionValue: {
    call: as('PUT', ofTenant, credential),
    entries: [{ action: 'connection-value.set', by: backEnd, ident: 'com.acme.t1', ...connection }],
  },
  deleteTenantConnectionValue: {
    call: as('DELETE', ofTenant),
    entries: [{ action: 'connection-value.deleted', by: backEnd, ident: 'com.acme.t1', ...connection }],
  },
  setRollout: {
    call: ({ plugin: at, sendAs }) =>
      sendAs('grace', 'PUT', `${at()}/rollout`, { version: 'v1.0.0', percent: 5 }),
    entries: [
      { action: 'rollout.started', by: backEnd, ...plugin, version: 'v1.0.0', details: { percent: 5 } },
    ],
  },
  endRollout: {
    call: ({ plugin: at, sendAs }) => sendAs('grace', 'DELETE', `${at()}/rollout`),
    entries: [
      { action: 'rollout.stopped', by: backEnd, ...plugin, version: 'v1.0.0', details: { reason: 'ended' } },
    ],
  },
  createWebhook: {
    call: as('POST', hooksPath, hook),
    entries: [{ action: 'webhook.created', by: backEnd, details: { host: 'app.acme.com' } }],
  },
  updateWebhook: {
    call: toHook('PATCH', '', { description: 'Chat', url: 'https://chat.acme.com/hooks' }),
    entries: [
      {
        action: 'webhook.changed',
        by: backEnd,
        details: { changed: ['url', 'description'], host: 'chat.acme.com' },
      },
    ],
  },
  rotateWebhookSecret: {
    call: toHook('POST', '/secret'),
    entries: [{ action: 'webhook.changed', by: backEnd, details: { changed: ['secret'] } }],
  },
  resendDelivery: {
    async call({ okay, send, added, plugin: at, ...author }) {
      await okay(send('PUT', `${at()}/live`, { version: null }));
      await added();
      const { webhooks } = await okay<{ webhooks: { id: string }[] }>(send('GET', hooksPath));
      const list = `${hooksPath}/${webhooks[0]?.id}/deliveries`;
      const { deliveries } = await okay<{ deliveries: { id: string }[] }>(send('GET', list));
      return author.sendAs('grace', 'POST', `${list}/${deliveries[0]?.id}/resend`);
    },
    entries: none,
  },
  deleteWebhook: {
    call: toHook('DELETE'),
    entries: [{ action: 'webhook.deleted', by: backEnd }],
  },
  saveDraft: {
    call: editorPost('/api/v1/draft/com.acme.t1/default/add-record', source, record),
    entries: none,
  },
  checkSource: {
    call: editorPost('/api/v1/check/javascript/com.acme.t1/default/add-record', 'const a = 1;'),
    entries: none,
  },
  helpWithSource: {
    call: editorPost(
      '/api/v1/language-help/javascript/com.acme.t1/default/add-record',
      JSON.stringify({
        contents: 'const a = 1;',
        request: { method: 'textDocument/hover', params: { position: { line: 0, character: 6 } } },
      }),
      record,
    ),
    entries: none,
  },
  buildDraft: {
    call: editorPost(
      '/api/v1/build/javascript/com.acme.t1/default/add-record',
      'export const run = () => "3";',
    ),
    entries: none,
  },
  replayRuns: {
    call: ({ plugin: at, sendAs }) => sendAs('grace', 'POST', `${at()}/replay`, { limit: 1 }),
    entries: [{ action: 'runs.replayed', by: backEnd, ...plugin }],
  },
  testSource: {
    call: editorPost(
      '/api/v1/test/javascript/com.acme.t1/default/add-record',
      JSON.stringify({ contents: 'export const run = String;', payload: 'x' }),
      record,
    ),
    entries: none,
  },
  testDraft: { call: editorPost('/api/v1/test/com.acme.t1/default/add-record', 'x'), entries: none },
  // What its tools do is noted by the operations that they call.
  callMcp: {
    call: editorPost('/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), {
      ...record,
      accept: 'application/json, text/event-stream',
    }),
    entries: none,
  },
  deployDraft: {
    call: editorPost(
      '/api/v1/draft/com.acme.t1/default/add-record/promote',
      JSON.stringify({ message: 'Three' }),
      record,
    ),
    entries: [
      {
        action: 'plugin.deployed',
        by: ada,
        ...plugin,
        version: 'v1.0.2',
        details: { live: 'v1.0.2', message: 'Three' },
      },
    ],
  },
  runPlugin: { call: as('POST', '/exec/name/com.acme.t1/default/add-record'), entries: none },
  runVersion: { call: as('POST', '/exec/com.acme.t1/default/add-record/v1.0.0'), entries: none },
  setLive: {
    call: ({ plugin: at, sendAs }) => sendAs('grace', 'PUT', `${at()}/live`, { version: 'v1.0.0' }),
    entries: [
      { action: 'plugin.live', by: backEnd, ...plugin, version: 'v1.0.0', details: { pinned: true } },
    ],
  },
  deleteVersion: {
    call: ({ plugin: at, sendAs }) => sendAs('grace', 'DELETE', `${at()}/versions/v1.0.1`),
    entries: [{ action: 'version.deleted', by: backEnd, ...plugin, version: 'v1.0.1' }],
  },
  listRuns: {
    async call({ plugin: at, sendAs, okay }) {
      let response: Response | undefined;
      await until('the runs are recorded', async () => {
        response = await sendAs('grace', 'GET', `${at()}/runs`);
        return (await okay<{ runs: unknown[] }>(response.clone())).runs.length > 0;
      });
      return response ?? assert.fail();
    },
    entries: [{ action: 'runs.read', by: backEnd, ...plugin }],
  },
  getRun: {
    async call({ plugin: at, okay, send, sendAs, added }) {
      const { runs } = await okay<{ runs: { uuid: string }[] }>(send('GET', `${at()}/runs`));
      await added();
      return sendAs('heidi', 'GET', `/api/v1/run/${runs[0]?.uuid}`);
    },
    entries: [{ action: 'runs.read', by: { ...backEnd, actor: 'heidi' }, ...plugin }],
  },
  createToken: {
    call: as('POST', tokensPath, { holder: 'billing', scopes: ['run'] }),
    entries: [{ action: 'token.created', by: backEnd, details: { holder: 'billing', scopes: ['run'] } }],
  },
  deleteToken: {
    async call({ okay, send, sendAs }) {
      const { tokens } = await okay<{ tokens: { id: string; holder: string }[] }>(send('GET', tokensPath));
      const { id } = tokens.find(({ holder }) => holder === 'billing') ?? assert.fail();
      return sendAs('grace', 'DELETE', `${tokensPath}/${id}`);
    },
    entries: [{ action: 'token.ended', by: backEnd, details: { holder: 'billing' } }],
  },
  deletePlugin: {
    call: ({ plugin: at, sendAs }) => sendAs('grace', 'DELETE', at()),
    entries: [{ action: 'plugin.deleted', by: backEnd, ...plugin }],
  },
};

/** An entry without what differs each time. */
function comparable({ details, ...entry }: Entry) {
  const { id: _, at: _at, requestId: _request, ...named } = entry;
  const { id: _id, ...others } = details ?? {};
  return { ...named, ...(Object.keys(others).length && { details: others }) };
}

describe('the audit log', () => {
  test('has a row in the table of this test for every operation that changes something', () => {
    const changing = operations.filter(({ method }) => method !== 'GET').map(({ id }) => id);
    const reads = ['createEditorToken', 'listRuns', 'getRun'];
    assert.deepEqual(Object.keys(rows).toSorted(), [...changing, ...reads].toSorted());
  });

  test('has the entry of each operation, with who did it, to what, and by which request', async (t) => {
    const author = await startAudited(t);
    await author.deploy('1');
    await author.deploy('2');
    await author.added();
    for (const [id, { call, entries }] of Object.entries(rows)) {
      const response = await call(author);
      assert.ok(response.status < 300, `${id}: ${response.status} ${await response.clone().text()}`);
      const found = await author.added();
      assert.deepEqual(found.map(comparable), entries, id);
      for (const { at, requestId } of found) {
        assert.equal(at, '2026-01-01T00:00:00.000Z', id);
        assert.equal(requestId, response.headers.get('x-request-id'), id);
      }
    }
    assert.deepEqual(author.errors, []);
  });

  test('is written with the change or not at all', async (t) => {
    const author = await startAudited(t);
    await author.deploy('1');
    await author.deploy('2');
    await author.okay(author.send('POST', hooksPath, hook), 201);
    const { query } = author.storage.db;
    // Nor is an event without its change.
    await sql`alter table webhook_deliveries rename to gone`.execute(query);
    const live = author.send('PUT', `${author.plugin()}/live`, { version: 'v1.0.0' });
    assert.equal((await live).status, 500);
    await sql`alter table gone rename to webhook_deliveries`.execute(query);
    await sql`alter table audit_entries rename to gone`.execute(query);
    const changes: [string, string, unknown?][] = [
      ['PUT', `${author.plugin()}/live`, { version: 'v1.0.0' }],
      ['DELETE', `${author.plugin()}/versions/v1.0.0`],
      ['POST', '/api/v1/tenant/com.acme.t9', {}],
      ['DELETE', tenantPath],
      ['POST', `${tenantPath}/session`, {}],
      ['POST', tokensPath, { overlap: 0 }],
    ];
    for (const [method, to, body] of changes)
      assert.equal((await author.send(method, to, body)).status, 500, to);
    await sql`alter table gone rename to audit_entries`.execute(query);
    const details = await author.okay<{ live: string; versions: number }>(
      author.send('GET', author.plugin()),
    );
    assert.deepEqual([details.live, details.versions], ['v1.0.1', 2]);
    assert.equal((await author.send('GET', '/api/v1/tenant/com.acme.t9')).status, 404);
    assert.equal((await author.list('?action=plugin.live')).entries.length, 0);
  });

  test('notes refused changes, and those that change nothing, not at all', async (t) => {
    const { send, okay, added, promote, deploy } = await startAudited(t);
    await deploy('1');
    await added();
    await okay(promote());
    await okay(send('PATCH', tenantPath, { suspended: false }));
    const { id } = await okay<{ id: string }>(send('POST', hooksPath, hook), 201);
    await added();
    await okay(send('PATCH', `${hooksPath}/${id}`, {}));
    for (const [method, to] of [
      ['DELETE', '/api/v1/tenant/com.acme.nobody'],
      ['DELETE', '/api/v1/plugin/com.acme.t1/default/other'],
      ['POST', tenantPath],
      ['DELETE', `${tokensPath}/x`],
    ] as const)
      assert.ok((await send(method, to)).status >= 400, to);
    assert.deepEqual(await added(), []);
  });

  test('has one entry for each actor, plugin and hour of what is given or read, over all nodes', async (t) => {
    const { startNode, send, sendAs, okay, added, clock } = await startAudited(t);
    const nodes = [{ send }, await startNode()];
    const access = (actor: string, name = 'add-record') =>
      `/auth/v2/access/com.acme.t1/default/${name}?actor=${actor}`;
    const giveAll = async () => {
      for (const node of nodes)
        for (const to of [access('ada'), access('bob'), access('ada', 'other')])
          await okay(node.send('GET', to));
      return (await added()).map(({ action, by, name }) => `${action} ${by['actor']} ${name}`);
    };
    const once = ['access.given ada add-record', 'access.given bob add-record', 'access.given ada other'];
    assert.deepEqual(await giveAll(), once);
    clock.now += 59 * 60_000;
    assert.deepEqual(await giveAll(), []);
    clock.now += 60_000;
    assert.deepEqual(await giveAll(), once);
    // It says who got it, too, where that is another one than the one who asked for it.
    for (const actor of ['ada', 'bob', 'ada']) await okay(sendAs('grace', 'GET', access(actor)));
    assert.deepEqual(
      (await added()).map(({ by, details }) => [by['actor'], details?.['actor']]),
      [
        ['grace', 'ada'],
        ['grace', 'bob'],
      ],
    );
  });

  test('says what a new token ends, and who makes one by command', async (t) => {
    const { send, okay } = await startVendor(t);
    const { token } = await okay<{ token: string }>(send('POST', tokensPath, { overlap: 60 }), 201);
    const { entries } = await okay<Page>(send('GET', path));
    assert.deepEqual(
      entries.map(({ action, by, details }) => [action, by, details?.['holder'], details?.['endsAt']]),
      [
        ['token.created', { kind: 'environment-token', holder: 'demo' }, 'demo', undefined],
        ['token.ended', { kind: 'environment-token', holder: 'demo' }, 'demo', '2026-01-01T00:01:00.000Z'],
        ['token.created', { kind: 'operator' }, 'demo', undefined],
      ],
    );
    assert.ok(!JSON.stringify(entries).includes(token.slice(8)));
  });

  test('is read by day, tenant, action and actor, in pages and as lines of JSON', async (t) => {
    const { sendAs, okay, list, send, fetch, environmentToken, clock, refusal } = await startAudited(t);
    for (let i = 0; i < 7; i++) {
      await okay(sendAs(i % 2 ? 'grace' : 'héidi', 'POST', `/api/v1/tenant/com.acme.p${i}`), 201);
      clock.now += i === 3 ? 86_400_000 : 1000;
    }
    const idents = ({ entries }: Page) => entries.map(({ ident }) => ident?.slice('com.acme.'.length));
    const created = '?action=tenant.created';
    assert.deepEqual(idents(await list(created)), ['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0', 't1']);
    assert.deepEqual(idents(await list(`${created}&actor=h%C3%A9idi`)), ['p6', 'p4', 'p2', 'p0']);
    assert.deepEqual(idents(await list('?tenant=p2')), ['p2']);
    await okay(sendAs('grace', 'DELETE', '/api/v1/tenant/com.acme.p2'), 204);
    assert.deepEqual(idents(await list('?tenant=p2')), ['p2', 'p2']);
    assert.deepEqual(idents(await list(`${created}&from=2026-01-02`)), ['p6', 'p5', 'p4']);
    assert.deepEqual(idents(await list(`${created}&to=2026-01-01&limit=2`)), ['p3', 'p2']);
    const paged: (string | undefined)[] = [];
    for (let after = ''; ;) {
      const page = await list(`${created}&limit=3${after && `&after=${after}`}`);
      paged.push(...idents(page));
      if (page.next === undefined) break;
      after = page.next;
    }
    assert.deepEqual(paged, ['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0', 't1']);
    const lines = await fetch(`${path}${created}&limit=1`, {
      headers: { ...bearer(environmentToken), accept: 'application/x-ndjson' },
    });
    assert.equal(lines.headers.get('content-type'), 'application/x-ndjson');
    const streamed = (await lines.text()).trimEnd().split('\n');
    const { entries } = await list(created);
    assert.deepEqual(
      streamed.map((line) => JSON.parse(line) as unknown),
      entries,
    );
    const refused = [
      '?action=plugin',
      '?from=2026-02-30',
      '?actor=',
      '?from=2026-01-02&to=2026-01-01',
      // What an entry is about, where the tenant alone is asked for.
      '?tenant=com.acme.t1',
      '?tenant=',
    ];
    for (const query of refused)
      assert.equal(await refusal(send('GET', path + query)), '400 invalid-query', query);
    const cursor = (await list(`${created}&limit=1`)).next ?? '';
    assert.equal(await refusal(send('GET', `${path}?after=${cursor}`)), '400 invalid-cursor');
  });

  test('stops reading when the client of a stream goes', async (t) => {
    const { storage, fetch, environmentToken, clock } = await startAudited(t);
    const long = { text: 'x'.repeat(2000) };
    const target = { environment: 'com.acme' };
    const entries = Array.from({ length: 1500 }, () => {
      const stamp = unattendedStamp('operator', clock.now);
      return { ...stamp, action: 'token.created' as const, target, details: long };
    });
    await storage.transaction((db) => writeAudit(db, ...entries));
    let reads = 0;
    const { db } = storage;
    t.mock.method(db.query, 'selectFrom', (...args: [never]) => {
      reads += 1;
      return Object.getPrototypeOf(db.query).selectFrom.apply(db.query, args) as never;
    });
    const headers = { ...bearer(environmentToken), accept: 'application/x-ndjson' };
    const { body } = await fetch(path, { headers });
    const reader = (body ?? assert.fail()).getReader();
    await reader.read();
    await reader.cancel();
    const atCancel = reads;
    const whole = await (await fetch(path, { headers })).text();
    assert.ok(whole.split('\n').length > 1500);
    // Reading all takes more statements than were made until the client went.
    assert.ok(reads - atCancel > 2 * atCancel, `${atCancel} of ${reads}`);
  });

  test('leaves the event loop to others while it looks at many entries for few', async (t) => {
    const { storage, clock, list } = await startAudited(t);
    const { query } = storage.db;
    const entry = await query.selectFrom('audit_entries').selectAll().executeTakeFirstOrThrow();
    for (let i = 0; i < 6; i++) {
      const copies = Array.from({ length: 2000 }, () => ({
        ...entry,
        hour_key: null,
        id: uuidToBytes(unattendedStamp('operator', clock.now).requestId),
      }));
      await query.insertInto('audit_entries').values(copies).execute();
    }
    let loops = 0;
    let next = setImmediate(function count() {
      loops += 1;
      next = setImmediate(count);
    });
    t.after(() => clearImmediate(next));
    assert.deepEqual((await list('?actor=nobody')).entries, []);
    assert.ok(loops >= 2, `${loops} turns of the event loop`);
  });

  test('is read with each entry once while more are written', async (t) => {
    const { storage, clock } = await startAudited(t);
    const { query } = storage.db;
    const entry = await query.selectFrom('audit_entries').selectAll().executeTakeFirstOrThrow();
    const write = async (count: number, at: number) => {
      const ids = Array.from({ length: count }, () => unattendedStamp('operator', at).requestId);
      const copies = ids.map((id) => ({ ...entry, hour_key: null, id: uuidToBytes(id) }));
      await query.insertInto('audit_entries').values(copies).execute();
      return ids;
    };
    const written: string[] = [];
    // More than one statement looks at.
    for (let i = 0; i < 3; i++) written.push(...(await write(2000, clock.now - 60_000 * (i + 1))));
    const writingAfterReads = query.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        await write(3, clock.now);
        return result;
      },
    });
    const filter = { environment: entry.environment, from: 0, to: clock.now + 1000 };
    const found = await listAudit({ ...storage.db, query: writingAfterReads }, filter, { limit: 50_000 });
    const ids = new Set(found.map(({ id }) => id));
    assert.equal(ids.size, found.length);
    assert.deepEqual(
      written.filter((id) => !ids.has(id)),
      [],
    );
  });

  test('keeps entries for 400 days, and of an environment with too many the newest', async (t) => {
    const { storage, clock, list } = await startAudited(t);
    const { entries: before } = await list();
    const write = (count: number, environment: string, at: number) =>
      storage.transaction(async (db) => {
        for (let i = 0; i < count; i++)
          await writeAudit(db, {
            ...unattendedStamp('operator', at + i),
            action: 'token.created',
            target: { environment },
            details: { i },
          });
      });
    const day = 86_400_000;
    await write(3, 'com.acme', clock.now - 401 * day);
    await write(2, 'com.acme', clock.now - 399 * day);
    await write(30, 'com.acme', clock.now - day);
    await write(5, 'org.other', clock.now - day);
    const sizeOf = async (environment: string) => {
      const sizes = await storage.db.query
        .selectFrom('audit_entries')
        .select('size')
        .where('environment', '=', environment)
        .execute();
      return sizes.reduce((sum, { size }) => sum + size, 0);
    };
    const now = () => clock.now;
    await new AuditRetention({ storage, now }).sweep();
    const range = '?limit=200&from=2020-01-01';
    assert.equal((await list(range)).entries.length, before.length + 32);
    // All of them are old enough to be counted now.
    clock.now += 20 * 60_000;
    const bytes = (await sizeOf('org.other')) + 1000;
    const retention = new AuditRetention({ storage, now, bytes });
    await retention.sweep();
    assert.ok((await sizeOf('com.acme')) <= bytes);
    assert.ok((await sizeOf('com.acme')) > bytes - 500);
    const { entries } = await list(range);
    assert.deepEqual(entries.slice(0, before.length), before);
    assert.equal(entries[before.length]?.details?.['i'], 29);
    const kept = entries.length;
    await retention.sweep();
    assert.equal((await list(range)).entries.length, kept);
    await retention.close();
  });

  test('deletes old entries also where new ones cannot be counted, and reports that', async (t) => {
    const { storage, clock, list } = await startAudited(t);
    const at = clock.now - 401 * 86_400_000;
    const entry = { action: 'token.created', target: { environment: 'com.acme' }, details: {} } as const;
    await storage.transaction((db) => writeAudit(db, { ...unattendedStamp('operator', at), ...entry }));
    await storage.db.query.deleteFrom('audit_progress').execute();
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    await new AuditRetention({ storage, now: () => clock.now, onError }).sweep();
    assert.deepEqual((await list('?from=2020-01-01&to=2025-12-01')).entries, []);
    assert.deepEqual(errors.map(String), ['Error: no result']);
  });
});

test('x-actor is kept by pins and tenants, and refused where it cannot be an actor', async (t) => {
  const { sendAs, fetch, environmentToken, okay, deploy, plugin: at, startSession } = await startAudited(t);
  await deploy('1');
  const pinned = await okay<{ pinned: { actor?: string } }>(
    sendAs('Zoë, 100 %', 'PUT', `${at()}/live`, { version: 'v1.0.0' }),
  );
  assert.equal(pinned.pinned.actor, 'Zoë, 100 %');
  const changed = await okay<{ actor?: string }>(sendAs('Zoë', 'PATCH', tenantPath, { description: 'One' }));
  assert.equal(changed.actor, 'Zoë');
  const session = await okay<{ actor?: string }>(sendAs('Zoë', 'GET', '/api/v1/session'));
  assert.equal(session.actor, 'Zoë');
  const unencoded = Buffer.from('Zoë').toString('latin1');
  for (const value of ['', '%', '%ff', unencoded, 'a%0Ab', 'a'.repeat(201), '%E2%80%AE']) {
    const headers = { ...bearer(environmentToken), 'x-actor': value };
    const refused = await fetch(tenantPath, { headers });
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    assert.deepEqual([refused.status, error.code], [400, 'invalid-header'], value);
    assert.match(error.message, /x-actor/);
  }
  // An editor token has an actor already.
  const { token } = await startSession('com.acme.t1', { actor: 'ada' });
  const own = await okay<{ actor?: string }>(sendAs('mallory', 'GET', '/api/v1/session', undefined, token));
  assert.equal(own.actor, 'ada');
});
