import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, draftPath, errorOf, source, startService } from '../harness.ts';

const json = async (response: Response) => {
  assert.equal(response.status, 200);
  return (await response.json()) as unknown;
};

const recordOf = (bytes: number) => {
  const empty = JSON.stringify({ ...source, contents: '' }).length;
  return { ...source, contents: 'x'.repeat(bytes - empty) };
};

const tagOf = (response: Response) => {
  assert.equal(response.status, 200);
  return response.headers.get('etag') ?? '';
};

test('the features list the languages that work, and name no feature that does not', async (t) => {
  const { fetch } = await startService(t);
  const { features, languages } = (await json(await fetch('/api/v1/features'))) as {
    features: string[];
    languages: { identifier: string }[];
  };
  assert.deepEqual(features, ['stream_builds', 'testing']);
  // Others may have been added, by a file of their own each.
  assert.deepEqual(
    languages.filter(({ identifier }) =>
      ['assemblyscript', 'javascript', 'python', 'typescript'].includes(identifier),
    ),
    [
      { identifier: 'assemblyscript', pretty: 'AssemblyScript', short: 'as' },
      { identifier: 'javascript', pretty: 'JavaScript', short: 'js' },
      { identifier: 'python', pretty: 'Python', short: 'py' },
      { identifier: 'typescript', pretty: 'TypeScript', short: 'ts' },
    ],
  );
});

test('both template routes use the name and the namespace; the first has default values for them', async (t) => {
  const { fetch } = await startService(t);
  for (const lang of ['assemblyscript', 'javascript', 'python', 'typescript']) {
    const record = async (path: string) =>
      (await json(await fetch(path))) as { lang: string; contents: string; tests: object[] };
    const first = await record(`/api/v1/template/${lang}`);
    const second = await record(`/api/v2/template/${lang}/add-record?namespace=billing`);
    const plain = await record(`/api/v2/template/${lang}/add-record`);
    for (const one of [first, second, plain]) {
      assert.deepEqual([one.lang, one.tests.length], [lang, 2]);
      for (const each of one.tests)
        assert.deepEqual(Object.keys(each).toSorted(), ['description', 'name', 'payload']);
    }
    assert.match(second.contents, /"add-record"[^]*"billing"/);
    assert.match(plain.contents, /"add-record"[^]*"default"/);
    assert.match(first.contents, /"my-plugin"[^]*"default"/);
  }
});

test('a template for an unknown language is answered with 404 and the known languages', async (t) => {
  const { fetch } = await startService(t);
  for (const path of ['/api/v1/template/cobol', '/api/v2/template/constructor/x']) {
    const error = await errorOf(await fetch(path));
    assert.deepEqual([error.status, error.code], [404, 'unknown-language']);
    assert.match(error.message, /javascript, python, typescript/);
  }
});

test('a draft is 404 until it is saved, and is then returned as it was saved', async (t) => {
  const { fetch, editorToken, save } = await startService(t);
  const token = await editorToken();
  const read = () => fetch(draftPath, { headers: bearer(token) });
  const missing = await errorOf(await read());
  assert.deepEqual([missing.status, missing.code], [404, 'draft-not-found']);
  const records = [
    source,
    { ...source, tests: [] },
    { ...source, tests: [{ name: 'a', description: 'b', payload: 'c' }, { payload: 'only' }, {}] },
    { ...source, tests: [{ name: 'x', expected: { kept: true } }] },
    { contents: '', lang: 'typescript' },
    { ...source, unknown: 'kept' },
    {
      contents: 'NUL \0, half a pair \ud83d, a pair 😀, CRLF \r\n, LS \u2028, BOM \ufeff',
      lang: 'javascript',
    },
  ];
  for (const record of records) {
    assert.deepEqual(await json(await save(token, record)), record);
    assert.deepEqual(await json(await read()), record);
  }
});

test('an invalid record is refused with its field and what would be right, and changes nothing', async (t) => {
  const { fetch, editorToken, save } = await startService(t);
  const token = await editorToken();
  await save(token);
  const cases: [record: unknown, message: RegExp][] = [
    [[], /the record: .*expected object/],
    [null, /the record: .*expected object/],
    [{ lang: 'javascript' }, /contents: .*expected string/],
    [{ contents: 5, lang: 'javascript' }, /contents: .*expected string, received number/],
    [{ contents: '' }, /lang: .*expected string/],
    [{ ...source, tests: {} }, /tests: .*expected array/],
    [{ ...source, tests: [{}, { payload: 1 }] }, /tests\[1\]\.payload: .*expected string/],
    [{ contents: '', lang: 'cobol' }, /lang: must be one of assemblyscript, javascript, python, typescript/],
    [{ contents: '', lang: '__proto__' }, /lang: must be one of/],
  ];
  for (const [record, message] of cases) {
    const error = await errorOf(await save(token, record));
    assert.equal(error.status, 422);
    assert.match(error.message, message);
  }
  assert.deepEqual(await json(await fetch(draftPath, { headers: bearer(token) })), source);
});

test('a body that is not JSON is answered with 415 for its type, and with 400 for malformed or empty text', async (t) => {
  const { fetch, editorToken } = await startService(t);
  const post = (type: string, body: BodyInit, token: string) =>
    fetch(draftPath, { method: 'POST', headers: { ...bearer(token), 'content-type': type }, body });
  const token = await editorToken();
  const text = JSON.stringify(source);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']) {
    assert.deepEqual((await errorOf(await post(type, text, token))).status, 415, type);
    assert.deepEqual((await errorOf(await post(type, '', token))).code, 'invalid-json', type);
  }
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.acme+json']) {
    assert.equal((await post(type, text, token)).status, 200, type);
  }
  for (const body of ['', '{', '{"contents":"secret-text', new Uint8Array([0x22, 0xff, 0x22])]) {
    const error = await errorOf(await post('application/json', body, token));
    assert.equal(error.status, 400);
    assert.doesNotMatch(error.message, /secret-text/);
  }
});

test('a body may have 1 MiB, and is answered with 413 above that', async (t) => {
  const { editorToken, save } = await startService(t);
  const token = await editorToken();
  assert.equal((await save(token, recordOf(1024 * 1024))).status, 200);
  assert.equal((await errorOf(await save(token, recordOf(1024 * 1024 + 1)))).status, 413);
});

test('each save makes a new entity tag, which guards the next save', async (t) => {
  const { fetch, editorToken, save } = await startService(t);
  const token = await editorToken();
  // The response to whoever lost has the tag to compare with.
  const refused = async (headers: Record<string, string>, current: string | null) => {
    const response = await save(token, { ...source, contents: 'lost' }, headers);
    assert.equal(response.headers.get('etag'), current);
    const error = await errorOf(response);
    assert.deepEqual([error.status, error.code], [412, 'precondition-failed']);
  };
  await refused({ 'if-match': '*' }, null);
  const first = tagOf(await save(token, source, { 'if-none-match': '*' }));
  await refused({ 'if-none-match': '*' }, first);
  const second = tagOf(await save(token, source, { 'if-match': `"other", ${first}` }));
  assert.notEqual(second, first);
  await refused({ 'if-match': first }, second);
  await refused({ 'if-match': `W/${second}` }, second);
  const third = tagOf(await save(token, source, { 'if-match': '*' }));
  const plain = tagOf(await save(token));
  assert.equal(new Set([first, second, third, plain]).size, 4);

  const read = await fetch(draftPath, { headers: bearer(token) });
  assert.deepEqual([tagOf(read), await read.json()], [plain, source]);
  const again = await fetch(draftPath, { headers: { ...bearer(token), 'if-none-match': plain } });
  assert.deepEqual([again.status, await again.text(), again.headers.get('etag')], [304, '', plain]);
});

test('a fault of the service is 500 without detail, and the default log names its request and holds no token', async (t) => {
  const lines: string[] = [];
  t.mock.method(console, 'error', (...parts: unknown[]) => void lines.push(parts.map(String).join(' ')));
  // Without the harness's own listener.
  const { fetch, editorToken, storage } = await startService(t, { onError: undefined as never });
  const token = await editorToken();
  await storage.close();
  const error = await errorOf(await fetch(`${draftPath}?token=${token}`, { headers: bearer(token) }));
  assert.deepEqual([error.status, error.code], [500, 'internal']);
  assert.doesNotMatch(error.message, /database|sqlite/i);
  assert.equal(lines.length, 1);
  assert.match(lines.join(), /GET \/api\/v1\/draft\//);
  assert.ok(!lines.join().includes(token));
});
