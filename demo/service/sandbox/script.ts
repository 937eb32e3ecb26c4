import { readFileSync } from 'node:fs';
import { EvalFlags, JSException, MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi';
import type { JSValueHandle } from 'quickjs-wasi';
import type { Logs } from './logs.ts';
import { checkOutput, limitError, pluginError, RunFailure, runLimits } from './outcome.ts';
import type { Program, RunEnd, RunError } from './outcome.ts';
import { traceInSource } from './stack-trace.ts';

type Script = Extract<Program, { kind: 'script' }>;

const wasm = new WebAssembly.Module(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));

// The file name of the code below, by which its own lines are taken out of stack traces.
const ownFile = '<sandbox>';

// Runs in the VM before the plugin does and keeps what it needs of the globals, which the plugin can change.
const prelude = `(log, say) => {
  const { stringify } = JSON;
  const text = String;
  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      if (typeof value === 'object' && value !== null && !(value instanceof Error)) return stringify(value) ?? text(value);
      return text(value);
    } catch {
      return '(a value that cannot be shown)';
    }
  };
  const write = (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) line += (i ? ' ' : '') + show(values[i]);
    // Past the limit: the engine ends what runs at the next turn of a loop, in a way that no plugin can catch.
    if (log(line)) for (;;);
  };
  globalThis.console = { log: write, info: write, debug: write, warn: write, error: write };
  return (error) => {
    if (!(error instanceof Error)) return say(show(error), '');
    let stack = '';
    try { stack = text(error.stack ?? ''); } catch {}
    return say(show(error), stack);
  };
}`;

/** A VM that nothing has run in, ended by what `ends` is set to. */
export interface Engine {
  readonly vm: QuickJS;
  /** Asked again and again while code runs; once it says so, the engine throws what the code cannot catch. */
  ends: () => boolean;
}

/** Rejects when the engine does not work on this machine. */
export async function createEngine(): Promise<Engine> {
  const vm = await QuickJS.create({
    wasm,
    memoryLimit: runLimits.memory,
    maxStackSize: MAX_STACK_SIZE,
    timezoneOffset: 0,
    interruptHandler: () => engine.ends(),
  });
  const engine: Engine = { vm, ends: () => false };
  return engine;
}

/** Runs a script in an engine that is made for it. */
export async function runScript(
  engine: Engine,
  program: Script,
  input: string,
  deadline: number,
  logs: Logs,
): Promise<RunEnd> {
  // Set once the run has to end; the VM then throws what the plugin cannot catch.
  let ending: RunError | undefined;
  const { vm } = engine;
  engine.ends = () => {
    if (performance.now() > deadline) ending ??= limitError('time-limit');
    return ending !== undefined;
  };
  // Getting to know what a plugin threw runs code of the plugin, which can do anything again.
  let describe: ((error: JSValueHandle) => RunError) | undefined;
  try {
    describe = install(vm, program, (entry) => {
      try {
        logs.add(entry);
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        ending = error.error;
      }
      return ending !== undefined;
    });
    const result = checkOutput(await call(vm, program, input));
    return ending ? { error: ending } : { result };
  } catch (error) {
    return { error: ending ?? errorOf(error, describe) ?? ending ?? engineError(error) };
  }
}

const nothingSaid: [error: string, stack: string] = ['(a value that cannot be shown)', ''];

function install(vm: QuickJS, program: Script, log: (entry: string) => boolean) {
  let said: [error: string, stack: string] = nothingSaid;
  const logger = vm.newFunction('log', (entry) => {
    return log(entry?.toString() ?? '') ? vm.true : vm.false;
  });
  const sayer = vm.newFunction('say', (error, stack) => {
    said = [error?.toString() ?? '', stack?.toString() ?? ''];
    return vm.undefined;
  });
  const describer = vm.callFunction(vm.evalCode(prelude, ownFile), vm.undefined, logger, sayer);
  return (thrown: JSValueHandle): RunError => {
    said = nothingSaid;
    vm.callFunction(describer, vm.undefined, thrown);
    const [error, stack] = said;
    return limitOf(error) ?? pluginError(traceInSource(error, stack, program));
  };
}

async function call(vm: QuickJS, { code, file }: Script, input: string): Promise<string> {
  const exports = await settled(vm, vm.evalCode(code, file, EvalFlags.TYPE_MODULE));
  const run = exports.getProp('run');
  if (!run.isFunction) throw new RunFailure(pluginError('The plugin exports no function named "run".'));
  const result = await settled(vm, vm.callFunction(run, vm.undefined, vm.newString(input)));
  if (result.isString) return result.toString();
  throw new RunFailure(
    pluginError(`"run" must return text, or a promise of it; it returned ${kindOf(result)}.`),
  );
}

/** A promise's value, once all that the plugin put off has run; any other value as it is. */
async function settled(vm: QuickJS, value: JSValueHandle): Promise<JSValueHandle> {
  if (!value.isPromise) return value;
  vm.markPromiseHandled(value);
  vm.executePendingJobs();
  if (value.promiseState === pending) {
    throw new RunFailure(pluginError('The plugin waits for a promise that nothing is left to settle.'));
  }
  const end = await vm.resolvePromise(value);
  if ('error' in end) throw new Rejection(end.error);
  return end.value;
}

// The engine's word for it.
const pending = 0;

class Rejection extends Error {
  readonly reason: JSValueHandle;
  constructor(reason: JSValueHandle) {
    super('A promise of the plugin was rejected.');
    this.reason = reason;
  }
}

function errorOf(error: unknown, describe: ((error: JSValueHandle) => RunError) | undefined) {
  if (error instanceof RunFailure) return error.error;
  const thrown =
    error instanceof JSException ? error.handle : error instanceof Rejection ? error.reason : undefined;
  try {
    return thrown && describe?.(thrown);
  } catch {
    // Not even that was possible; what the engine says of it follows.
    return undefined;
  }
}

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
  if (/out of memory|string too long/.test(error)) return limitError('memory-limit');
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
