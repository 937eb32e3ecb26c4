import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { TestSession } from '@web/test-runner';

import { failureTexts, summaryLines } from './summary-reporter.ts';

/** What the reporter reads from a session: its engine, whether it passed, and its tests. */
function session(
  engine: string,
  outcomes: ('passed' | 'failed' | 'skipped')[] | 'did not load',
): TestSession {
  const tests =
    outcomes === 'did not load'
      ? []
      : outcomes.map((outcome) => ({
          name: outcome,
          passed: outcome === 'passed',
          skipped: outcome === 'skipped',
        }));
  const [first, ...others] = tests;
  return {
    browser: { name: engine },
    testFile: `${process.cwd()}/test/some.test.ts`,
    errors: [],
    passed: outcomes !== 'did not load' && !outcomes.includes('failed'),
    testResults:
      outcomes === 'did not load'
        ? undefined
        : { name: '', suites: [{ name: 'inner', suites: [], tests: others }], tests: first ? [first] : [] },
  } as unknown as TestSession;
}

describe('the summary of a test run', () => {
  it('names the engines with their versions, and ends with the counts', () => {
    const lines = summaryLines(
      [
        session('Chromium', ['passed', 'passed']),
        session('Chromium', ['passed']),
        session('Firefox', ['passed', 'failed']),
      ],
      new Map([['Chromium', '156.0']]),
      ['WebKit (not found: Xvfb)'],
    );
    assert.deepEqual(lines, [
      'Engines: Chromium 156.0 - 3 tests, Firefox - 2 tests',
      'Not run: WebKit (not found: Xvfb)',
      '4 passed, 1 failed',
    ]);
  });

  it('counts a file that did not load as failed, and names skipped tests', () => {
    const lines = summaryLines(
      [session('Chromium', 'did not load'), session('Chromium', ['passed', 'skipped'])],
      new Map(),
      [],
    );
    assert.deepEqual(lines.slice(1), ['1 skipped', '1 passed, 1 failed']);
  });

  it('tells each failed test with its groups, engine, file and error, and an error outside all tests', () => {
    const failed = {
      browser: { name: 'Firefox' },
      testFile: `${process.cwd()}/test/some.test.ts`,
      passed: false,
      errors: [{ message: 'late', name: 'TypeError', stack: 'at later.ts:1' }],
      testResults: {
        name: '',
        tests: [{ name: 'passes', passed: true, skipped: false }],
        suites: [
          {
            name: 'the group',
            suites: [],
            tests: [
              { name: 'did not run', passed: false, skipped: false },
              {
                name: 'fails',
                passed: false,
                skipped: false,
                error: { message: 'not equal', name: 'AssertionError', expected: '1', actual: '2' },
              },
            ],
          },
        ],
      },
    } as unknown as TestSession;
    assert.deepEqual(failureTexts([failed]), [
      '\n✖ an error outside all tests (Firefox, test/some.test.ts)\nTypeError: late\nat later.ts:1\n',
      '\n✖ the group › fails (Firefox, test/some.test.ts)\nAssertionError: not equal\nexpected: 1\nactual: 2\n',
    ]);
  });

  it('tells a file that did not finish, and nothing of one that passed', () => {
    const texts = failureTexts([session('WebKit', 'did not load'), session('WebKit', ['passed', 'skipped'])]);
    assert.deepEqual(texts, ['\n✖ did not finish (WebKit, test/some.test.ts)\n']);
  });
});
