import { readSync, writeSync } from 'node:fs';
import { errorMessage } from '../error-message.ts';
import { encodeFrame, FrameReader } from '../processes/frames.ts';
import { Logs } from './logs.ts';
import { pluginError, RunFailure } from './outcome.ts';
import { mebibyte } from '../units.ts';
import { runLimits, setRunLimits } from './run-limits.ts';
import type { RunOutcome } from './outcome.ts';
import { decodeJob, encodeText, frameKind } from './protocol.ts';
import type { FrameKind, RunJob } from './protocol.ts';
import { checkNamespace } from './namespace-check.ts';
import { violationError, SchemaChecks } from './schema-checks.ts';
import type { CompiledProgram } from '../plugins/program.ts';
import { ScriptRunner } from './script-runner.ts';
import { AssemblyScriptRunner } from './assemblyscript-runner.ts';

/*
 * The program of a runner process: reads jobs from standard input, and writes their outcomes to standard output. Both use
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
const modules = new AssemblyScriptRunner();

const checks = new SchemaChecks();

async function doJob(job: RunJob): Promise<void> {
  const { hash, isTyped } = job;
  const deadline = performance.now() + runLimits.time;
  const kind = job.program?.kind ?? knownKind(hash);
  if (!kind || (isTyped && !job.program && !checks.has(hash))) {
    send(frameKind.missing, '');
    return;
  }
  // The schemas are cached by `checks`, and the rest of the program by the runner of its kind.
  const { types, ...program } = job.program ?? {};
  if (types) checks.add(hash, types);
  const logs = new Logs((entry) => send(frameKind.log, encodeText(entry)));
  let outcome: RunOutcome;
  try {
    const run = { hash, program: job.program && (program as CompiledProgram), kind, logs, deadline };
    outcome =
      isTyped && kind !== 'check' ? await runChecked(run, job.input) : await runOnce(run, job.input, false);
  } catch (error) {
    outcome = {
      error:
        error instanceof RunFailure ? error.error : pluginError(`The engine failed: ${errorMessage(error)}`),
    };
  }
  if ('result' in outcome) send(frameKind.result, encodeText(outcome.result));
  else send(frameKind.error, JSON.stringify(outcome.error));
}

/** The run of a job, with its logs and deadline. */
interface PreparedRun {
  readonly hash: string;
  /** The program, where it is not in the cache. */
  readonly program: CompiledProgram | undefined;
  readonly kind: CompiledProgram['kind'];
  readonly logs: Logs;
  /** By `performance.now()`. */
  readonly deadline: number;
}

function knownKind(hash: string): CompiledProgram['kind'] | undefined {
  if (scripts.has(hash)) return 'script';
  return modules.has(hash) ? 'wasm' : undefined;
}

/** Runs a program, and checks its input before and its output after it. The time of the checks counts as the run's. */
async function runChecked(run: PreparedRun, text: string): Promise<RunOutcome> {
  const { hash, deadline } = run;
  const wrongInput = await checks.check(hash, 'input', text, deadline);
  if (wrongInput) return { error: violationError('input', wrongInput) };
  const outcome = await runOnce(run, text, true);
  if ('error' in outcome) return outcome;
  const wrongOutput = await checks.check(hash, 'output', outcome.result, deadline);
  return wrongOutput ? { error: violationError('output', wrongOutput) } : outcome;
}

async function runOnce(run: PreparedRun, text: string, isJson: boolean): Promise<RunOutcome> {
  const { hash, program, kind, logs, deadline } = run;
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

/** The jobs, one after the other, until the service has gone. */
function* receiveJobs(): Generator<RunJob> {
  for (let size = readSync(input, chunk); size > 0; size = readSync(input, chunk)) {
    for (const { text } of frames.push(Buffer.from(chunk.subarray(0, size)))) yield decodeJob(text);
  }
}

/** Lets the event loop turn, so that Node can do deferred work, such as freeing memory. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** After how many jobs the event loop turns: often enough, and without a cost for the single job. */
const jobsPerTurn = 32;

try {
  await scripts.warmUp();
} catch (error) {
  send(frameKind.broken, errorMessage(error));
  process.exit(1);
}
send(frameKind.ready, '');
let jobsDone = 0;
for (const job of receiveJobs()) {
  await doJob(job);
  scripts.restoreAhead();
  checks.restoreAhead();
  jobsDone += 1;
  if (jobsDone % jobsPerTurn === 0) await turn();
}
