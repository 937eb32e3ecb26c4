import { LRUCache } from 'lru-cache';
import { Logs } from './logs.ts';
import { mebibyte } from './outcome.ts';
import type { RunOutcome } from './outcome.ts';
import type { ScriptProgram } from '../plugins/program.ts';
import { engineHeadrooms, ScriptEngine } from './script-engine.ts';
import { ScriptRun } from './script-run.ts';
import type { CachedProgram, OnRestored } from './script-run.ts';

/** How many bytes of states and programs a runner keeps; what was not run for the longest time goes first. */
const cacheSize = 12 * mebibyte;

/** About how many bytes a program takes here, with all that is kept of it. */
function sizeOf({ program, start }: CachedProgram): number {
  const texts = [program.code, program.mappings ?? '', ...(start?.logs ?? [])];
  const { size = 0, ranges = [] } = start?.state ?? {};
  // Each text has a header of its own, and each range is two objects and a block of memory.
  return texts.reduce((sum, text) => sum + 2 * text.length + 32, 1000) + size + 300 * ranges.length;
}

/** What many plugins do: parse, sort, search, build text, log, throw and catch. */
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
 * Runs scripts, one at a time, each in a state that no other run has touched. A program's top level runs once, and its
 * runs start from the state after it; but for a program whose top level reads the time or a random number, which would
 * be the same in every run: that one is evaluated anew each time.
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
   * Makes the engine that most programs run in, and has the machine code made for what most of them do: else the first run
   * would take a hundred times as long as the next. Rejects when it does not work on this machine.
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

  /** Whether the program need not be given to {@link run}. */
  has(hash: string): boolean {
    return this.#programs.has(hash);
  }

  /**
   * Runs a program until `deadline`, as `performance.now()` tells the time. `program`: needed if it is not known. `isJson`: the
   * input is JSON, of which the program is given the value, and what it answers is made JSON (default false).
   */
  async run(
    hash: string,
    program: ScriptProgram | undefined,
    input: string,
    deadline: number,
    logs: Logs,
    isJson = false,
  ): Promise<RunOutcome> {
    const cached = this.#programs.get(hash) ?? (program && { program, headroom: 0 });
    if (!cached) throw new Error('The program is not known here.');
    const { start } = cached;
    const isKnown = this.has(hash);
    this.#isRepeated = this.#last === cached;
    this.#last = cached;
    const engine = await this.#takeEngine(cached.headroom);
    const run = new ScriptRun(engine, cached, logs, deadline, this.#onRestored);
    const outcome = await run.execute(input, isJson);
    if (engine.hasGrown) {
      cached.headroom += 1;
      delete cached.start;
    } else if (run.isEngineIntact) {
      this.#keep(cached.headroom, engine);
    }
    if (!isKnown || cached.start !== start) {
      // Deleted first, as its size has changed: the cache does not ask again for the size of a value that it has.
      this.#programs.delete(hash);
      this.#programs.set(hash, cached);
    }
    return outcome;
  }

  /** Puts the engine back for the next run while nobody waits: of a program that was run twice, for a third time. */
  restoreAhead(): void {
    const { headroom = -1, start } = this.#last ?? {};
    if (this.#isRepeated && start) this.#engines.get(headroom)?.restoreAhead(start.state);
  }

  async #takeEngine(headroom: number): Promise<ScriptEngine> {
    const kept = this.#engines.get(headroom);
    this.#engines.delete(headroom);
    // Past the largest headroom the memory grows anyway, and the smallest is made the quickest.
    return kept ?? ScriptEngine.create(engineHeadrooms[headroom]);
  }

  #keep(headroom: number, engine: ScriptEngine): void {
    if (headroom < engineHeadrooms.length) this.#engines.set(headroom, engine);
  }
}
