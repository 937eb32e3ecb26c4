import { LRUCache } from 'lru-cache';
import { JSException } from 'quickjs-wasi';
import * as z from 'zod';
import type { CompiledSchemas, Direction } from '../plugins/schemas.ts';
import { anyCheck, checkHelper, longestPath, patternHelper } from './check-helpers.ts';
import { limitError, mebibyte, RunFailure } from './outcome.ts';
import type { RunError } from './outcome.ts';
import { engineRooms, ScriptEngine } from './script-engine.ts';
import type { EngineState, GuestListener } from './script-engine.ts';

/** What does not fit. */
export interface ValueFault {
  /** A JSON Pointer. */
  readonly path: string;
  /** What is wrong there, such as `must be of type string`. */
  readonly message: string;
}

const valueFault = z.object({ path: z.string().max(longestPath), message: z.string().max(1000) });

/** What a runner knows of the schemas of a program. */
interface Prepared {
  readonly types: CompiledSchemas;
  /** Index into {@link engineRooms}; past its end, every check gets a new engine. */
  room: number;
  start?: { readonly state: EngineState; readonly tokens: Readonly<Record<Direction, number>> };
}

/** How many bytes of schemas and states are kept; what was not used for the longest time goes first. */
const cacheSize = 12 * mebibyte;

const sizeOf = ({ types, start }: Prepared) =>
  1000 +
  2 * ((types.inputCheck?.length ?? 0) + (types.outputCheck?.length ?? 0)) +
  (start ? start.state.size + 300 * start.state.ranges.length : 0);

/**
 * Checks JSON by schemas, in VMs that run nothing else: a schema, and a value, may take any time and memory to be checked. Each
 * check begins in a state that no other has touched.
 */
export class SchemaChecks {
  readonly #programs = new LRUCache<string, Prepared>({ maxSize: cacheSize, sizeCalculation: sizeOf });
  readonly #engines = new Map<number, ScriptEngine>();
  #last: Prepared | undefined;

  /** Whether the schemas of a program need not be given to {@link add}. */
  has(hash: string): boolean {
    return this.#programs.has(hash);
  }

  /** Takes the schemas of a program, by the program's hash. */
  add(hash: string, types: CompiledSchemas): void {
    if (!this.has(hash)) this.#programs.set(hash, { types, room: 0 });
  }

  /**
   * Checks a text until `deadline`, as `performance.now()` tells the time: `undefined` where it is JSON that fits. Rejects with a
   * {@link RunFailure} where a limit was met.
   */
  async check(
    hash: string,
    direction: Direction,
    text: string,
    deadline: number,
  ): Promise<ValueFault | undefined> {
    const prepared = this.#programs.get(hash);
    if (!prepared) throw new Error('The schemas are not known here.');
    this.#last = prepared;
    const { start } = prepared;
    const found = await this.#run(prepared.room, deadline, (engine, listener) => {
      const { tokens } = this.#resume(prepared, engine, listener);
      return callWithText(engine, tokens[direction], text);
    });
    if (found.hasGrown) {
      prepared.room += 1;
      delete prepared.start;
    }
    if (prepared.start !== start) {
      // Deleted first: the cache does not ask again for the size of a value that it has.
      this.#programs.delete(hash);
      this.#programs.set(hash, prepared);
    }
    if (found.result === undefined) return { path: '', message: 'is nested too deep' };
    return found.result === '' ? undefined : valueFault.parse(JSON.parse(found.result));
  }

  /** The number of the first of some regular expressions that the engine does not take; -1 where it takes all. */
  async findBadPattern(patterns: readonly string[], deadline: number): Promise<number> {
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

  /** Puts an engine back for the next check of the same schemas while nobody waits. */
  restoreAhead(): void {
    const { room = -1, start } = this.#last ?? {};
    if (start) this.#engines.get(room)?.restoreAhead(start.state);
  }

  /** Does work in an engine that nothing has touched; `result` is `undefined` where it went too deep. */
  async #run(
    room: number,
    deadline: number,
    useEngine: (engine: ScriptEngine, listener: GuestListener) => string,
  ): Promise<{ readonly result: string | undefined; readonly hasGrown: boolean }> {
    const kept = this.#engines.get(room);
    this.#engines.delete(room);
    const engine = kept ?? (await ScriptEngine.create(engineRooms[room]));
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
      // The engine reads JSON by calling itself, and met the end of the stack; it may be in no state to be used again.
      if (error instanceof RangeError) return { result: undefined, hasGrown: false };
      throw checkFailure(error);
    }
    if (isLate) throw new RunFailure(limitError('time-limit'));
    const { hasGrown } = engine;
    if (!hasGrown && room < engineRooms.length) this.#engines.set(room, engine);
    return { result, hasGrown };
  }

  #resume(prepared: Prepared, engine: ScriptEngine, listener: GuestListener) {
    if (prepared.start) {
      engine.restore(prepared.start.state, listener);
      return prepared.start;
    }
    engine.restore(undefined, listener);
    const { vm } = engine;
    const { inputCheck = anyCheck, outputCheck = anyCheck } = prepared.types;
    const make = vm.evalCode(checkHelper, file);
    const tokenOf = (check: string) =>
      vm.exportHandle(vm.callFunction(make, engine.value('undefined'), vm.evalCode(`(${check})`, file)));
    const tokens = { input: tokenOf(inputCheck), output: tokenOf(outputCheck) };
    if (engine.hasGrown) return { tokens };
    return (prepared.start = { state: engine.capture(), tokens });
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

/** A check that did not come to its end met a limit: what it says may be of the schema's own making. */
function checkFailure(error: unknown): unknown {
  if (error instanceof RunFailure) return error;
  const isMemory =
    error instanceof WebAssembly.RuntimeError ||
    (error instanceof JSException && /out of memory|string too long/.test(String(error)));
  return isMemory ? new RunFailure(limitError('memory-limit')) : error;
}

/** What the faults of input and output are to whoever asked for the run. */
export const faultError = (direction: Direction, { path, message }: ValueFault): RunError => ({
  code: `invalid-${direction}`,
  message: `The ${direction}${path && ` at ${path}`} ${message}.`,
  path,
});
