import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { format } from 'node:util';
import { BuilderClient, SchemaError, parseEditorUrl } from '../../src/client.ts';
import { parseEditorMessage } from '../../src/core/parse-editor-message.ts';
import { parseFeatures } from '../../src/element/features-store.ts';
import { parseEditorToken } from '../../src/core/token.ts';
import { shareVendor } from './shared-demo.ts';
import { setUpVendor, targetOf } from './vendor-setup.ts';
import { LINES, SQL, TRAVERSALS, polluting } from '../threats/attacks.ts';

type Vendor = Awaited<ReturnType<typeof setUpVendor>>;

const signedInAt = async (vendor: Vendor) => ({ ...vendor, cookie: await vendor.signIn('ada') });

const shared = await shareVendor();

const post = ({ sendRequest, cookie }: Vendor & { cookie: string }, path: string, body: unknown) =>
  sendRequest(path, { method: 'POST', body, cookie });

test('no invalid segment of a path, and no name of another, gets a token or a run', async () => {
  const vendor = await signedInAt(shared);
  const good = targetOf('customer-7');
  for (const attack of [...TRAVERSALS.map(decodeLeniently), ...SQL, ...LINES]) {
    const idents = [
      attack,
      `com.example.${attack}`,
      `${attack}.customer-7`,
      `com.example.customer-8/../${attack}`,
    ];
    for (const ident of idents) {
      const { status } = await post(vendor, '/plugins/editor-token', { ...good, ident });
      assert.ok([400, 403].includes(status), `${ident} is answered ${status}`);
      for (const [path, body] of [
        ['/plugins', { ident, name: 'x' }],
        ['/plugins/runs', { ident, name: 'x', input: '' }],
      ] as const)
        assert.equal((await post(vendor, path, body)).status, 403, `${path}: ${ident}`);
      const query = new URLSearchParams({ ident, name: 'x' });
      const read = await vendor.sendRequest(`/plugins?${query}`, { cookie: vendor.cookie });
      assert.equal(read.status, 403, `reading ${ident}`);
    }
    assert.equal((await post(vendor, '/plugins', { ident: good.ident, name: attack })).status, 400, attack);
    assert.equal((await post(vendor, '/session', { user: attack })).status, 400, attack);
    for (const field of ['fn', 'namespace'] as const) {
      const response = await post(vendor, '/plugins/editor-token', { ...good, [field]: attack });
      // U+0000 is refused by the plugin service alone: a path could hold it.
      const expected = attack.includes('\0') ? [502] : [200, 400];
      assert.ok(expected.includes(response.status), `${field} ${attack} is answered ${response.status}`);
      // A name that a path can hold is that of a plugin; its token opens no other.
      if (response.status === 200)
        await assertOpensNothingElse(vendor, ((await response.json()) as { token: string }).token);
    }
  }
});

async function assertOpensNothingElse({ servicePort }: Vendor, token: string): Promise<void> {
  const response = await fetch(
    `http://127.0.0.1:${servicePort}/api/v1/draft/com.example.customer-7/default/add-record`,
    { headers: { authorization: `Bearer ${token}` } },
  );
  assert.equal(response.status, 403);
}

function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

test("JSON that aims at every object's prototype changes none at the vendor’s back end", async () => {
  const vendor = await signedInAt(shared);
  const bodies: [path: string, fields: object][] = [
    ['/session', { user: 'ada' }],
    ['/plugins', { ident: 'com.example.customer-7', name: 'polluted-1' }],
    ['/plugins/runs', { ident: 'com.example.customer-7', name: 'add-record', input: '' }],
    ['/plugins/editor-token', targetOf('customer-7')],
  ];
  for (const [path, fields] of bodies) {
    for (const text of polluting(fields)) {
      const { status } = await post(vendor, path, text);
      assert.ok(status < 500, text);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    }
    const inherited = await post(vendor, path, `{"__proto__":${JSON.stringify(fields)}}`);
    assert.equal(inherited.status, 400, `${path} takes what is inherited`);
  }
});

test('values read from JSON take nothing from a prototype in that JSON', async () => {
  const json = (text: string) => JSON.parse(text) as unknown;
  assert.throws(() => parseEditorToken(json('{"__proto__":{"token":"a"}}'), ''), SchemaError);
  assert.throws(() => parseFeatures(json('{"__proto__":{"features":[],"languages":[]}}'), ''), SchemaError);
  const message = '{"channel":"plugin-editor","version":1,"__proto__":{"type":"hello"}}';
  assert.equal(parseEditorMessage(json(message), 's', []), undefined);
  for (const type of ['__proto__', 'constructor', 'toString'])
    assert.equal(
      parseEditorMessage({ channel: 'plugin-editor', version: 1, type, session: 's' }, 's', []),
      undefined,
    );
  const fields = { contents: 'x', lang: 'javascript' };
  for (const text of polluting(fields)) {
    const client = new BuilderClient({
      baseUrl: 'http://localhost',
      token: 't',
      retry: 0,
      fetch: async () => new Response(text),
    });
    const target = { environment: 'com.acme', userID: 't1', pluginName: 'x' };
    const read = await client.getDraft(target).catch((error: Error) => error.name);
    if (typeof read !== 'string') {
      assert.equal((read as { polluted?: unknown }).polluted, undefined);
      assert.equal(read.contents, 'x');
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  }
  const address = 'http://localhost/?__proto__=a&constructor=b&builder=http://b&ident=a.b&fn=toString';
  assert.equal(parseEditorUrl(address).fn, 'toString');
});

test('a name or an input forges no line of the vendor’s log', async (t) => {
  const printed = mock.method(console, 'error', () => undefined);
  t.after(() => printed.mock.restore());
  const started = await setUpVendor();
  t.after(() => started.close());
  const vendor = await signedInAt(started);
  // A service that is gone is what the back end has to say something about.
  await vendor.closeService();
  const { ident } = targetOf('customer-7');
  const bodies = LINES.flatMap((line): [path: string, body: object][] => [
    ['/plugins/runs', { ident, name: line, input: line }],
    ['/plugins/editor-token', { ident, namespace: line, fn: line }],
  ]);
  const responses = bodies.map(([path, body]) => post(vendor, path, body));
  for (const { status } of await Promise.all(responses)) assert.equal(status, 502);
  const calls = printed.mock.calls.map(({ arguments: parameters }) => parameters as unknown[]);
  assert.equal(calls.length, LINES.length * 2);
  for (const parameters of calls) {
    // An error's stack has lines of its own; what came from outside stands in its first, and in the words before it.
    const [text = ''] = format(
      ...parameters.map((word) => (word instanceof Error ? word.message : word)),
    ).split(/^ {4}at /m);
    // eslint-disable-next-line no-control-regex -- these are what must not be there
    assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  }
});
