import { LRUCache } from 'lru-cache';
import { Logs } from './logs.ts';
import { mebibyte } from '../units.ts';
import type { RunOutcome } from './outcome.ts';
import type { ScriptProgram } from '../plugins/program.ts';
import { engineHeadrooms, ScriptEngine } from './script-engine.ts';
import { ScriptRun } from './script-run.ts';
import type { CachedProgram, OnRestored } from './script-run.ts';

/** How many bytes of states and programs a runner caches; the least recently used are evicted. */
const cacheSize = 12 * mebibyte;

/** About how many bytes a program takes in the cache, with its start state. */
function sizeOf({ program, start }: CachedProgram): number {
  const texts = [program.code, program.mappings ?? '', ...(start?.logs ?? [])];
  const { size = 0, ranges = [] } = start?.state ?? {};
  // Each text has a header, and each range is two objects and a block of memory.
  return texts.reduce((sum, text) => sum + 2 * text.length + 32, 1000) + size + 300 * ranges.length;
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
      const outcome = await this.run('', program, '{"list":[3,1,2]}', Infinity, new Logs());
      if ('error' in outcome) throw new Error(outcome.error.message);
    }
    this.#programs.clear();
    this.#last = undefined;
  }

  /** Whether a program is in the cache, so that it need not be passed to {@link run}. */
  has(hash: string): boolean {
    return this.#programs.has(hash);
  }

  /**
   * Runs a program.
   * @param program needed unless it is in the cache
   * @param deadline by `performance.now()`
   * @param isJson whether the input is JSON, whose value the program gets, and the output is made JSON (default false)
   */
  async run(
    hash: string,
    program: ScriptProgram | undefined,
    input: string,
    deadline: number,
    logs: Logs,
    isJson = false,
  ): Promise<RunOutcome> {
    const cached = this.#programs.get(hash) ?? (program && { program, headroomIndex: 0 });
    if (!cached) throw new Error('The program is not known here.');
    const { start } = cached;
    const isKnown = this.has(hash);
    this.#isRepeated = this.#last === cached;
    this.#last = cached;
    const engine = await this.#takeEngine(cached.headroomIndex);
    const run = new ScriptRun(engine, cached, logs, deadline, this.#onRestored);
    const outcome = await run.execute(input, isJson);
    if (engine.hasGrown) {
      cached.headroomIndex += 1;
      delete cached.start;
    } else if (run.isEngineIntact) {
      this.#keep(cached.headroomIndex, engine);
    }
    if (!isKnown || cached.start !== start) {
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

  async #takeEngine(headroomIndex: number): Promise<ScriptEngine> {
    const kept = this.#engines.get(headroomIndex);
    this.#engines.delete(headroomIndex);
    // Past the largest headroom the memory will grow anyway; then `undefined` chooses the smallest, which is created fastest.
    return kept ?? ScriptEngine.create(engineHeadrooms[headroomIndex]);
  }

  #keep(headroomIndex: number, engine: ScriptEngine): void {
    if (headroomIndex < engineHeadrooms.length) this.#engines.set(headroomIndex, engine);
  }
}
