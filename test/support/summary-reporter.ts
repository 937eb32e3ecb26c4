import { relative } from 'node:path';

import type { Reporter, TestSession } from '@web/test-runner';

type Results = NonNullable<TestSession['testResults']>;
type ResultError = TestSession['errors'][number];

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * A line for each test file as it ends, and at the end of the run what failed, which engines ran how many tests, and the
 * line `N passed, N failed`.
 *
 * @param versions engine name → version, filled in while the browsers start
 */
export function summaryReporter(versions: Map<string, string>): Reporter {
  return {
    reportTestFileResults({ logger, sessionsForTestFile, testFile }) {
      const { passed, failed, skipped } = total(sessionsForTestFile);
      const counts = [
        `${passed} passed`,
        failed > 0 && `${failed} FAILED`,
        skipped > 0 && `${skipped} skipped`,
      ];
      logger.log(`${relative(process.cwd(), testFile)}: ${counts.filter(Boolean).join(', ')}`);
    },

    stop({ sessions }) {
      console.log([...failureTexts(sessions), '', ...summaryLines(sessions, versions)].join('\n'));
    },
  };
}

/** The closing lines; the last is `N passed, N failed`, alone, for programs to read. */
function summaryLines(sessions: TestSession[], versions: Map<string, string>): string[] {
  const byEngine = Map.groupBy(sessions, (session) => session.browser.name);
  const engines = [...byEngine].map(([name, ofEngine]) => {
    const { passed, failed } = total(ofEngine);
    return `${[name, versions.get(name)].filter(Boolean).join(' ')} - ${passed + failed} tests`;
  });
  const { passed, failed, skipped } = total(sessions);
  return [
    `Engines: ${engines.join(', ')}`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${passed} passed, ${failed} failed`,
  ];
}

/** A text for each test that failed, and for each file that did not load or had an error outside all tests. */
function failureTexts(sessions: TestSession[]): string[] {
  return sessions.flatMap((session) => {
    const { browser, testFile, testResults, errors, passed } = session;
    const place = `${browser.name}, ${relative(process.cwd(), testFile)}`;
    // After an error in a hook, the tests that did not run count as failed, without an error.
    const ofTests = (testResults ? failedTests(testResults) : []).filter(
      ({ error }) => error || errors.length === 0,
    );
    const texts = [
      ...errors.map((error) => failureText('an error outside all tests', place, error)),
      ...ofTests.map(({ path, error }) => failureText(path.join(' › '), place, error)),
    ];
    return texts.length === 0 && !passed ? [failureText('did not finish', place)] : texts;
  });
}

function failureText(title: string, place: string, error?: ResultError): string {
  const { name = 'Error', message = '', stack = '', expected, actual } = error ?? {};
  const details = [
    error && `${name}: ${message}`,
    expected !== undefined && `expected: ${expected}`,
    actual !== undefined && `actual: ${actual}`,
    stack,
  ];
  return `${[`\n✖ ${title} (${place})`, ...details].filter(Boolean).join('\n')}\n`;
}

function failedTests(
  { tests, suites }: Results,
  path: string[] = [],
): { path: string[]; error?: ResultError }[] {
  return [
    ...tests
      .filter((test) => !test.passed && !test.skipped)
      .map(({ name, error }) => ({ path: [...path, name], ...(error && { error }) })),
    ...suites.flatMap((suite) => failedTests(suite, [...path, suite.name])),
  ];
}

function total(sessions: TestSession[]): Counts {
  const sum: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const session of sessions) {
    const counts = session.testResults ? count(session.testResults) : { passed: 0, failed: 0, skipped: 0 };
    // A file that did not load, or an error outside all tests, counts as one failure.
    if (!session.passed && counts.failed === 0) counts.failed = 1;
    sum.passed += counts.passed;
    sum.failed += counts.failed;
    sum.skipped += counts.skipped;
  }
  return sum;
}

function count({ tests, suites }: Results): Counts {
  const sum: Counts = {
    passed: tests.filter((test) => test.passed && !test.skipped).length,
    failed: tests.filter((test) => !test.passed && !test.skipped).length,
    skipped: tests.filter((test) => test.skipped).length,
  };
  for (const suite of suites) {
    const inner = count(suite);
    sum.passed += inner.passed;
    sum.failed += inner.failed;
    sum.skipped += inner.skipped;
  }
  return sum;
}
