import { readSync, writeSync } from 'node:fs';
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
 * The program of a runner process: reads runs from standard input and writes how they went to standard output. Both by
 * the file system's functions, which wait: a runner has nothing else to do, and this is the quickest way.
 */

const input = 0;
const output = 1;

/** Writes at once, so that what a run logged is out before it may have to be killed. */
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
  // Schemas are kept by who checks with them, and nowhere else.
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
        error instanceof RunFailure
          ? error.error
          : pluginError(`The engine failed: ${error instanceof Error ? error.message : String(error)}`),
    };
  }
  if ('result' in outcome) send(frameKind.result, encodeText(outcome.result));
  else send(frameKind.error, JSON.stringify(outcome.error));
}

interface RunJob {
  readonly hash: string;
  /** Where it is not known here. */
  readonly program: CompiledProgram | undefined;
  readonly kind: CompiledProgram['kind'];
  readonly logs: Logs;
  readonly deadline: number;
}

function knownKind(hash: string): CompiledProgram['kind'] | undefined {
  if (scripts.has(hash)) return 'script';
  return modules.has(hash) ? 'wasm' : undefined;
}

/** Checks what goes in and what comes out, as a part of the run. */
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

// An input may be escaped, which makes it up to six times as long; a program may come with it, and its schemas.
const frames = new FrameReader(24 * mebibyte);
const chunk = Buffer.allocUnsafe(65_536);

/** The requests, one after the other, until the service has gone. */
function* requests(): Generator<RunRequest> {
  for (let size = readSync(input, chunk); size > 0; size = readSync(input, chunk)) {
    for (const { text } of frames.push(Buffer.from(chunk.subarray(0, size)))) yield decodeRequest(text);
  }
}

/** Lets the JavaScript engine of this program do what it put off, such as freeing memory. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** After how many runs it gets to that: often enough, and no cost for the single run. */
const runsPerTurn = 32;

try {
  await scripts.warmUp();
} catch (error) {
  send(frameKind.broken, error instanceof Error ? error.message : String(error));
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
