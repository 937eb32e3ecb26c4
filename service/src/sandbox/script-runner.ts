import { EvalFlags, JSException } from 'quickjs-wasi';
import type { JSValueHandle, QuickJS } from 'quickjs-wasi';
import { LRUCache } from 'lru-cache';
import { Logs } from './logs.ts';
import { checkOutput, limitError, mebibyte, pluginError, RunFailure, runLimits } from './outcome.ts';
import type { RunOutcome, RunError } from './outcome.ts';
import type { ScriptProgram } from '../plugins/program.ts';
import { engineRooms, ScriptEngine } from './script-engine.ts';
import type { EngineState, GuestListener, GuestText } from './script-engine.ts';
import { traceInSource } from './stack-trace.ts';

/** What a runner knows of a program. */
interface Prepared {
  readonly program: ScriptProgram;
  /** Index into {@link engineRooms}. Past its end no room is large enough, and every run gets a new engine. */
  room: number;
  /** Where its runs start: after its top level. Without it, the top level is evaluated for each run. */
  start?: Start;
}

interface Start {
  readonly state: EngineState;
  /** The token of the function `run` in that state. */
  readonly run: number;
  /** What the top level logged: each run has it in its logs. */
  readonly logs: readonly string[];
}

/** How many bytes of states and programs a runner keeps; what was not run for the longest time goes first. */
const cacheSize = 12 * mebibyte;

/** About how many bytes a program takes here, with all that is kept of it. */
function sizeOf({ program, start }: Prepared): number {
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

/** Called before each run of a program from a captured state; for tests. */
export type OnRestored = (engine: ScriptEngine) => void;

/**
 * Runs scripts, one at a time, each in a state that no other run has touched. A program's top level runs once, and its
 * runs start from the state after it; but for a program whose top level reads the time or a random number, which would
 * be the same in every run: that one is evaluated anew each time.
 */
export class ScriptRunner {
  readonly #programs = new LRUCache<string, Prepared>({
    maxSize: cacheSize,
    sizeCalculation: sizeOf,
  });
  readonly #engines = new Map<number, ScriptEngine>();
  readonly #onRestored: OnRestored | undefined;
  #last: Prepared | undefined;
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
    const prepared = this.#programs.get(hash) ?? (program && { program, room: 0 });
    if (!prepared) throw new Error('The program is not known here.');
    const { start } = prepared;
    const isKnown = this.has(hash);
    this.#isRepeated = this.#last === prepared;
    this.#last = prepared;
    const engine = await this.#takeEngine(prepared.room);
    const run = new ScriptRun(engine, prepared, logs, deadline, this.#onRestored);
    const outcome = await run.execute(input, isJson);
    if (engine.hasGrown) {
      prepared.room += 1;
      delete prepared.start;
    } else if (run.isEngineIntact) {
      this.#keep(prepared.room, engine);
    }
    if (!isKnown || prepared.start !== start) {
      // Deleted first, as its size has changed: the cache does not ask again for the size of a value that it has.
      this.#programs.delete(hash);
      this.#programs.set(hash, prepared);
    }
    return outcome;
  }

  /** Puts the engine back for the next run while nobody waits: of a program that was run twice, for a third time. */
  restoreAhead(): void {
    const { room = -1, start } = this.#last ?? {};
    if (this.#isRepeated && start) this.#engines.get(room)?.restoreAhead(start.state);
  }

  async #takeEngine(room: number): Promise<ScriptEngine> {
    const kept = this.#engines.get(room);
    this.#engines.delete(room);
    // Past the largest room the memory grows anyway, and the smallest is made the quickest.
    return kept ?? ScriptEngine.create(engineRooms[room]);
  }

  #keep(room: number, engine: ScriptEngine): void {
    if (room < engineRooms.length) this.#engines.set(room, engine);
  }
}

/** One run of a program in an engine. */
class ScriptRun implements GuestListener {
  readonly #engine: ScriptEngine;
  readonly #vm: QuickJS;
  readonly #prepared: Prepared;
  readonly #logs: Logs;
  readonly #deadline: number;
  readonly #onRestored: OnRestored | undefined;
  // Set once the run has to end; the engine then throws what the plugin cannot catch.
  #ending: RunError | undefined;
  #thrown: RunError | undefined;
  #intact = true;

  constructor(
    engine: ScriptEngine,
    prepared: Prepared,
    logs: Logs,
    deadline: number,
    onRestored: OnRestored | undefined,
  ) {
    this.#engine = engine;
    this.#vm = engine.vm;
    this.#prepared = prepared;
    this.#logs = logs;
    this.#deadline = deadline;
    this.#onRestored = onRestored;
  }

  /** False once a limit was met or the engine failed: then it may be in no state to be used again. */
  get isEngineIntact(): boolean {
    return this.#intact && this.#ending === undefined;
  }

  async execute(input: string, isJson: boolean): Promise<RunOutcome> {
    try {
      const run = this.#prepared.start ? this.#resume(this.#prepared.start) : await this.#evaluate();
      const result = await this.#call(run, input, isJson);
      return this.#ending ? { error: this.#ending } : { result };
    } catch (error) {
      return { error: this.#ending ?? this.#errorOf(error) };
    }
  }

  #resume({ state, run, logs }: Start): JSValueHandle {
    this.#engine.restore(state, this);
    this.#onRestored?.(this.#engine);
    for (const entry of logs) this.#logs.add(entry);
    return this.#vm.importHandle(run);
  }

  /** Runs the top level, and keeps the state after it unless that would not be the same the next time. */
  async #evaluate(): Promise<JSValueHandle> {
    const engine = this.#engine;
    engine.restore(undefined, this);
    const { code, file } = this.#prepared.program;
    const before = this.#logs.entries.length;
    const exports = await this.#settle(this.#vm.evalCode(code, file, EvalFlags.TYPE_MODULE));
    const run = exports.getProp('run');
    if (!run.isFunction) throw new RunFailure(pluginError('The plugin exports no function named "run".'));
    if (!this.#ending && !engine.hasGrown && !engine.hasReadChanges) {
      this.#prepared.start = {
        state: engine.capture(),
        run: this.#vm.exportHandle(run),
        logs: this.#logs.entries.slice(before),
      };
    }
    return run;
  }

  async #call(run: JSValueHandle, input: string, isJson: boolean): Promise<string> {
    const text = this.#vm.newString(input);
    if (!text.isString) throw new RunFailure(limitError('memory-limit'));
    const invoked = this.#engine.call(isJson ? 'invokeJson' : 'invoke', run, text);
    if (this.#thrown) throw new RunFailure(this.#thrown);
    const settled = await this.#settle(invoked);
    const result = isJson ? this.#engine.call('toJson', settled) : settled;
    if (this.#thrown) throw new RunFailure(this.#thrown);
    if (!result.isString) {
      throw new RunFailure(
        pluginError(`"run" must return text, or a promise of it; it returned ${kindOf(result)}.`),
      );
    }
    const { length } = result;
    if (length > runLimits.output) throw new RunFailure(limitError('output-limit'));
    const output = this.#engine.textOf(result, length);
    if (output === undefined) throw new RunFailure(limitError('memory-limit'));
    return checkOutput(output);
  }

  /** A promise's value, once all that the plugin put off has run; any other value as it is. */
  async #settle(value: JSValueHandle): Promise<JSValueHandle> {
    if (!value.isPromise) return value;
    this.#vm.markPromiseHandled(value);
    this.#vm.executePendingJobs();
    if (value.promiseState === pending) {
      throw new RunFailure(pluginError('The plugin waits for a promise that nothing is left to settle.'));
    }
    const settled = await this.#vm.resolvePromise(value);
    if ('error' in settled) throw new RunFailure(this.#describe(settled.error));
    return settled.value;
  }

  /** What was thrown, as text. Getting to know it runs code of the plugin, which can do anything again. */
  #describe(thrown: JSValueHandle): RunError {
    this.#thrown = undefined;
    this.#engine.call('describe', thrown);
    return this.#thrown ?? pluginError(unknownError);
  }

  #errorOf(error: unknown): RunError {
    if (error instanceof RunFailure) return error.error;
    this.#intact = false;
    if (!(error instanceof JSException)) return engineError(error);
    try {
      return this.#describe(error.handle);
    } catch {
      return this.#ending ?? engineError(error);
    }
  }

  log(text: GuestText): boolean {
    try {
      if (text.length > runLimits.logs) throw new RunFailure(limitError('log-limit'));
      const entry = text.read();
      if (entry === undefined) throw new RunFailure(limitError('memory-limit'));
      this.#logs.add(entry);
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      this.#ending = error.error;
    }
    return this.#ending !== undefined;
  }

  error(error: GuestText, stack: GuestText): void {
    const text = error.read() ?? unknownError;
    this.#thrown =
      limitOf(text) ?? pluginError(traceInSource(text, stack.read() ?? '', this.#prepared.program));
  }

  shouldEnd(): boolean {
    if (performance.now() > this.#deadline) this.#ending ??= limitError('time-limit');
    return this.#ending !== undefined;
  }
}

// The engine's word for it.
const pending = 0;

const unknownError = '(a value that cannot be shown)';

/** What became of a run in which the engine itself could not go on. */
function engineError(error: unknown): RunError {
  const text = String(error);
  if (error instanceof RangeError) return limitError('stack-limit');
  return (
    limitOf(text) ??
    (error instanceof WebAssembly.RuntimeError ? limitError('memory-limit') : pluginError(text))
  );
}

function limitOf(error: string): RunError | undefined {
  if (/\bInternalError: (?:out of memory|string too long)/.test(error)) return limitError('memory-limit');
  if (/^(?:RangeError|InternalError): (?:Maximum call stack size exceeded|stack overflow)/.test(error)) {
    return limitError('stack-limit');
  }
  return undefined;
}

const kindOf = (value: JSValueHandle) =>
  value.isUndefined
    ? 'nothing'
    : value.isNull
      ? 'null'
      : value.isArray
        ? 'an array'
        : `a value of type ${value.typeof}`;
