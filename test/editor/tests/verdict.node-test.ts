import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf, jsonDifferences } from '../../../editor/src/tests/json-difference.ts';
import { expectedOf, isEqual, verdictOf } from '../../../editor/src/tests/verdict.ts';

test('a test passes with the expected answer, and has only run if it expects nothing', () => {
  const outcomeOf = (result: string) => ({ result, logs: [] });
  assert.equal(verdictOf(outcomeOf('7'), { expected: '7' }), 'passed');
  assert.equal(verdictOf(outcomeOf('-7'), { expected: '7' }), 'failed');
  assert.equal(verdictOf(outcomeOf('7'), {}), 'ran');
  assert.equal(verdictOf(outcomeOf(''), { expected: '' }), 'passed');
  for (const expected of ['x', undefined]) {
    assert.equal(verdictOf({ error: { message: 'no' }, logs: [] }, { expected }), 'failed');
  }
});

test('integers of an expected value, which are rounded once a draft is parsed, are compared rounded', () => {
  const { expected } = JSON.parse('{"expected":{"id":9007199254740993}}');
  const outcome = { result: '{"id": 9007199254740993}', logs: [] };
  assert.equal(verdictOf(outcome, { expected }), 'passed');
  assert.equal(verdictOf(outcome, { expected: '{"id":9007199254740992}' }), 'failed');
  assert.equal(verdictOf(outcome, { expected: { id: 9007199254740996 } }), 'failed');
});

test('answers are compared as JSON if both are JSON, and by characters otherwise', () => {
  assert.ok(isEqual('{"a":1,"b":[2]}', '{ "b": [2], "a": 1 }'));
  assert.ok(isEqual('1.0', '1'));
  assert.ok(!isEqual('[1,2]', '[2,1]'));
  assert.ok(!isEqual('{"a":1}', '{"a":1,"b":null}'));
  assert.ok(!isEqual('Hi ', 'Hi'));
  assert.ok(!isEqual('1e999', 'null'));
  assert.ok(isEqual('[1e999]', '[ 1e999 ]'));
  assert.ok(!isEqual('{"id":1234567890123456789}', '{"id":1234567890123456800}'));
  assert.ok(isEqual('[-1234567890123456789]', '[ -1234567890123456789 ]'));
  assert.ok(isEqual('1e21', '1000000000000000000000'));
  assert.equal(differencesOf('text', '{}'), undefined);
});

test('a difference in JSON is reported with its path', () => {
  const expected = { id: 1, items: [{ price: 2 }, { price: 3 }], 'a key': true, gone: null };
  const actual = { id: 1, items: [{ price: 2 }, { price: 4 }, 5], 'a key': 'true', extra: {} };
  assert.deepEqual(jsonDifferences(expected, actual), [
    { path: 'items[1].price', expected: '3', actual: '4' },
    { path: 'items[2]', expected: undefined, actual: '5' },
    { path: '["a key"]', expected: 'true', actual: '"true"' },
    { path: 'gone', expected: 'null', actual: undefined },
    { path: 'extra', expected: undefined, actual: '{}' },
  ]);
  assert.deepEqual(jsonDifferences([1], 'x'), [{ path: '', expected: '[1]', actual: '"x"' }]);
  assert.equal(jsonDifferences([...Array(500).keys()], []).length, 100);
});

test('a difference between large numbers is reported as they are written', () => {
  assert.deepEqual(differencesOf('{"id":1234567890123456789,"n":[1]}', '{"id":1234567890123456800,"n":2}'), [
    { path: 'id', expected: '1234567890123456789', actual: '1234567890123456800' },
    { path: 'n', expected: '[1]', actual: '2' },
  ]);
  assert.equal(differencesOf('[[12345678901234567891]]', '[0]')?.[0]?.expected, '[12345678901234567891]');
});

test('a name that every object inherits is no key of an answer', () => {
  assert.deepEqual(jsonDifferences({}, JSON.parse('{"__proto__":1,"toString":2}')).length, 2);
});

test('an expected value that is not text counts as its JSON', () => {
  assert.equal(expectedOf({ expected: { a: 1 } }), '{\n  "a": 1\n}');
  assert.equal(expectedOf({ expected: null }), undefined);
  assert.equal(expectedOf({}), undefined);
});
