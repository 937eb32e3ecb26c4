import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import reportFailures from '../support/failure-reporter.ts';

const report = async (...events: object[]) =>
  (await Readable.from(reportFailures(Readable.from(events) as AsyncIterable<TestEvent>)).toArray()).join('');

const stderr = (file: string, message: string) => ({ type: 'test:stderr', data: { file, message } });
const failed = (name: string, error: object) => ({
  type: 'test:fail',
  data: { name, file: `${process.cwd()}/a.ts`, line: 3, details: { error } },
});

test('a process that died is reported with what it printed last', async () => {
  for (const [how, said] of [
    [{ exitCode: 134, signal: null }, 'exit code 134'],
    [{ exitCode: null, signal: 'SIGKILL' }, 'SIGKILL'],
  ] as const) {
    const text = await report(
      stderr('/tmp/00-demo.mjs', 'x'.repeat(100_000)),
      stderr('01-core.mjs', 'a warning\n'),
      stderr('/tmp/00-demo.mjs', 'FATAL ERROR: no memory\n'),
      failed('/tmp/00-demo.mjs', { failureType: 'testCodeFailure', cause: 'test failed', ...how }),
    );
    assert.match(
      text,
      new RegExp(`✖ The process 00-demo\\.mjs ended with ${said}:\nx+FATAL ERROR: no memory\n`),
    );
    assert.ok(text.length < 5000);
    assert.doesNotMatch(text, /warning/);
  }
});

test('a test that failed is reported with its place and error, and not a second time for its group', async () => {
  const text = await report(
    stderr('00-core.mjs', 'a warning\n'),
    failed('adds', { failureType: 'testCodeFailure', cause: 'no sum' }),
    failed('00-core.mjs', { failureType: 'subtestsFailed', exitCode: 1, signal: null }),
  );
  assert.equal(text, "\n✖ adds (a.ts:3)\n'no sum'\n");
});
