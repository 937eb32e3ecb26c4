import { readSync, writeSync } from 'node:fs';
import { errorMessage } from '../error-message.ts';
import { encodeFrame, FrameReader } from '../processes/frames.ts';
import { Logs } from './logs.ts';
import { mebibyte, pluginError, RunFailure, runLimits, setRunLimits } from './outcome.ts';
import type { RunOutcome } from './outcome.ts';
import { decodeRequest, encodeText, frameKind } from './protocol.ts';
import type { FrameKind, RunRequest } from './protocol.ts';
import { checkNamespace } from './namespace-check.ts';
import { faultError, SchemaChecks } from './schema-checks.ts';
import type { CompiledProgram } from '../plugins/program.ts';
import { ScriptRunner } from './script-runner.ts';
import { WasmRunner } from './wasm-runner.ts';

/*
 * The program of a runner process: reads runs from standard input, and writes their outcomes to standard output. Both use
 * synchronous functions of the file system: a runner has nothing else to do, and they are the quickest.
 */

const input = 0;
const output = 1;

/** Sends a frame at once, so that logs arrive even if the run has to be killed. */
function send(kind: FrameKind, text: string): void {
  const frame = encodeFrame(kind, text);
  for (let sent = 0; sent < frame.length;) sent += writeSync(output, frame, sent);
}

const [time, memory] = process.argv.slice(2).map(Number);
if (time && memory) setRunLimits({ time, memory });

const scripts = new ScriptRunner();
const modules = new WasmRunner();

const checks = new SchemaChecks();

async function run(request: RunRequest): Promise<void> {
  const { hash, isTyped } = request;
  const deadline = performance.now() + runLimits.time;
  const kind = request.program?.kind ?? knownKind(hash);
  if (!kind || (isTyped && !request.program && !checks.has(hash))) {
    send(frameKind.missing, '');
    return;
  }
  // The schemas are cached by `checks`, and the rest of the program by the runner of its kind.
  const { types, ...program } = request.program ?? {};
  if (types) checks.add(hash, types);
  const logs = new Logs((entry) => send(frameKind.log, encodeText(entry)));
  let outcome: RunOutcome;
  try {
    const job = { hash, program: request.program && (program as CompiledProgram), kind, logs, deadline };
    outcome =
      isTyped && kind !== 'check'
        ? await runChecked(job, request.input)
        : await runOnce(job, request.input, false);
  } catch (error) {
    outcome = {
      error:
        error instanceof RunFailure ? error.error : pluginError(`The engine failed: ${errorMessage(error)}`),
    };
  }
  if ('result' in outcome) send(frameKind.result, encodeText(outcome.result));
  else send(frameKind.error, JSON.stringify(outcome.error));
}

interface RunJob {
  readonly hash: string;
  /** The program, where it is not in the cache. */
  readonly program: CompiledProgram | undefined;
  readonly kind: CompiledProgram['kind'];
  readonly logs: Logs;
  readonly deadline: number;
}

function knownKind(hash: string): CompiledProgram['kind'] | undefined {
  if (scripts.has(hash)) return 'script';
  return modules.has(hash) ? 'wasm' : undefined;
}

/** Runs a program, and checks its input before and its output after it. The time of the checks counts as the run's. */
async function runChecked(job: RunJob, text: string): Promise<RunOutcome> {
  const { hash, deadline } = job;
  const wrong = await checks.check(hash, 'input', text, deadline);
  if (wrong) return { error: faultError('input', wrong) };
  const outcome = await runOnce(job, text, true);
  if ('error' in outcome) return outcome;
  const wrongOutput = await checks.check(hash, 'output', outcome.result, deadline);
  return wrongOutput ? { error: faultError('output', wrongOutput) } : outcome;
}

async function runOnce(job: RunJob, text: string, isJson: boolean): Promise<RunOutcome> {
  const { hash, program, kind, logs, deadline } = job;
  if (kind === 'check') return { result: JSON.stringify(await checkNamespace(checks, hash, text, deadline)) };
  if (kind === 'wasm') {
    return modules.run(hash, program?.kind === 'wasm' ? program : undefined, text, logs);
  }
  const script = program?.kind === 'script' ? program : undefined;
  return scripts.run(hash, script, text, deadline, logs, isJson);
}

// Large enough for an input that JSON has escaped, which makes it up to six times as long, with a program and its schemas.
const frames = new FrameReader(24 * mebibyte);
const chunk = Buffer.allocUnsafe(65_536);

/** The requests, one after the other, until the service has gone. */
function* requests(): Generator<RunRequest> {
  for (let size = readSync(input, chunk); size > 0; size = readSync(input, chunk)) {
    for (const { text } of frames.push(Buffer.from(chunk.subarray(0, size)))) yield decodeRequest(text);
  }
}

/** Lets the event loop turn, so that Node can do deferred work, such as freeing memory. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** After how many runs the event loop turns: often enough, and without a cost for the single run. */
const runsPerTurn = 32;

try {
  await scripts.warmUp();
} catch (error) {
  send(frameKind.broken, errorMessage(error));
  process.exit(1);
}
send(frameKind.ready, '');
let runs = 0;
for (const request of requests()) {
  await run(request);
  scripts.restoreAhead();
  checks.restoreAhead();
  runs += 1;
  if (runs % runsPerTurn === 0) await turn();
}
