import { LRUCache } from 'lru-cache';
import { JSException } from 'quickjs-wasi';
import type { CompiledSchemas, Direction } from '../plugins/schemas.ts';
import { anyCheck, checkHelper, patternHelper } from './check-helpers.ts';
import { limitError, RunFailure } from './outcome.ts';
import { mebibyte } from '../units.ts';
import type { RunError } from './outcome.ts';
import { engineHeadrooms, ScriptEngine } from './script/script-engine.ts';
import type { GuestListener } from './script/engine-host.ts';
import type { EngineState } from './script/script-engine.ts';

/** Why a value does not fit a schema. */
export interface SchemaViolation {
  /** A JSON Pointer. */
  readonly path: string;
  /** What is wrong there, such as `must be of type string`. */
  readonly message: string;
}

/** The schemas of a program, as a runner has them in its cache. */
interface CachedSchemas {
  readonly types: CompiledSchemas;
  /** The index in {@link engineHeadrooms} of the engine to use. Past its end, every check gets a new engine. */
  headroomIndex: number;
  start?: { readonly state: EngineState; readonly tokens: Readonly<Record<Direction, number>> };
}

/** How many bytes of schemas and states are kept; the least recently used are evicted. */
const cacheSize = 12 * mebibyte;

const sizeOf = ({ types, start }: CachedSchemas) =>
  1000 +
  2 * ((types.inputCheck?.length ?? 0) + (types.outputCheck?.length ?? 0)) +
  (start ? start.state.size + 300 * start.state.ranges.length : 0);

/**
 * Checks JSON by schemas, in engines that run nothing else, because a check may take any time and memory. Each check begins in
 * a state that no other check has touched.
 */
export class SchemaChecks {
  readonly #programs = new LRUCache<string, CachedSchemas>({ maxSize: cacheSize, sizeCalculation: sizeOf });
  readonly #engines = new Map<number, ScriptEngine>();
  #last: CachedSchemas | undefined;

  /** Whether the schemas of a program are in the cache. */
  has(hash: string): boolean {
    return this.#programs.has(hash);
  }

  /** Adds the schemas of a program to the cache, by the program's hash. */
  add(hash: string, types: CompiledSchemas): void {
    if (!this.has(hash)) this.#programs.set(hash, { types, headroomIndex: 0 });
  }

  /**
   * Checks a text; resolves with `undefined` where it is JSON that fits. Rejects with a {@link RunFailure} when a limit was met.
   * @param deadline by `performance.now()`
   */
  async check(
    hash: string,
    direction: Direction,
    text: string,
    deadline: number,
  ): Promise<SchemaViolation | undefined> {
    const cached = this.#programs.get(hash);
    if (!cached) throw new Error('The schemas are not known here.');
    this.#last = cached;
    const { start } = cached;
    const found = await this.#run(cached.headroomIndex, deadline, (engine, listener) => {
      const { tokens } = this.#resume(cached, engine, listener);
      return callWithText(engine, tokens[direction], text);
    });
    if (found.hasGrown) {
      cached.headroomIndex += 1;
      delete cached.start;
    }
    if (cached.start !== start) {
      // Deleted first, because the cache does not compute the size again of a value that it already has.
      this.#programs.delete(hash);
      this.#programs.set(hash, cached);
    }
    if (found.result === undefined) return { path: '', message: 'is nested too deep' };
    // The service checks the violation with everything else that a runner reports.
    return found.result === '' ? undefined : (JSON.parse(found.result) as SchemaViolation);
  }

  /** The index of the first regular expression that the engine does not accept; -1 where it accepts all. */
  async findInvalidPattern(patterns: readonly string[], deadline: number): Promise<number> {
    const { result } = await this.#run(1, deadline, (engine, listener) => {
      engine.restore(undefined, listener);
      const find = engine.vm.evalCode(`(${patternHelper})`, file);
      const token = engine.vm.exportHandle(
        engine.vm.callFunction(
          engine.vm.evalCode('(find) => (text) => String(find(text))', file),
          engine.value('undefined'),
          find,
        ),
      );
      return callWithText(engine, token, JSON.stringify(patterns));
    });
    return Number(result ?? 0);
  }

  /** Restores an engine for the next check of the same schemas, while no request waits for it. */
  restoreAhead(): void {
    const { headroomIndex = -1, start } = this.#last ?? {};
    if (start) this.#engines.get(headroomIndex)?.restoreAhead(start.state);
  }

  /** Calls a function with an engine. The result is `undefined` where that ran out of stack. */
  async #run(
    headroomIndex: number,
    deadline: number,
    useEngine: (engine: ScriptEngine, listener: GuestListener) => string,
  ): Promise<{ readonly result: string | undefined; readonly hasGrown: boolean }> {
    const kept = this.#engines.get(headroomIndex);
    this.#engines.delete(headroomIndex);
    const engine = kept ?? (await ScriptEngine.create(engineHeadrooms[headroomIndex]));
    let isLate = false;
    const listener: GuestListener = {
      log: () => false,
      error: () => {},
      shouldEnd: () => (isLate ||= performance.now() > deadline),
    };
    let result: string;
    try {
      result = useEngine(engine, listener);
    } catch (error) {
      if (isLate) throw new RunFailure(limitError('time-limit'));
      // The engine parses JSON recursively and ran out of stack. It is not kept, because it may be in an unusable state.
      if (error instanceof RangeError) return { result: undefined, hasGrown: false };
      throw checkFailure(error);
    }
    if (isLate) throw new RunFailure(limitError('time-limit'));
    const { hasGrown } = engine;
    if (!hasGrown && headroomIndex < engineHeadrooms.length) this.#engines.set(headroomIndex, engine);
    return { result, hasGrown };
  }

  #resume(cached: CachedSchemas, engine: ScriptEngine, listener: GuestListener) {
    if (cached.start) {
      engine.restore(cached.start.state, listener);
      return cached.start;
    }
    engine.restore(undefined, listener);
    const { vm } = engine;
    const { inputCheck = anyCheck, outputCheck = anyCheck } = cached.types;
    const make = vm.evalCode(checkHelper, file);
    const tokenOf = (check: string) =>
      vm.exportHandle(vm.callFunction(make, engine.value('undefined'), vm.evalCode(`(${check})`, file)));
    const tokens = { input: tokenOf(inputCheck), output: tokenOf(outputCheck) };
    if (engine.hasGrown) return { tokens };
    return (cached.start = { state: engine.capture(), tokens });
  }
}

const file = '<schema>';

function callWithText(engine: ScriptEngine, token: number, text: string): string {
  const { vm } = engine;
  const given = vm.newString(text);
  if (!given.isString) throw new RunFailure(limitError('memory-limit'));
  const result = vm.callFunction(vm.importHandle(token), engine.value('undefined'), given);
  const read = engine.textOf(result, result.length);
  if (read === undefined) throw new RunFailure(limitError('memory-limit'));
  return read;
}

/** The error for a check that threw. Where it met the limit of memory, the message is the limit's and not the engine's. */
function checkFailure(error: unknown): unknown {
  if (error instanceof RunFailure) return error;
  const isMemory =
    error instanceof WebAssembly.RuntimeError ||
    (error instanceof JSException && /out of memory|string too long/.test(String(error)));
  return isMemory ? new RunFailure(limitError('memory-limit')) : error;
}

/** The run's error for an input or output that does not fit. */
export const violationError = (direction: Direction, { path, message }: SchemaViolation): RunError => ({
  code: `invalid-${direction}`,
  message: `The ${direction}${path && ` at ${path}`} ${message}.`,
  path,
});
