import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer } from '../service/harness.ts';
import { VICTIM, pathOf, startWithPlugins } from './service-plugins.ts';

/** Names that a reader, or a careless comparison, takes for the first one beside them. */
const LOOK_ALIKES = [
  [
    'caf\u00e9',
    'cafe\u0301',
    'CAF\u00c9',
    'cafe',
    '\uff43\uff41\uff46\u00e9',
    '\u0441\u0430f\u00e9',
    'caf\u00e9 ',
    ' caf\u00e9',
    'caf\u00e9\u00a0',
    'caf\u00e9\u200b',
    'ca\u00adf\u00e9',
    '\ufeffcaf\u00e9',
    'caf\u00e9\t',
    'caf\u00e9\n',
    'caf%C3%A9',
    'caf%25C3%25A9',
    'caf\u00c3\u00a9',
    'caf\ufffd',
    'caf+\u00e9',
    'caf\u00e9/',
    'caf\u00e9\\',
    'caf\u00e9;',
    'caf\u00e9?',
    'caf\u00e9#',
  ],
  ['\ufb01', 'fi'],
  ['stra\u00dfe', 'strasse'],
  ['\u0131d', 'id'],
] as const;

for (const place of ['tenant', 'namespace', 'fn'] as const) {
  test(`names that look alike are different plugins, each with drafts and tokens of its own: ${place}`, async (t) => {
    const { send, editorToken, save } = await startWithPlugins(t);
    const make = async (name: string) => {
      const path = pathOf({ ...VICTIM, [place]: name });
      const token = await editorToken({ ...VICTIM, [place]: name });
      const contents = `// ${escape(name)}`;
      assert.equal((await save(path, token, contents)).status, 200, contents);
      return { path, token, contents };
    };
    const read = (path: string, token: string) => send('GET', `/api/v1/draft/${path}`, bearer(token));
    for (const names of LOOK_ALIKES) {
      const first = await make(names[0]);
      for (const name of names.slice(1)) {
        const other = await make(name);
        // In both directions, because a comparison may change only one of its two sides.
        for (const [one, another] of [
          [first, other],
          [other, first],
        ] as const) {
          const { status, body } = await read(one.path, one.token);
          assert.deepEqual(
            [status, (JSON.parse(body) as { contents: string }).contents],
            [200, one.contents],
          );
          const refused = await read(another.path, one.token);
          assert.equal(refused.status, 403, `${one.contents} reads ${another.contents}`);
        }
      }
    }
  });
}

/** Spellings of `add-record` in a path, and what one with the token for it gets: the plugin, another's, or no plugin. */
const SPELLINGS: [spelling: string, status: number][] = [
  ['add-record', 200],
  ['%61dd-record', 200],
  ['%61%64%64%2d%72%65%63%6F%72%64', 200],
  ['add-record?', 200],
  ['add-record?/../x', 200],
  ['%2561dd-record', 403],
  ['%252e%252e%252fadd-record', 403],
  ['add-record%2520', 403],
  ['add-record%20', 403],
  ['+add-record', 403],
  ['add-record%00', 400],
  ['%00add-record', 400],
  ['add-record%0a', 403],
  ['add-record%0d%0ax-injected:%20yes', 403],
  ['Add-Record', 403],
  ['add-record;', 403],
  ['add-record;jsessionid=1', 403],
  ['add-record%3fx', 403],
  ['add-record%23x', 403],
  ['add-record%2f', 403],
  ['%2fadd-record', 403],
  ['x%2f..%2fadd-record', 403],
  ['..%2fdefault%2fadd-record', 403],
  ['..%5cadd-record', 403],
  ['%2e%2e%2fadd-record', 403],
  ['add-record.', 403],
  ['add-record.json', 403],
  ['%EF%BD%81dd-record', 403],
  ['%D0%B0dd-record', 403],
  ['add%E2%80%91record', 403],
  ['add-record%CC%81', 403],
  ['add-record%E2%80%8B', 403],
  ['%EF%BB%BFadd-record', 403],
  ['add-record%F3%A0%81%A1', 403],
  ['add-record/', 400],
  ['/add-record', 400],
  ['./add-record', 400],
  ['%2e/add-record', 400],
  ['x/../add-record', 400],
  ['x/%2e%2E/add-record', 400],
  ['add-record/.', 400],
  ['add-record/..', 400],
  ['add-record%', 400],
  ['add-record%2', 400],
  ['add-record%zz', 400],
  ['%u0061dd-record', 400],
  ['%c1%a1dd-record', 400],
  ['%e0%81%a1dd-record', 400],
  ['%f0%80%81%a1dd-record', 400],
  ['add-record%ff', 400],
  ['add-record%ed%a0%80', 400],
  ['add-record%ed%a0%bd%ed%b8%80', 400],
  ['add-record%f4%90%80%80', 400],
  ['\\add-record', 400],
  ['x\\..\\add-record', 400],
  ['add-record/x', 404],
];

test('a path is decoded once or refused, so that no spelling reaches a plugin with the token of another', async (t) => {
  const { send, editorToken, save } = await startWithPlugins(t);
  const secret = '// what the victim wrote';
  const token = await editorToken(VICTIM);
  const attacker = await editorToken({ ...VICTIM, tenant: 't2' });
  assert.equal((await save(pathOf(VICTIM), token, secret)).status, 200);
  for (const [spelling, expected] of SPELLINGS) {
    const target = `/api/v1/draft/com.acme.t1/default/${spelling}`;
    const own = await send('GET', target, bearer(token));
    assert.equal(own.status, expected, `${target}: ${own.body}`);
    assert.equal(own.body.includes(secret), expected === 200, target);
    assert.equal(own.headers['x-injected'], undefined);
    const other = await send('GET', target, bearer(attacker));
    assert.equal(other.status, expected === 200 ? 403 : expected, `${target}: ${other.body}`);
    assert.ok(!other.body.includes(secret), target);
  }
});

/** Identifiers without an environment or a tenant. */
const INCOMPLETE: ReadonlySet<string> = new Set(['com.acme.', '.t1', 't1']);

test('an identifier is split at its last period, whatever looks like one elsewhere', async (t) => {
  const { send, editorToken, environmentToken, save } = await startWithPlugins(t);
  const token = await editorToken(VICTIM);
  assert.equal((await save(pathOf(VICTIM), token, '// theirs')).status, 200);
  const environment = await environmentToken('com.acme');
  for (const [identifier, expected] of [
    ['com.acme.t1', 200],
    ['com.acme%2Et1', 200],
    ['com%2eacme%2et1', 200],
    ['com.acme.T1', 403],
    ['COM.acme.t1', 403],
    ['com.acme.t1%00', 400],
    ['com.acme%00.t1', 400],
    ['com.acme..t1', 403],
    ['com..acme.t1', 403],
    ['.com.acme.t1', 403],
    ['com.acme.x.t1', 403],
    ['com.acme%252Et1', 403],
    ['com.acme%E3%80%82t1', 403],
    ['com.acme%EF%BC%8Et1', 403],
    ['com.acme%EF%BD%A1t1', 403],
    ['com%E2%80%A4acme.t1', 403],
    ['com.acme.t1%2F', 403],
    ['com.acme.t1%2F..', 400],
    ['com.acme.t1.', 400],
    ['com.acme.', 400],
    ['.t1', 400],
    ['t1', 400],
    ['com%E3%80%82acme', 400],
  ] as const) {
    const read = await send('GET', `/api/v1/draft/${identifier}/default/add-record`, bearer(token));
    assert.equal(read.status, expected, `${identifier}: ${read.body}`);
    // With the environment's token one may ask for any of its tenants, and for no name of another environment.
    const issued = await send('GET', `/auth/v2/access/${identifier}/default/add-record`, bearer(environment));
    assert.ok([200, 400, 403].includes(issued.status), identifier);
    if (INCOMPLETE.has(identifier)) {
      assert.equal(issued.status, 400, `${identifier}: ${issued.body}`);
      assert.equal((JSON.parse(issued.body) as { error: { code: string } }).error.code, 'invalid-path');
    }
    if (issued.status !== 200 || expected === 200) continue;
    const issuedToken = (JSON.parse(issued.body) as { token: string }).token;
    const theirs = await send('GET', `/api/v1/draft/${pathOf(VICTIM)}`, bearer(issuedToken));
    assert.equal(theirs.status, 403, `a token for ${identifier} opens the plugin of t1`);
  }
});
