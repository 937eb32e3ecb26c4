import { parentPort, workerData } from 'node:worker_threads';
import { Logs } from './logs.ts';
import { runLimits } from './outcome.ts';
import type { Program, RunEnd } from './outcome.ts';
import { createEngine, runScript } from './script.ts';
import type { Engine } from './script.ts';
import { runWasm } from './wasm.ts';

/** What a thread of the sandbox is asked for. */
export interface Task {
  readonly program: Program;
  readonly input: string;
}

/** What a thread says: how its run ended; and that it can take one, having come up or cleared up after the last. */
export type Report = 'ready' | RunEnd;

if (!parentPort) throw new Error('This file is for a worker thread.');
const port = parentPort;
const memory = workerData as SharedArrayBuffer;

// The engine for the next script is made while nobody waits for it. The first costs more than those that follow.
let engine = await createEngine();

async function run({ program, input }: Task): Promise<void> {
  const logs = new Logs(memory);
  if (program.kind === 'wasm') {
    port.postMessage(await runWasm(program, input, logs));
  } else {
    const end = await runScript(engine, program, input, performance.now() + runLimits.time, logs);
    port.postMessage(end);
    disposeOf(engine, end);
    engine = await createEngine();
  }
  port.postMessage('ready');
}

/** Left to the garbage collector alone, engines pile up. One that met a limit may be in no state to be taken apart. */
function disposeOf({ vm }: Engine, end: RunEnd): void {
  if ('error' in end && end.error.code !== 'plugin-error') return;
  try {
    vm.dispose();
  } catch {
    // It is of no use to anyone any more, whatever it thinks of that.
  }
}

port.on('message', (task: Task) => void run(task));
port.postMessage('ready');
