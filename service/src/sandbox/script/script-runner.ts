import { LRUCache } from 'lru-cache';
import { Logs } from '../logs.ts';
import { mebibyte } from '../../units.ts';
import type { RunOutcome } from '../outcome.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import { engineHeadrooms, ScriptEngine } from './script-engine.ts';
import { ScriptRun } from './script-run.ts';
import type {
  CachedProgram,
  OnRestored,
  ScriptInput,
  ScriptOutcome,
  ScriptRunOptions,
} from './script-run.ts';

/** A run of a program. */
export interface ScriptJob extends ScriptRunOptions {
  readonly hash: string;
  /** Needed unless the program is in the cache. */
  readonly program: ScriptProgram | undefined;
}

/** How many bytes of states and programs a runner caches; the least recently used are evicted. */
const cacheSize = 12 * mebibyte;

/** About how many bytes a program takes in the cache, with its start state. */
function sizeOf({ program, start, connectedStart }: CachedProgram): number {
  const starts = [start, connectedStart].filter((one) => one !== undefined);
  const { code, mappings = '', libraries = {} } = program;
  const texts = [code, mappings, ...Object.values(libraries), ...starts.flatMap(({ logs }) => logs)];
  // Each text has a header, and each range is two objects and a block of memory.
  const ofTexts = texts.reduce((sum, text) => sum + 2 * text.length + 32, 1000);
  return starts.reduce((sum, { state }) => sum + state.size + 300 * state.ranges.length, ofTexts);
}

/** Does what many plugins do: parse, sort, search, build text, log, throw and catch. */
const warmUpCode = `const table = new Map([["a", 1]]);
export async function run(input) {
  const { list } = JSON.parse(input);
  console.log(list, "text", table.size);
  try { list.missing(); } catch (error) { list.push(String(error).length); }
  const sorted = [...list].sort((a, b) => a - b).map((n) => \`\${n}\`.padStart(4, "0"));
  const found = /(\\d)(\\w*)/.exec(input)?.[1] ?? await "";
  return JSON.stringify({ sorted, found, total: list.reduce((sum, n) => sum + n, 0), at: new Date(0).toISOString() });
}`;

/**
 * Runs scripts, one at a time, each in a state that no other run has touched. The top level of a program is evaluated once, and
 * its runs start from the state after it. A top level that reads the time or a random number is evaluated for each run, because
 * these would otherwise be the same in every run.
 */
export class ScriptRunner {
  readonly #programs = new LRUCache<string, CachedProgram>({
    maxSize: cacheSize,
    sizeCalculation: sizeOf,
  });
  readonly #engines = new Map<number, ScriptEngine>();
  readonly #onRestored: OnRestored | undefined;
  /** The program of the last run, unless that could make calls: what follows such a run is often one that is put back. */
  #last: CachedProgram | undefined;
  /** Whether the last two runs were of one program. */
  #isRepeated = false;

  constructor(onRestored?: OnRestored) {
    this.#onRestored = onRestored;
  }

  /**
   * Creates the engine that most programs run in, and has its machine code compiled by a few trial runs: otherwise the first run
   * would take a hundred times as long as the next. Rejects when the engine does not work on this machine.
   */
  async warmUp(): Promise<void> {
    this.#keep(0, await this.#takeEngine(0));
    const program = { kind: 'script', code: warmUpCode, file: 'warm-up.js' } as const;
    for (let run = 0; run < 3; run++) {
      const job = { hash: '', program, deadline: Infinity, logs: new Logs() };
      const outcome = await this.run(job, '{"list":[3,1,2]}');
      if ('error' in outcome) throw new Error(outcome.error.message);
    }
    this.#programs.clear();
    this.#last = undefined;
  }

  /** Whether a program is in the cache, so that a job need not have it. */
  has(hash: string): boolean {
    return this.#programs.has(hash);
  }

  /** Runs a program that can make no calls. */
  async run(job: Omit<ScriptJob, 'calls'>, input: string): Promise<RunOutcome> {
    const outcome = await this.take(job, { text: input });
    if ('suspended' in outcome) throw new Error('A run without calls does not wait.');
    return outcome;
  }

  /** As {@link run}, for a run that can make calls: it may wait, and be put back into the engine of another runner. */
  async take({ hash, program, ...options }: ScriptJob, input: ScriptInput): Promise<ScriptOutcome> {
    const cached = this.#programs.get(hash) ?? (program && { program, headroomIndex: 0 });
    if (!cached) throw new Error('The program is not known here.');
    const { start, connectedStart } = cached;
    const isKnown = this.has(hash);
    this.#isRepeated = this.#last === cached;
    this.#last = options.calls ? undefined : cached;
    const headroomIndex =
      'text' in input ? cached.headroomIndex : engineHeadrooms.indexOf(input.suspended.memory.headroom);
    const engine = await this.#takeEngine(headroomIndex, 'text' in input ? 0 : input.suspended.memory.memory);
    const run = new ScriptRun(engine, cached, options, this.#onRestored);
    const outcome = await run.execute(input);
    if (!engine.hasGrown) {
      if (run.isEngineIntact) this.#keep(headroomIndex, engine);
    } else if (headroomIndex === cached.headroomIndex) {
      cached.headroomIndex += 1;
      delete cached.start;
      delete cached.connectedStart;
    }
    if (!isKnown || cached.start !== start || cached.connectedStart !== connectedStart) {
      // Deleted first, because the cache does not compute the size again of a value that it already has.
      this.#programs.delete(hash);
      this.#programs.set(hash, cached);
    }
    return outcome;
  }

  /** Restores the engine for the next run while no request waits for it, if the last two runs were of one program. */
  restoreAhead(): void {
    const { headroomIndex = -1, start } = this.#last ?? {};
    if (this.#isRepeated && start) this.#engines.get(headroomIndex)?.restoreAhead(start.state);
  }

  /** `size`: that of the memory of the run that is put back into it. */
  async #takeEngine(headroomIndex: number, size = 0): Promise<ScriptEngine> {
    const kept = this.#engines.get(headroomIndex);
    if (kept && size > kept.size) return ScriptEngine.create(engineHeadrooms[headroomIndex], size);
    this.#engines.delete(headroomIndex);
    // Past the largest headroom the memory will grow anyway; then `undefined` chooses the smallest, which is created fastest.
    return kept ?? ScriptEngine.create(engineHeadrooms[headroomIndex], size);
  }

  #keep(headroomIndex: number, engine: ScriptEngine): void {
    if (headroomIndex < engineHeadrooms.length) this.#engines.set(headroomIndex, engine);
  }
}
