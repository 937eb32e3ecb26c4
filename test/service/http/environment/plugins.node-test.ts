import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, errorOf } from '../../harness.ts';
import { startAuthor } from './deployed-plugin.ts';
import type { Deployed, PluginDetails } from './deployed-plugin.ts';
import { startVendor } from './vendor.ts';

const savedAt = '2026-01-01T00:00:00.000Z';

test("a plugin's details show its draft, its build, its live version, and who made them", async (t) => {
  const { send, okay, refusal, plugin, build, deploy } = await startAuthor(t);
  assert.equal(await refusal(send('GET', plugin())), '404 plugin-not-found');
  await build('export const run = (');
  const fresh = await okay<PluginDetails>(send('GET', plugin()));
  const { draft, ...rest } = fresh;
  assert.match(draft?.revision ?? '', /^"1-[\w-]+"$/);
  assert.deepEqual([draft?.savedAt, draft?.actor], [savedAt, 'ada']);
  assert.deepEqual(rest, {
    ident: 'com.acme.t1',
    namespace: 'default',
    name: 'add-record',
    lang: 'javascript',
    built: false,
    live: null,
    latest: null,
    pinned: null,
    versions: 0,
    outdated: false,
  });
  await deploy('a');
  await deploy('b');
  const { built, live, latest, pinned, versions } = await okay<PluginDetails>(send('GET', plugin()));
  assert.deepEqual([built, live, latest, pinned, versions], [true, 'v1.0.1', 'v1.0.1', null, 2]);
});

test('the version that was made live runs, despite later deployments, until the newest is made live again', async (t) => {
  const { send, okay, refusal, plugin, deploy, run, token } = await startAuthor(t);
  const live = `${plugin()}/live`;
  assert.equal(await refusal(send('PUT', live, { version: null })), '404 plugin-not-found');
  assert.equal(await refusal(send('PUT', live, { version: 'v1.0.0' })), '404 plugin-not-found');
  await deploy('a');
  await deploy('b');
  assert.equal(await run(), 'b');
  const pinned = await okay<PluginDetails>(send('PUT', live, { version: 'v1.0.0' }, token));
  assert.deepEqual(
    [pinned.live, pinned.latest, pinned.pinned],
    ['v1.0.0', 'v1.0.1', { version: 'v1.0.0', at: savedAt, actor: 'ada' }],
  );
  assert.equal(await run(), 'a');
  assert.deepEqual(await deploy('c'), { version: 'v1.0.2', live: 'v1.0.0' });
  assert.equal(await run(), 'a');
  for (const version of ['v1.0.3', 'v2.0.0', 'newest', '']) {
    assert.equal(await refusal(send('PUT', live, { version })), '404 version-not-found', version);
  }
  for (const version of ['v1.0.0\0', '\ud800']) {
    assert.equal(await refusal(send('PUT', live, { version })), '400 invalid-text');
  }
  for (const body of [{}, { version: 1 }, [], 'v1.0.0']) {
    assert.equal(await refusal(send('PUT', live, body)), '422 invalid-body', JSON.stringify(body));
  }
  assert.equal(await run(), 'a');
  assert.equal((await okay<PluginDetails>(send('PUT', live, { version: null }))).live, 'v1.0.2');
  assert.equal(await run(), 'c');
  // The vendor's own token stands for nobody.
  const byVendor = await okay<PluginDetails>(send('PUT', live, { version: 'v1.0.1' }));
  assert.deepEqual(byVendor.pinned, { version: 'v1.0.1', at: savedAt });
});

test('a version that another node made live runs on this one within a second', async (t) => {
  const vendor = await startAuthor(t);
  const { send, okay, plugin, deploy, run, storage } = vendor;
  const other = await vendor.startNode();
  await deploy('a');
  await deploy('b');
  assert.equal(await run(), 'b');
  await okay(other.send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  await storage.readChanges();
  assert.equal(await run(), 'a');
  await okay(other.send('DELETE', plugin()), 204);
  await storage.readChanges();
  assert.equal(await run(), '404 version-not-found');
  assert.equal((await send('GET', plugin())).status, 404);
});

test('versions are listed newest first, with who deployed each and why', async (t) => {
  const { send, okay, refusal, plugin, deploy } = await startAuthor(t);
  const path = `${plugin()}/versions`;
  assert.equal(await refusal(send('GET', path)), '404 plugin-not-found');
  await deploy('a', 'The first.');
  await deploy('b');
  await deploy('c', 'Äther – 漢字');
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.1' }));
  type List = { versions: Record<string, unknown>[]; next?: string };
  const first = await okay<List>(send('GET', `${path}?limit=2`));
  assert.deepEqual(
    first.versions.map(({ version, message, live, actor, deployedAt, lang }) => [
      version,
      message,
      live,
      actor,
      deployedAt,
      lang,
    ]),
    [
      ['v1.0.2', 'Äther – 漢字', false, 'ada', savedAt, 'javascript'],
      ['v1.0.1', undefined, true, 'ada', savedAt, 'javascript'],
    ],
  );
  // One more comes meanwhile, and the rest is what it was.
  await deploy('d');
  const rest = await okay<List>(send('GET', `${path}?limit=2&after=${first.next}`));
  assert.deepEqual(
    rest.versions.map(({ version }) => version),
    ['v1.0.0'],
  );
  assert.equal(rest.next, undefined);

  const one = await okay<Record<string, unknown>>(send('GET', `${path}/v1.0.0`));
  assert.match(String(one['digest']), /^[\da-f]{64}$/);
  assert.deepEqual(one, { ...rest.versions[0], contents: 'export const run = () => "a";', tests: [] });
  assert.equal(await refusal(send('GET', `${path}/v1.0.9`)), '404 version-not-found');
  assert.equal(await refusal(send('GET', `${path}/v1.0.09`)), '404 version-not-found');
  assert.equal(await refusal(send('GET', `${path}/newest`)), '400 invalid-path');
  const none = plugin('none');
  assert.equal(await refusal(send('GET', `${none}/versions/v1.0.0`)), '404 plugin-not-found');
});

test('a deployment accepts a message, or the empty form of clients of version 0.5, and honours If-Match', async (t) => {
  const { build, promote, okay, refusal, send, plugin } = await startAuthor(t);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  await build('export const run = () => "a";');
  const { draft } = await okay<PluginDetails>(send('GET', plugin()));
  const etag = draft?.revision ?? '';
  assert.equal(await refusal(promote({}, undefined, { 'if-match': '"0-x"' })), '412 precondition-failed');
  const deployed = await okay<Deployed>(promote({ message: 'x' }, undefined, { 'if-match': etag }));
  assert.deepEqual(deployed, { version: 'v1.0.0', live: 'v1.0.0' });
  const again = await okay<Deployed>(promote(undefined, undefined, { ...form, 'if-match': etag }));
  assert.deepEqual(again, { version: 'v1.0.0', unchanged: true, live: 'v1.0.0' });
  assert.equal(await refusal(promote('a=b', undefined, form)), '415 unsupported-media-type');
  assert.equal(await refusal(promote({ message: 'x'.repeat(501) })), '422 invalid-body');
  for (const message of ['a\0b', 'a\ud800b']) {
    assert.equal(await refusal(promote({ message })), '400 invalid-text');
  }
});

test('a deleted plugin loses its versions and its own tokens; its name continues from its last version', async (t) => {
  const { send, okay, refusal, plugin, deploy, run, startSession, token, fetch } = await startAuthor(t);
  assert.equal(await refusal(send('DELETE', plugin())), '404 plugin-not-found');
  await deploy('a');
  await deploy('other', undefined, 'other');
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  assert.equal(await run(undefined, 'v1.0.0'), 'a');
  const { token: own } = await startSession('com.acme.t1', { fn: 'add-record' });
  await okay(send('DELETE', plugin()), 204);
  assert.equal(await refusal(send('DELETE', plugin())), '404 plugin-not-found');
  assert.equal(await refusal(send('GET', plugin(), undefined, own)), '401 token-invalid');
  assert.equal(await refusal(send('GET', plugin(), undefined, token)), '404 plugin-not-found');
  for (const version of [undefined, 'v1.0.0']) {
    assert.equal(await run(undefined, version), '404 version-not-found');
  }
  const messageOf = async (path: string) => (await errorOf(await send('POST', `/exec/${path}`))).message;
  const missing = 'of the plugin "add-record" is deployed.';
  assert.equal(await messageOf('name/com.acme.t1/default/add-record'), `No version ${missing}`);
  assert.equal(await messageOf('com.acme.t1/default/add-record/v1.0.0'), `No version v1.0.0 ${missing}`);
  assert.equal(await run('other'), 'other');
  // Whoever had it loaded saves what they loaded, and no other one.
  const save = await fetch('/api/v1/draft/com.acme.t1/default/add-record', {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json', 'if-match': '"1-x"' },
    body: JSON.stringify({ lang: 'javascript', contents: '' }),
  });
  assert.equal(save.status, 412);
  assert.deepEqual(await deploy('b'), { version: 'v1.0.1', live: 'v1.0.1' });
  const { versions, latest, pinned } = await okay<PluginDetails>(send('GET', plugin()));
  assert.deepEqual([versions, latest, pinned], [1, 'v1.0.1', null]);
});

for (const path of ['draft', 'build/javascript'])
  test(`a ${path} that arrives while its plugin is deleted does not create it anew with a token for it alone`, async (t) => {
    const { send, okay, refusal, plugin, build, startSession, fetch } = await startAuthor(t);
    const tenant = '/api/v1/tenant/com.acme.t1';
    const deletePlugin = () => okay(send('DELETE', plugin()), 204);
    const replaceTenant = async () => {
      await okay(send('DELETE', tenant), 204);
      await okay(send('POST', tenant, {}), 201);
    };
    for (const [grant, change, expected] of [
      [{ fn: 'add-record' }, deletePlugin, '401 token-invalid'],
      [{}, deletePlugin, undefined],
      [{}, replaceTenant, '401 token-invalid'],
    ] as const) {
      await build('a');
      const { token } = await startSession('com.acme.t1', grant);
      const body = new ReadableStream<Uint8Array>(
        {
          // The body is read once the token was found to be good.
          async pull(controller) {
            await change();
            controller.enqueue(new TextEncoder().encode('{ "lang": "javascript", "contents": "" }'));
            controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const saved = fetch(`/api/v1/${path}/com.acme.t1/default/add-record`, {
        method: 'POST',
        headers: {
          ...bearer(token),
          'content-type': path === 'draft' ? 'application/json' : 'text/plain',
        },
        body,
        duplex: 'half',
      } as RequestInit);
      if (expected) assert.equal(await refusal(saved), expected);
      else await okay(saved);
      assert.equal((await send('GET', plugin())).status, expected ? 404 : 200);
    }
  });

test('plugins are listed by namespace and name, within the scope of the token', async (t) => {
  const { send, okay, refusal, build, startSession } = await startAuthor(t);
  const all = [
    ['a', 'z'],
    ['default', 'A'],
    ['default', 'b'],
    ['default', 'é'],
  ] as const;
  for (const [namespace, name] of all.toReversed()) await build('', encodeURIComponent(name), namespace);
  const path = '/api/v1/tenant/com.acme.t1/plugins';
  type List = { plugins: PluginDetails[]; next?: string };
  const names = ({ plugins }: List) => plugins.map(({ namespace, name }) => `${namespace} ${name}`);
  const list = async (query = '', by?: string) =>
    names(await okay<List>(send('GET', path + query, undefined, by)));
  const everything = all.map((pair) => pair.join(' '));
  assert.deepEqual(await list(), everything);
  assert.deepEqual(await list('?namespace=a'), ['a z']);
  assert.deepEqual(await list('?namespace=none'), []);
  assert.equal(await refusal(send('GET', `${path}?namespace=a%00`)), '400 invalid-text');
  assert.equal(await refusal(send('GET', `${path}?namespace=`)), '400 invalid-query');
  assert.deepEqual(await okay(send('GET', '/api/v1/tenant/com.acme.nobody/plugins')), { plugins: [] });

  const paged: string[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const page: List = await okay<List>(send('GET', `${path}?limit=1${next && `&after=${next}`}`));
    paged.push(...names(page));
    next = page.next;
  }
  assert.deepEqual(paged, everything);
  const { next } = await okay<List>(send('GET', `${path}?limit=1`));
  for (const other of ['?namespace=a&', '?']) {
    const response = send('GET', `${path}${other}after=${other === '?' ? 'x' : next}`);
    assert.equal(await refusal(response), '400 invalid-cursor');
  }

  const { token: forOne } = await startSession('com.acme.t1', { fn: 'b' });
  assert.deepEqual(await list('', forOne), ['default b']);
  assert.deepEqual(await list('?namespace=a', forOne), []);
  const { token: forNamespace } = await startSession('com.acme.t1', { namespace: 'a' });
  assert.deepEqual(await list('', forNamespace), ['a z']);
  const { token: forTenant } = await startSession('com.acme.t1');
  assert.deepEqual(await list('', forTenant), everything);
  const elsewhere = '/api/v1/tenant/com.acme.t2/plugins';
  assert.equal(await refusal(send('GET', elsewhere, undefined, forTenant)), '403 forbidden');
});

test('a read-only token cannot deploy, make live or delete', async (t) => {
  const { send, okay, refusal, plugin, deploy, startSession, fetch } = await startAuthor(t);
  await deploy('a');
  const { token } = await startSession('com.acme.t1', { permissions: ['read'] });
  for (const path of ['', '/versions', '/versions/v1.0.0']) {
    await okay(send('GET', plugin() + path, undefined, token));
  }
  const live = send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }, token);
  assert.equal(await refusal(live), '403 not-permitted');
  const promote = fetch('/api/v1/draft/com.acme.t1/default/add-record/promote', {
    method: 'POST',
    headers: bearer(token),
  });
  assert.equal(await refusal(promote), '403 not-permitted');
  assert.equal(await refusal(send('DELETE', plugin(), undefined, token)), '401 token-invalid');
});

test('clients of version 0.5 list the plugins of a namespace with the field names that they know', async (t) => {
  const { send, okay, build, deploy, refusal, token } = await startAuthor(t);
  await deploy('a');
  await deploy('b');
  await build('', 'new');
  await build('', 'elsewhere', 'other');
  const path = '/api/v2/functions/com.acme.t1/default';
  const common = { namespace: 'default', lang: 'javascript', apiVersion: '1.0.0' };
  const add = {
    ...common,
    name: 'add-record',
    version: 'v1.0.1',
    draftVersion: 'v1.0.2',
    fqmn: 'fqmn://com.acme.t1/default/add-record@v1.0.1',
    uri: '/name/com.acme.t1/default/add-record',
  };
  const fresh = {
    ...common,
    name: 'new',
    version: '',
    draftVersion: 'v1.0.0',
    fqmn: 'fqmn://com.acme.t1/default/new@',
    uri: '/name/com.acme.t1/default/new',
  };
  assert.deepEqual(await okay(send('GET', path)), { plugins: [add, fresh] });
  const { next, ...first } = await okay<{ next: string }>(send('GET', `${path}?limit=1`));
  assert.deepEqual(first, { plugins: [add] });
  assert.deepEqual(await okay(send('GET', `${path}?limit=1&after=${next}`)), { plugins: [fresh] });
  assert.equal(await refusal(send('GET', path, undefined, token)), '401 token-invalid');
});

test('plugins of another environment cannot be reached', async (t) => {
  const { refusal, send } = await startVendor(t);
  const plugin = '/api/v1/plugin/com.other.t1/default/add-record';
  for (const [method, path, body] of [
    ['GET', plugin],
    ['DELETE', plugin],
    ['PUT', `${plugin}/live`, { version: null }],
    ['GET', `${plugin}/versions`],
    ['GET', `${plugin}/versions/v1.0.0`],
    ['GET', '/api/v1/tenant/com.other.t1/plugins'],
    ['GET', '/api/v2/functions/com.other.t1/default'],
  ] as const) {
    assert.equal(await refusal(send(method, path, body)), '403 forbidden', `${method} ${path}`);
  }
});
