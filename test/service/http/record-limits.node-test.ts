import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeperThan, jsonDepth } from '../../../service/src/http/json-depth.ts';
import { bearer, draftPath, errorOf, source, startService } from '../harness.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test('the depth of JSON counts arrays and objects, and not brackets within strings', () => {
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
    assert.equal(isDeeperThan(text, depth), false, text);
    if (depth) assert.equal(isDeeperThan(text, depth - 1), true, text);
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
    Array.from({ length: 10_000 }, () => 1),
    Array.from({ length: 10_000 }, () => ({ name: 1, description: 2, payload: 3, ['x'.repeat(10)]: 4 })),
    [...Array.from({ length: 9_000 }, () => ({})), ...Array.from({ length: 11 }, () => 'y'.repeat(1000))],
  ];
  for (const tests of wrong) {
    const { status, code, message } = await errorOf(await save(token, { ...source, tests }));
    assert.deepEqual([status, code], [422, 'invalid-record']);
    assert.equal(message.match(/tests\[\d+\]/g)?.length, 10);
    assert.match(message, /; and more$/);
    assert.ok(message.length < 1000, `${message.length} characters`);
  }
  const { status, message: tooMany } = await errorOf(
    await save(token, { ...source, tests: Array.from({ length: 10_001 }, () => ({})) }),
  );
  assert.deepEqual([status, tooMany], [422, 'tests: expected at most 10000 tests, received 10001']);
  assert.equal(
    (await save(token, { ...source, tests: Array.from({ length: 10_000 }, () => ({})) })).status,
    200,
  );
  const ten = await errorOf(await save(token, { ...source, tests: Array.from({ length: 10 }, () => 1) }));
  assert.match(ten.message, /tests\[9\]: [^;]+$/);
});
