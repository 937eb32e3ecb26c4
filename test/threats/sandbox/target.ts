import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import type { LoggedOutcome, RunErrorCode } from '../../../service/src/sandbox/outcome.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { type AdjustableLimits, defaultLimits } from '../../../service/src/sandbox/run-limits.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import { mebibyte } from '../../../service/src/units.ts';
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

/** After how many attacks others run. */
const attacksInRow = 8;

let neighbours = 0;

/** One whose top level has run before the attack, and one whose top level runs after it. */
const scriptNeighbours = (): Neighbour[] => [
  { program: script(probe), input: 'neighbour' },
  { program: script(`${probe}// ${(neighbours += 1)}`), input: 'neighbour' },
];

type Runner = ReturnType<typeof startRunner>;

/** The runner of all files of a process. */
let attacked: Runner | undefined;

/** One that nobody attacks. */
let untouched: Runner | undefined;

/**
 * A runner process that one tenant attacks and others use. It is replaced when an attack ends it.
 *
 * `neighboursOf`: what the others run after attacks (default: {@link probe}).
 */
export function startTarget(neighboursOf: () => Neighbour[] = scriptNeighbours) {
  const run = (attacked ??= startRunner());
  const found = untouchedOutcomes(neighboursOf);

  /**
   * Asserts that the runs of others are what they are in a runner that nobody has attacked. An attack that has ended the runner has
   * left it to no others.
   */
  const assertUnharmed = async () => {
    if (run.hasEnded()) return;
    const expected = await found;
    for (const [i, { program, input }] of neighboursOf().entries()) {
      assertSame(await run(program, input), expected[i]);
    }
  };

  /**
   * Looks at others after a few attacks of the suite that calls this, and at its end. What they are then fails the suite, and names the
   * attacks: the test during which it is seen need not be that of the one that did it.
   */
  const watchOthers = () => {
    const since: string[] = [];
    const harmed: Error[] = [];
    const look = async () => {
      if (!since.length) return;
      const names = since.splice(0).join('; ');
      await assertUnharmed().catch((cause: unknown) =>
        harmed.push(new Error(`The runs of others are not what they were, after ${names}.`, { cause })),
      );
    };
    after(async () => {
      await look();
      if (harmed.length) throw new AggregateError(harmed, harmed.map(({ message }) => message).join('\n'));
    });
    /** Notes that an attack begins. */
    const note = (name: string) => since.push(name);
    const lookAfterSome = async () => {
      if (since.length >= attacksInRow) await look();
    };
    return { note, look, lookAfterSome };
  };

  /**
   * Makes a test of each attack, of what it comes to. The suite fails where the runs of others are not what they were. They come before a
   * run that takes a new engine or runner, too: what the attacks before it have left would be gone with the old one.
   */
  const testAttacks = (attacks: Readonly<Record<string, Attack>>) => {
    const others = watchOthers();
    let isEngineKept = false;
    for (const [name, [program, expected, logs, input = 'in']] of Object.entries(attacks)) {
      test(name, async () => {
        if (isEngineKept && mayEndEngine(expected)) {
          await others.look();
          isEngineKept = false;
        }
        others.note(name);
        const outcome = await run(
          typeof program === 'string' ? script(program) : program,
          input,
          limitsFor(expected),
        );
        isEngineKept ||= !('error' in outcome) || outcome.error.code === 'plugin-error';
        assertExpected(outcome, expected);
        if (logs) assert.deepEqual(outcome.logs, logs);
        await others.lookAfterSome();
      });
    }
  };
  return { run, assertUnharmed, watchOthers, testAttacks };
}

const knownOutcomes = new Map<() => Neighbour[], Promise<LoggedOutcome[]>>();
let lastFound: Promise<unknown> = Promise.resolve();

/** What the others get from a runner that nobody has attacked. It is found out once in each process. */
function untouchedOutcomes(neighboursOf: () => Neighbour[]): Promise<LoggedOutcome[]> {
  const known = knownOutcomes.get(neighboursOf);
  if (known) return known;
  const run = (untouched ??= startRunner());
  const found = lastFound.then(async () => {
    const outcomes: LoggedOutcome[] = [];
    for (const { program, input } of neighboursOf()) outcomes.push(await run(program, input));
    return outcomes;
  });
  lastFound = found.catch(() => {});
  knownOutcomes.set(neighboursOf, found);
  return found;
}

/** The limits of runs that are not about the limit of time: a busy machine may need more than a second for any run. */
export const patient = { ...defaultLimits, time: 60_000 };

/** A runner process, replaced by another when it has ended. `limits`: those of one run, at most the usual ones. */
function startRunner() {
  let runner: RunnerProcess | undefined;
  process.once('exit', () => void runner?.close());
  const run = async (
    program: StoredProgram,
    input = '',
    limits: Partial<AdjustableLimits> = {},
  ): Promise<LoggedOutcome> => {
    if (!runner?.isUsable) runner = new RunnerProcess({ limits: patient });
    const logs = new Logs();
    const outcome = await runner.take({ program, job: { input }, logs, limits: { ...patient, ...limits } });
    assert.ok(!('suspended' in outcome));
    return { ...('error' in outcome ? { error: outcome.error } : outcome), logs: logs.entries };
  };
  return Object.assign(run, { hasEnded: () => !runner?.isUsable });
}

/** The time of a run that ends at no other limit: the shorter, the sooner. */
const shortTime = 250;

/**
 * Less memory than by default, for runs that fill all that there is; and more than an engine has at first, so that it still has to
 * grow.
 */
export const littleMemory = 16 * mebibyte;

/**
 * An attack that must end at the limit of time gets less of it, and one that may end for want of memory less of that, so that they end
 * sooner. One that may end at the limit of time gets the default.
 */
function limitsFor(expected: Expected): Partial<AdjustableLimits> {
  if (typeof expected === 'string' || expected instanceof RegExp) return {};
  const codes = codesOf(expected);
  return {
    ...(codes.includes('time-limit') && { time: codes.length === 1 ? shortTime : defaultLimits.time }),
    ...(codes.includes('memory-limit') && { memory: littleMemory }),
  };
}

const mayEndEngine = (expected: Expected) =>
  typeof expected === 'object' &&
  'error' in expected &&
  codesOf(expected).some((code) => code !== 'plugin-error');

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
