import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { LoggedOutcome, RunErrorCode } from '../../../service/src/sandbox/outcome.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { defaultLimits } from '../../../service/src/sandbox/run-limits.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import type { RunnerOptions } from '../../../service/src/sandbox/runner-process.ts';
import { probe } from './probe.ts';

/** What an attack has to come to: its result, or its error with what the message says. */
export type Expected =
  string | RegExp | { readonly error: RunErrorCode | readonly RunErrorCode[]; readonly message?: RegExp };

/**
 * A program, what it has to come to, what it has to have logged (by default, nothing is said about that), and its input
 * (by default, "in").
 */
export type Attack = readonly [
  program: StoredProgram | string,
  expected: Expected,
  logs?: readonly string[] | undefined,
  input?: string,
];

export const script = (code: string): StoredProgram =>
  loadedProgram({ kind: 'script', code, file: 'plugin.js' });

/** Programs that show what a runner is like, to whom it may belong next. */
export interface Neighbour {
  readonly program: StoredProgram;
  readonly input: string;
}

let neighbours = 0;

/** One whose top level has run before the attack, and one whose top level runs after it. */
const scriptNeighbours = (): Neighbour[] => [
  { program: script(probe), input: 'neighbour' },
  { program: script(`${probe}// ${(neighbours += 1)}`), input: 'neighbour' },
];

/**
 * A runner process that one tenant attacks and others use. It is replaced when an attack ends it.
 *
 * `neighboursOf`: what the others run after each attack (default: {@link probe}).
 */
export function startTarget(neighboursOf: () => Neighbour[] = scriptNeighbours) {
  const target = startRunner();
  // For attacks that may end by the limit of time. Their neighbours are run in it, too, and again if that limit ends them.
  const quickRunner = startRunner({});
  const quickTarget = (program: StoredProgram, input?: string) => inTime(() => quickRunner(program, input));
  let neighboursRun = target;
  const other = startRunner();

  /** Attacks. `mayTakeLong`: whether the limit of time is an end to expect. */
  const run = (program: StoredProgram, input?: string, mayTakeLong = false) => {
    neighboursRun = mayTakeLong ? quickTarget : target;
    return (mayTakeLong ? quickRunner : target)(program, input);
  };

  /** What the others get from a runner that nobody has attacked. */
  const untouched = (async () => {
    const outcomes: LoggedOutcome[] = [];
    for (const { program, input } of neighboursOf()) outcomes.push(await other(program, input));
    return outcomes;
  })();
  untouched.catch(() => {});

  /** Asserts that the runs of others are what they are in a runner that nobody has attacked. */
  const assertUnharmed = async () => {
    const expected = await untouched;
    for (const [i, { program, input }] of neighboursOf().entries()) {
      assertSame(await neighboursRun(program, input), expected[i]);
    }
  };

  /** Makes a test of each attack: of what it comes to, and of the runs of others after it. */
  const testAttacks = (attacks: Readonly<Record<string, Attack>>) => {
    for (const [name, [program, expected, logs, input = 'in']] of Object.entries(attacks)) {
      test(name, async () => {
        const mayTakeLong =
          typeof expected === 'object' && 'error' in expected && codesOf(expected).includes('time-limit');
        const outcome = await run(
          typeof program === 'string' ? script(program) : program,
          input,
          mayTakeLong,
        );
        assertExpected(outcome, expected);
        if (logs) assert.deepEqual(outcome.logs, logs);
        await assertUnharmed();
      });
    }
  };
  return { run, assertUnharmed, testAttacks };
}

/**
 * Makes a run, and makes it again while it ends for want of time: any run may, on a machine that is busy with other
 * things.
 */
export async function inTime(run: () => Promise<LoggedOutcome>): Promise<LoggedOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await run();
    if (!('error' in outcome) || outcome.error.code !== 'time-limit' || attempt === 10) return outcome;
  }
}

/** The limits of runs that are not about the limit of time: a busy machine may need more than a second for any run. */
const patient: RunnerOptions = { limits: { ...defaultLimits, time: 60_000 } };

/** A runner process, replaced by another when it has ended. */
export function startRunner(options = patient) {
  let runner: RunnerProcess | undefined;
  after(() => runner?.close());
  return (program: StoredProgram, input = ''): Promise<LoggedOutcome> => {
    if (!runner?.isUsable) runner = new RunnerProcess(options);
    return runner.run(program, input);
  };
}

const codesOf = ({ error }: { readonly error: RunErrorCode | readonly RunErrorCode[] }) => [error].flat();

function assertExpected(outcome: LoggedOutcome, expected: Expected): void {
  const actual = JSON.stringify({ ...outcome, logs: outcome.logs.slice(0, 5) }).slice(0, 2000);
  if (typeof expected === 'string' || expected instanceof RegExp) {
    assert.ok('result' in outcome, actual);
    if (typeof expected === 'string') assert.equal(outcome.result, expected);
    else assert.match(outcome.result, expected);
    return;
  }
  assert.ok('error' in outcome, actual);
  assert.ok(codesOf(expected).includes(outcome.error.code), actual);
  if (expected.message) assert.match(outcome.error.message, expected.message);
}

/** Asserts that two outcomes are equal, and says in which lines they are not. */
function assertSame(actual: LoggedOutcome, expected: LoggedOutcome | undefined): void {
  assert.ok(expected && 'result' in expected, JSON.stringify(expected));
  assert.ok('result' in actual, JSON.stringify(actual));
  if (actual.result !== expected.result) {
    const lines = new Set(expected.result.split('\n'));
    assert.deepEqual(
      actual.result.split('\n').filter((line) => !lines.has(line)),
      [],
    );
  }
  assert.equal(actual.result, expected.result);
  assert.deepEqual(actual.logs, expected.logs);
}
