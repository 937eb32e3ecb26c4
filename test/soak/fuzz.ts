import type { Figure } from '../bench/figures.ts';
import { loadedProgram } from '../../service/src/plugins/program.ts';
import type { LoggedOutcome } from '../../service/src/sandbox/outcome.ts';
import { defaultLimits } from '../../service/src/sandbox/run-limits.ts';
import { RunnerProcess } from '../../service/src/sandbox/runner-process.ts';
import { mebibyte } from '../../service/src/units.ts';
import { expressions, isChanged } from './fuzz-expressions.ts';
import { Tally } from './tally.ts';

export interface FuzzOptions {
  /** How long runs are made. */
  readonly seconds: number;
  /** Of the first batch; each batch has the seed after that of the one before it. */
  readonly seed: number;
}

/** How many expressions a run evaluates. */
const batchSize = 100;

/** What each expression comes to: its value as JSON, cut, or the name of what it throws. */
const program = loadedProgram({
  kind: 'script',
  code: `const { parse, stringify } = JSON;
const { push } = Array.prototype, { slice } = String.prototype, { apply } = Reflect, { eval: evaluate } = globalThis;
const nameOf = (error) => { try { return 'throws ' + error.name; } catch { return 'throws'; } };
export async function run(input) {
  const list = parse(input), found = [];
  for (let i = 0; i < list.length; i++) {
    let one;
    try { one = stringify(await evaluate('(' + list[i] + ')')) ?? 'undefined'; } catch (error) { one = nameOf(error); }
    apply(push, found, [apply(slice, one, [0, 2000])]);
  }
  return stringify(found);
}`,
  file: 'plugin.js',
});

/** Random values have other results each time, and times may. */
const isRandom = (expression: string) => /getRandomValues|generateKey|DateTimeFormat/.test(expression);

/**
 * Random and structured input for the extensions of the engine, which are in C, and for `Intl`, which the runner does: in runners,
 * each batch in two of them. A run has to come to its end with the same values in both; a trap of the engine is an error of the
 * memory, with however much of it.
 */
export async function measureFuzz(
  { seconds, seed: first }: FuzzOptions = {
    seconds: Number(process.env['SOAK_SECONDS'] ?? 3600),
    seed: Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 32),
  },
): Promise<Figure[]> {
  console.log(`  seed ${first}; again by SOAK_SEED=${first}`);
  const tally = new Tally();
  const runners = [new Runner(), new Runner()];
  const large = new Runner(512 * mebibyte);
  let seed = first;
  try {
    for (const end = performance.now() + 1000 * seconds; performance.now() < end; seed++) {
      const batch = expressions(seed, batchSize);
      const outcomes: LoggedOutcome[] = [];
      for (const runner of runners) outcomes.push(await runner.run(batch));
      const results = outcomes.map(valuesOf);
      const ends = outcomes.flatMap((one) => ('error' in one ? [one.error.code] : []));
      if (ends.length) await narrow(batch, seed, ends, large, tally);
      for (const [i, expression] of batch.entries()) {
        const [one, other] = results.map((all) => all?.[i]);
        if (one === undefined || other === undefined) continue;
        tally.count(one.startsWith('throws') ? 'throw' : 'value');
        if (one !== other && !isRandom(expression))
          tally.fault(`seed ${seed}, ${i}: ${one} and ${other} from ${expression}`);
      }
    }
  } finally {
    await Promise.all([...runners, large].map((runner) => runner.close()));
  }
  const note = `${tally.of('value')} values, ${tally.of('throw')} errors and ${tally.of('limit')} ends by limits; seeds ${first} to ${seed - 1}`;
  return [
    { name: 'expressions that harmed the engine', value: tally.faults.length, limit: 0, unit: '', note },
  ];
}

/** Runs the expressions of a batch one by one, because its run did not come to its end. */
async function narrow(
  batch: readonly string[],
  seed: number,
  ends: readonly string[],
  runner: Runner,
  tally: Tally,
): Promise<void> {
  let isFound = false;
  for (const [i, expression] of batch.entries()) {
    const outcome = await runner.run([expression]);
    if ('result' in outcome) continue;
    isFound = true;
    // A structure may be too deep for the engine. A language that was changed may go on for ever, or make what is awaited for ever.
    // Nothing here needs so much memory.
    if (
      outcome.error.code === 'stack-limit' ||
      (['time-limit', 'plugin-error'].includes(outcome.error.code) && isChanged(expression))
    )
      tally.count('limit');
    else tally.fault(`seed ${seed}, ${i}: ${outcome.error.code} ${outcome.error.message} from ${expression}`);
  }
  if (!isFound)
    tally.fault(`seed ${seed}: the whole batch ends with ${ends.join(', ')}, and none of it alone`);
}

const valuesOf = (outcome: LoggedOutcome): string[] | undefined =>
  'result' in outcome ? (JSON.parse(outcome.result) as string[]) : undefined;

/** A runner process, and the next when that has ended. */
class Runner {
  readonly #limits;
  #process: RunnerProcess | undefined;

  constructor(memory = defaultLimits.memory) {
    this.#limits = { time: 20_000, memory };
  }

  run(batch: readonly string[]): Promise<LoggedOutcome> {
    if (!this.#process?.isUsable) this.#process = new RunnerProcess({ limits: this.#limits });
    return this.#process.run(program, JSON.stringify(batch));
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }
}
