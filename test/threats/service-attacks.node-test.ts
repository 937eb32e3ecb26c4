import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, mock, test } from 'node:test';
import { SmartRouter } from 'hono/router/smart-router';
import { createService } from '../../service/src/http/create-service.ts';
import type { Auth } from '../../service/src/http/auth.ts';
import { health } from '../../service/src/http/health.ts';
import { interfaces } from '../../service/src/http/interfaces.ts';
import { pathParameter } from '../../service/src/http/operations/path-parameters.ts';
import type { PathParameterName } from '../../service/src/http/operations/path-parameters.ts';
import type { Method } from '../../service/src/http/routes.ts';
import { openEngine } from '../../service/src/storage/storage.ts';
import { LINES, SQL, TRAVERSALS, polluting } from './attacks.ts';
import { bearer, listen, temporaryDirectory } from '../service/harness.ts';

type Route = [method: Method, path: string, token?: 'editor' | 'environment'];

/** Every path of the service as it is declared; the names in braces are parameters. */
const ROUTES: readonly Route[] = [
  ...[health, ...interfaces].flatMap(({ operations }) =>
    operations.map(({ method, path, auth }): Route => [
      method,
      path.replaceAll(/:(\w+)/g, (_, name: string) => `{${sampleOf(name as PathParameterName)}}`),
      ...tokenOf(auth),
    ]),
  ),
  ['GET', '/editor'],
  ['GET', '/editor/{index.html}'],
  ['GET', '/editor/assets/{main.js}'],
];

/** What the token is for where the path names a plugin, and otherwise what the document has as an example. */
function sampleOf(name: PathParameterName): string {
  if (name === 'identifier' || name === 'ident') return 'com.acme.t1';
  const { examples = ['x'] } = pathParameter(name).schema.meta() ?? {};
  const [example] = examples as readonly unknown[];
  return String(example);
}

function tokenOf(auth: Auth): ['editor' | 'environment'] | [] {
  if (auth === 'none' || auth === 'monitor' || auth === 'optional') return [];
  return auth === 'run' ? ['environment'] : auth === 'editor-or-environment' ? ['editor'] : [auth];
}

const plain = (path: string) => path.replaceAll(/[{}]/g, '');
/** As the router is told of it. */
const pattern = (path: string) => path.replace(/^\/editor\/.*/, '/editor/*').replaceAll(/\{[^}]+\}/g, ':');
const parameters = (path: string) => path.match(/\{[^}]+\}/g) ?? [];

async function start(t: TestContext) {
  const running = await listen(t);
  const environment = await running.environmentToken();
  const token = async (path: string) => {
    const response = await running.send('GET', `/auth/v2/access/${path}`, bearer(environment));
    return response.status === 200 ? (JSON.parse(response.body) as { token: string }).token : '';
  };
  const own = await token('com.acme.t1/default/add-record');
  const json = { 'content-type': 'application/json' };
  const save = (path: string, by: string, record: unknown) =>
    running.send(
      'POST',
      `/api/v1/draft/${path}`,
      { ...bearer(by), ...json },
      typeof record === 'string' ? record : JSON.stringify(record),
    );
  return { ...running, environment, token, own, save };
}

test('no trick in a path leads to a file, whatever segment it stands in', async (t) => {
  // Where the service's own files lie, if its database is one, and somebody's beside them.
  const { send, own, environment, address } = await start(t);
  const directory = address.engine === 'sqlite' ? dirname(address.file) : temporaryDirectory(t);
  mkdirSync(join(directory, 'outbox'));
  writeFileSync(join(directory, 'outbox', 'mail.eml'), 'Your verification code is');
  const before = readdirSync(directory, { recursive: true });
  // Every trick where files or drafts are read, and elsewhere, as all paths are read alike, one after the other.
  let turn = 0;
  for (const [method, path, needs] of ROUTES) {
    const headers = needs ? bearer(needs === 'editor' ? own : environment) : {};
    const isReading = method === 'GET' && /^\/(?:editor|api\/v1\/draft)\//.test(path);
    for (const parameter of parameters(path)) {
      for (const attack of isReading
        ? TRAVERSALS
        : TRAVERSALS.slice(turn++ % TRAVERSALS.length).slice(0, 1)) {
        const target = plain(path.replace(parameter, attack));
        const { status, body } = await send(method, target, headers, method === 'GET' ? '' : 'x');
        // Without a key for secrets, what would store one says so before it looks for its place.
        const isKept = status === 503 && body.includes('secrets-unavailable');
        assert.ok(status < 500 || isKept, `${method} ${target} is answered ${status}`);
        assert.doesNotMatch(body, /root:x:0|SQLite format|verification code is/, `${method} ${target}`);
        // Resolved, it would be another path, which was not asked for.
        if (/^(?:\.|%2e){1,2}$/i.test(attack)) assert.equal(status, 400, `${method} ${target}`);
      }
    }
  }
  assert.deepEqual(readdirSync(directory, { recursive: true }), before);
});

test('there are no routes but the declared ones and the editor’s page', async (t) => {
  const added = t.mock.method(SmartRouter.prototype, 'add');
  const { send } = await start(t);
  const paths = added.mock.calls.map(({ arguments: [, path] }) => path);
  // What goes before every path, or every path of the builder's, and answers at none.
  const routed = [...new Set(paths)].filter((path) => path !== '/*' && path !== '/api/*');
  const found: string[] = [];
  for (const path of routed) {
    const { status, headers } = await send('OPTIONS', path.replaceAll(/:\w+|\*/g, 'x'));
    assert.equal(status, 204, path);
    const methods = String(headers.allow).split(', ');
    for (const method of methods.filter((name) => name !== 'HEAD' && name !== 'OPTIONS')) {
      found.push(`${method} ${path.replaceAll(/:\w+/g, ':')}`);
    }
  }
  const listed = new Set(ROUTES.map(([method, path]) => `${method} ${pattern(path)}`));
  assert.deepEqual(found.toSorted(), [...listed].toSorted());
});

test('SQL in any name, field or token is text like any other', async (t) => {
  const { send, token, own, environment, save, address, errors } = await start(t);
  const victim = { contents: 'export const run = (input) => input;\n', lang: 'javascript' };
  assert.equal((await save('com.acme.t1/default/add-record', own, victim)).status, 200);
  // A version as well, for a careless query to find.
  const plugin = 'com.acme.t1/default/add-record';
  const built = await send('POST', `/api/v1/build/javascript/${plugin}`, bearer(own), victim.contents);
  assert.equal(built.status, 200, built.body);
  assert.equal((await send('POST', `/api/v1/draft/${plugin}/promote`, bearer(own))).status, 200);
  const schema = async () => {
    const engine = await openEngine(address);
    const tables = await engine.db.introspection.getTables();
    await engine.close();
    return tables;
  };
  const before = await schema();
  assert.ok(before.some(({ name }) => name === 'drafts'));
  for (const attack of SQL) {
    const name = encodeURIComponent(attack);
    const tenant = encodeURIComponent(attack.replaceAll('.', '-'));
    for (const path of [
      `com.acme.${tenant}/default/add-record`,
      `com.acme.t1/${name}/add-record`,
      `com.acme.t1/default/${name}`,
    ]) {
      const issuedToken = await token(path);
      assert.notEqual(issuedToken, '', path);
      const missing = await send('GET', `/api/v1/draft/${path}`, bearer(issuedToken));
      assert.equal(missing.status, 404, `${path} finds what is not its own`);
      const record = {
        contents: attack,
        lang: 'javascript',
        tests: [{ name: attack, description: attack, payload: attack }],
        [attack]: attack,
      };
      assert.equal((await save(path, issuedToken, record)).status, 200, path);
      const read = await send('GET', `/api/v1/draft/${path}`, bearer(issuedToken));
      assert.deepEqual(JSON.parse(read.body), record);
      assert.equal((await send('GET', `/api/v1/progress/${path}`, bearer(issuedToken))).status, 200);
      assert.equal((await send('POST', `/api/v1/draft/${path}/promote`, bearer(issuedToken))).status, 409);
    }
    const elsewhere: [method: string, path: string, status: number][] = [
      ['GET', `/api/v1/template/${name}`, 404],
      ['POST', `/exec/${plugin}/${name}`, 400],
      ['GET', `/auth/v2/access/${name}.t1/default/x`, 403],
      ['GET', `/auth/v2/access/com.acme${name}.t1/default/x`, 403],
    ];
    for (const [path, status] of [
      [`${name}.t1/default/add-record`, 403],
      [`com.acme.${tenant}/default/add-record`, 404],
      [`com.acme.t1/${name}/add-record`, 404],
      [`com.acme.t1/default/${name}`, 404],
    ] as const) {
      elsewhere.push(['POST', `/exec/${path}/v1.0.0`, status], ['POST', `/exec/name/${path}`, status]);
    }
    for (const [method, path, status] of elsewhere) {
      const response = await send(method, path, bearer(environment));
      assert.equal(response.status, status, `${method} ${path}: ${response.body}`);
    }
    const claimed = await send('GET', '/api/v1/draft/com.acme.t1/default/add-record', {
      authorization: `Bearer ${attack.replaceAll(/[^\x20-\x7e]/g, '')}`,
    });
    assert.equal(claimed.status, 401);
  }
  assert.deepEqual(await schema(), before);
  const left = await send('GET', '/api/v1/draft/com.acme.t1/default/add-record', bearer(own));
  assert.deepEqual(JSON.parse(left.body), victim);
  const ran = await send('POST', `/exec/${plugin}/v1.0.0`, bearer(environment), 'x');
  assert.deepEqual([ran.status, ran.body], [200, 'x']);
  assert.deepEqual(errors, []);
});

test("JSON that aims at every object's prototype changes no object", async (t) => {
  const { send, own, save } = await start(t);
  const path = 'com.acme.t1/default/add-record';
  const record = { contents: 'x', lang: 'javascript', tests: [{ name: 'a' }] };
  for (const text of [
    ...polluting(record),
    ...polluting({}),
    '{"tests":[{"__proto__":{"polluted":true}}]}',
  ]) {
    const { status, body } = await save(path, own, text);
    assert.ok(status < 500, text);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    // Nothing is taken from a prototype that the text brought along.
    if (status === 200) assert.match(text, /"contents"/);
    if (status === 200) assert.equal((JSON.parse(body) as { contents: string }).contents, 'x');
    const read = await send('GET', `/api/v1/draft/${path}`, bearer(own));
    assert.ok(read.status === 200 || read.status === 404);
  }
  const inherited = `{"__proto__":${JSON.stringify(record)}}`;
  assert.equal((await save('com.acme.t1/default/add-record', own, inherited)).status, 422);
});

test('a name forges no header, no event and no line of the log', async (t) => {
  const printed = mock.method(console, 'error', () => undefined);
  t.after(() => printed.mock.restore());
  const running = await listen(t);
  const { send, storage, clock } = running;
  // Prints, as the one that the harness makes does not.
  const now = () => clock.now;
  const printing = createService({ storage, editorAssets: new Map(), hosts: ['localhost:8082'], now });
  t.after(() => printing.close());
  const environment = await running.environmentToken();
  // A name that holds U+0000 is refused: see `paths.node-test.ts`.
  const names = LINES.filter((line) => !line.includes('\0'));
  for (const line of names) {
    const path = `com.acme.t1/default/${encodeURIComponent(line)}`;
    const issued = await send('GET', `/auth/v2/access/${path}`, bearer(environment));
    const { token } = JSON.parse(issued.body) as { token: string };
    const built = await send(
      'POST',
      `/api/v1/build/javascript/${path}`,
      { ...bearer(token), accept: 'text/event-stream', 'content-type': 'text/plain' },
      `// ${line}\nexport const run = (input) => input;\n`,
    );
    const template = await send('GET', `/api/v2/template/javascript/${encodeURIComponent(line)}`);
    for (const response of [issued, built, template]) {
      assert.equal(response.status, 200, response.body);
      assert.equal(response.headers['x-injected'], undefined);
    }
    const fields = built.body.split(/\r\n|\r|\n/).filter(Boolean);
    assert.deepEqual(
      fields.filter((field) => !/^(?:event: (?:log|result)|data: )/.test(field)),
      [],
    );
    assert.equal(fields.filter((field) => field === 'event: result').length, 1);
    // A query reaches the address that one is sent on to.
    const sentOn = await send('GET', `/editor?fn=${encodeURIComponent(line)}`);
    assert.equal(sentOn.headers['x-injected'], undefined);

    const executor = storage.db.query.getExecutor();
    const execute = executor.executeQuery.bind(executor);
    const fault = mock.method(executor, 'executeQuery', (...[query]: Parameters<typeof execute>) => {
      if (query.sql.includes('from "drafts"')) throw new Error('a fault');
      return execute(query);
    });
    const address = `http://localhost:8082/api/v1/draft/${path}`;
    const failed = await printing.fetch(new Request(address, { headers: bearer(token) }));
    assert.equal(failed.status, 500);
    fault.mock.restore();
  }
  const lines = printed.mock.calls.map(({ arguments: [text] }) => String(text));
  assert.equal(lines.length, names.length);
  // eslint-disable-next-line no-control-regex -- these are what must not be there
  for (const line of lines) assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
});
