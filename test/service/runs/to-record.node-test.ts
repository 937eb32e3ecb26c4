import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptBytes } from '../../../service/src/plugins/truncate.ts';
import { toRecord } from '../../../service/src/runs/to-record.ts';
import type { RecordLevel } from '../../../service/src/plugins/record-level.ts';
import type { CompletedRun } from '../../../service/src/runs/to-record.ts';
import type { RunDetails } from '../../../service/src/storage/tables/runs.ts';
import { failed, runOf, unknownVersion } from './records.ts';

const detailsOf = (changes: Partial<CompletedRun>, level: RecordLevel): RunDetails =>
  JSON.parse(toRecord(runOf(unknownVersion, changes), level).details ?? '{}') as RunDetails;

test('a record holds what the set level allows', () => {
  const run = failed('plugin-error', 'It failed.', ['one', 'two']);
  assert.deepEqual(detailsOf(run, 'outcome'), {});
  assert.deepEqual(detailsOf(run, 'logs'), { message: 'It failed.', logs: ['one', 'two'] });
  assert.deepEqual(detailsOf(run, 'payloads'), {
    message: 'It failed.',
    logs: ['one', 'two'],
    input: 'input',
  });
  const { inputBytes, outputBytes, code } = toRecord(
    runOf(unknownVersion, { input: 'é', outcome: { result: '€', logs: [] } }),
    'outcome',
  );
  assert.deepEqual([inputBytes, outputBytes, code], [2, 3, undefined]);
});

test('an error about the input may say what in it was wrong', () => {
  const outcome = { error: { code: 'invalid-input', message: 'It must be text.', path: '/a/0' }, logs: [] };
  assert.deepEqual(detailsOf({ outcome, took: 0 }, 'logs'), { message: 'It must be text.', path: '/a/0' });
});

test('input and output are cut at 16 KB, never within a character', () => {
  const text = `a${'€'.repeat(keptBytes)}`;
  const {
    input = '',
    output,
    truncated,
  } = detailsOf({ input: text, outcome: { result: 'short', logs: [] } }, 'payloads');
  assert.equal(truncated, true);
  assert.equal(output, 'short');
  assert.ok(text.startsWith(input));
  assert.ok(Buffer.byteLength(input) <= keptBytes && Buffer.byteLength(input) > keptBytes - 3);
  assert.ok(input.isWellFormed());
  const fitting = 'x'.repeat(keptBytes);
  assert.deepEqual(detailsOf({ input: fitting, outcome: { result: '', logs: [] } }, 'payloads'), {
    input: fitting,
    output: '',
  });
});

test('the last 16 KB of long logs are kept, and the beginning of a single long entry', () => {
  const entries = Array.from({ length: 3000 }, (_, i) => `entry ${i}`);
  const { logs = [], truncated } = detailsOf({ outcome: { result: '', logs: entries } }, 'logs');
  assert.equal(truncated, true);
  assert.deepEqual(logs, entries.slice(-logs.length));
  assert.ok(logs.length > 1000 && Buffer.byteLength(logs.join('')) <= keptBytes);
  const one = detailsOf({ outcome: { result: '', logs: ['first', 'é'.repeat(keptBytes)] } }, 'logs');
  assert.equal(one.logs?.length, 1);
  assert.ok('é'.repeat(keptBytes).startsWith(one.logs?.[0] ?? '?'));
  const many = detailsOf({ outcome: { result: '', logs: Array<string>(10_000).fill('') } }, 'logs');
  assert.ok((many.logs?.length ?? 0) < keptBytes / 2);
});

test('a message and logs are bounded by their JSON, in which a control character takes six bytes', () => {
  for (const [character, size] of [
    ['\u0001', 6],
    ['"', 2],
    ['\n', 2],
    ['é', 2],
    ['\u{1f600}', 4],
  ] as const) {
    const text = character.repeat(keptBytes);
    const { message = '', logs = [], truncated } = detailsOf(failed('plugin-error', text, [text]), 'logs');
    assert.equal(truncated, true);
    for (const one of [message, ...logs]) {
      assert.ok(text.startsWith(one) && one.isWellFormed());
      const bytes = Buffer.byteLength(JSON.stringify(one)) - 2;
      assert.ok(bytes <= keptBytes && bytes > keptBytes - 3 - size, `${size}: ${bytes}`);
    }
  }
});

test('characters that a database or a client cannot take become U+FFFD in messages and logs', () => {
  const odd = 'NUL \0, half \ud800.';
  const { message, logs } = detailsOf(failed('plugin-error', odd, [odd]), 'logs');
  assert.deepEqual([message, logs], ['NUL \ufffd, half \ufffd.', ['NUL \ufffd, half \ufffd.']]);
});
