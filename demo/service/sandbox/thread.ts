import { parentPort, workerData } from 'node:worker_threads';
import { Logs } from './logs.ts';
import { runLimits } from './outcome.ts';
import type { Program, RunEnd } from './outcome.ts';
import { createEngine, runScript } from './script.ts';
import { runWasm } from './wasm.ts';

/** What a thread of the sandbox is asked for. */
export interface Task {
  readonly program: Program;
  readonly input: string;
}

/** What a thread says: that it has come up, or how its run ended. */
export type Report = 'ready' | RunEnd;

if (!parentPort) throw new Error('This file is for a worker thread.');
const port = parentPort;
const memory = workerData as SharedArrayBuffer;

const run = ({ program, input }: Task): Promise<RunEnd> =>
  program.kind === 'script'
    ? runScript(program, input, performance.now() + runLimits.time, new Logs(memory))
    : runWasm(program, input, new Logs(memory));

port.on('message', (task: Task) => {
  void run(task).then((outcome) => port.postMessage(outcome));
});
// The first VM costs more than those that follow.
(await createEngine()).dispose();
port.postMessage('ready');
