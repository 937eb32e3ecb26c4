import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonDepth, scanJson } from '../../../service/src/http/json-scan.ts';
import { recordLimits } from '../../../service/src/plugins/records.ts';
import { bearer, draftPath, errorOf, source, startService } from '../harness.ts';
import { overwriteDraft } from '../../../service/src/storage/tables/drafts.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const inside = (levels: number, text: string) => '['.repeat(levels) + text + ']'.repeat(levels);

test('the depth of JSON counts arrays and objects, and not brackets within strings', async () => {
  const cases: [text: string, depth: number][] = [
    ['', 0],
    ['5', 0],
    ['"[[[[{{{{"', 0],
    ['"\\"[[["', 0],
    ['"\\\\"', 0],
    ['["\\\\", [1]]', 2],
    ['[]', 1],
    ['[[], [], {}]', 2],
    ['{"a": {"b": [{}]}}', 4],
    ['{"]]]": [1, 2]}', 2],
    [nested(64), 64],
  ];
  for (const [text, depth] of cases) {
    assert.equal((await scanJson(inside(jsonDepth - depth, text))).isTooDeep, false, text);
    if (depth) assert.equal((await scanJson(inside(jsonDepth - depth + 1, text))).isTooDeep, true, text);
  }
});

test('a record that is nested too deep is answered with 422, in unknown fields too, and is no fault of the service', async (t) => {
  const { fetch, editorToken, errors } = await startService(t);
  const headers = { ...bearer(await editorToken()), 'content-type': 'application/json' };
  const post = (body: string) => fetch(draftPath, { method: 'POST', headers, body });
  const record = (field: string, levels: number) =>
    `{"contents":"","lang":"javascript","${field}":${nested(levels)}}`;
  for (const body of [
    nested(400_000),
    '['.repeat(400_000),
    '{"a":'.repeat(100_000),
    record('kept', 400_000),
    record('kept', jsonDepth),
    record('tests', jsonDepth),
  ]) {
    const { status, code, message } = await errorOf(await post(body));
    assert.deepEqual([status, code], [422, 'too-deep']);
    assert.match(message, /64 deep/);
  }
  assert.equal((await post(record('kept', jsonDepth - 1))).status, 200);
  assert.deepEqual(errors, []);
});

test('at most ten problems are reported, in a message of bounded length', async (t) => {
  const { editorToken, save } = await startService(t);
  const token = await editorToken();
  const wrong: unknown[][] = [
    Array.from({ length: 5_000 }, () => 1),
    Array.from({ length: 3_000 }, () => ({ name: 1, description: 2, payload: 3, ['x'.repeat(10)]: 4 })),
    [...Array.from({ length: 4_000 }, () => ({})), ...Array.from({ length: 11 }, () => 'y'.repeat(1000))],
  ];
  for (const tests of wrong) {
    const { status, code, message } = await errorOf(await save(token, { ...source, tests }));
    assert.deepEqual([status, code], [422, 'invalid-record']);
    assert.equal(message.match(/tests\[\d+\]/g)?.length, 10);
    assert.match(message, /; and more$/);
    assert.ok(message.length < 1000, `${message.length} characters`);
  }
  const ten = await errorOf(await save(token, { ...source, tests: Array.from({ length: 10 }, () => 1) }));
  assert.match(ten.message, /tests\[9\]: [^;]+$/);
});

test('the members and elements of a JSON text are counted without parsing it', async () => {
  const cases: unknown[] = [
    5,
    [],
    {},
    [1],
    [[], {}, [1, '2,3']],
    { 'a,b': 1, c: { d: [1, 2, { e: '"', 'f\\"': '\\' }] } },
    { tests: [{}, { name: 'a' }], other: [], '"te\\sts"': [[1, 2], 3], text: '[1,2]' },
  ];
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, one) => sum + 1 + count(one), 0)
      : 0;
  for (const value of cases) {
    const arrays = Object.entries(Object(value) as object).filter(([, one]) => Array.isArray(one));
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, '\t')]) {
      const { values, elements, members } = await scanJson(text);
      assert.equal(values, count(value), text);
      // Only an object has members.
      if (Array.isArray(value)) {
        assert.deepEqual([members.size, elements.size], [0, 0], text);
        continue;
      }
      assert.deepEqual(
        [...elements],
        arrays.map(([name, one]) => [name, (one as unknown[]).length]),
        text,
      );
      for (const [name, one] of arrays) assert.equal(members.get(name), count(one), text);
    }
  }
});

test('others have their turn while a long text is scanned', async () => {
  for (const [text, values] of [
    [`[${'[],'.repeat(300_000)}[]]`, 300_001],
    [`["${'\\"'.repeat(500_000)}"]`, 1],
  ] as const) {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    assert.equal((await scanJson(text)).values, values);
    clearImmediate(next);
    assert.ok(turns >= 5, `${turns} turns`);
  }
});

test('a long body of any operation with too many values is answered with 422', async (t) => {
  const { fetch, editorToken } = await startService(t);
  const request = { method: 'textDocument/hover', position: { line: 0, character: 0 } };
  const body = JSON.stringify({ contents: '', request, more: Array.from({ length: 100_000 }, () => 0) });
  const headers = { ...bearer(await editorToken()), 'content-type': 'application/json' };
  const path = draftPath.replace('/draft/', '/language-help/javascript/');
  const { status, code, message } = await errorOf(await fetch(path, { method: 'POST', headers, body }));
  assert.deepEqual([status, code], [422, 'invalid-body']);
  assert.match(message, /at most 20000 .*, received 10000\d/);
});

test('a member whose name is not JSON ends the scan, because the text is none', async () => {
  for (const text of ['{"\\x":[1],"b":[2]}', '{x:[1],"b":[2]}', '{[],"b":[2]}'])
    assert.equal((await scanJson(text)).members.has('b'), false, text);
});

describe('a record', () => {
  /** A record with `values` members and elements, some of which are tests. */
  const recordOf = (values: number, tests = 0) => ({
    ...source,
    tests: Array.from({ length: tests }, () => ({})),
    kept: Array.from({ length: values - tests - 4 }, () => 1),
  });
  const { values, tests } = recordLimits;

  test('may have 20,000 members and elements, 5,000 tests among them', async (t) => {
    const { editorToken, save } = await startService(t);
    const token = await editorToken();
    assert.deepEqual([values, tests], [20_000, 5_000]);
    assert.equal((await save(token, recordOf(values, tests))).status, 200);
    const tooMany = await errorOf(await save(token, recordOf(values + 1)));
    assert.deepEqual([tooMany.status, tooMany.code, tooMany.path], [422, 'invalid-record', '/kept']);
    assert.match(tooMany.message, /at most 20000 .*, received 20001/);
    const members = Object.fromEntries(Array.from({ length: values }, (_, i) => [`member${i}`, 1]));
    const tooLarge = await errorOf(await save(token, { ...recordOf(100), ...members }));
    assert.deepEqual([tooLarge.code, tooLarge.path], ['invalid-record', '']);
    const tooManyTests = await errorOf(await save(token, recordOf(values, tests + 1)));
    assert.deepEqual(
      [tooManyTests.status, tooManyTests.code, tooManyTests.path],
      [422, 'invalid-record', '/tests'],
    );
  });

  test('that has more from before there was a limit is read, and may become smaller', async (t) => {
    const { editorToken, save, fetch, storage, clock } = await startService(t);
    const token = await editorToken();
    assert.equal((await save(token)).status, 200);
    const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
    const former = recordOf(30_000, 6_000);
    await overwriteDraft(storage.db, plugin, former, { now: clock.now });
    const read = await fetch(draftPath, { headers: bearer(token) });
    assert.deepEqual(await read.json(), former);
    assert.equal((await errorOf(await save(token, former))).path, '/tests');
    assert.equal((await errorOf(await save(token, recordOf(30_000, 5_999)))).path, '/kept');
    assert.equal((await save(token, recordOf(29_999, 5_999))).status, 200);
    assert.equal((await save(token, recordOf(100, 1))).status, 200);
    assert.equal((await save(token, recordOf(values + 1))).status, 422);
  });
});
