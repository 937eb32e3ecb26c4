import { readSync, writeSync } from 'node:fs';
import { errorMessage } from '../error-message.ts';
import { encodeFrame, FrameReader, partsOfFrame } from '../processes/frames.ts';
import { Logs } from './logs.ts';
import { pluginError, RunFailure } from './outcome.ts';
import { mebibyte } from '../units.ts';
import { applyRunLimits, runLimits, setRunLimits } from './run-limits.ts';
import {
  decodeJob,
  decodeResume,
  encodeCall,
  encodeSuspended,
  encodeText,
  frameKind,
  kindsOfBytes,
} from './protocol.ts';
import type { CallLimits, FrameKind, RunJob } from './protocol.ts';
import { checkNamespace } from './namespace-check.ts';
import { violationError, SchemaChecks } from './schema-checks.ts';
import type { CompiledProgram } from '../plugins/program.ts';
import type { CallHost, ScriptInput, ScriptOutcome } from './script/script-run.ts';
import { ScriptRunner } from './script/script-runner.ts';
import { AssemblyScriptRunner } from './wasm/assemblyscript-runner.ts';

/*
 * The program of a runner process: reads jobs from standard input, and writes their outcomes to standard output. Both use
 * synchronous functions of the file system: a runner has nothing else to do, and they are the quickest.
 */

const inputFile = 0;
const outputFile = 1;

/** Sends a frame at once, so that logs arrive even if the run has to be killed. */
const send = (kind: FrameKind, content: string | Uint8Array): void => write(encodeFrame(kind, content));

function write(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) sent += writeSync(outputFile, bytes, sent);
}

const [time, memory] = process.argv.slice(2).map(Number);
if (time && memory) setRunLimits({ time, memory });

const scripts = new ScriptRunner();
const modules = new AssemblyScriptRunner();

const checks = new SchemaChecks();

type Job = RunJob | ReturnType<typeof decodeResume>;

async function doJob(job: Job): Promise<void> {
  const { hash, isTyped } = job;
  applyRunLimits(job.limits);
  const isResumed = 'suspended' in job;
  const began = performance.now();
  const deadline = began + runLimits.time - (isResumed ? job.spent : 0);
  const kind = job.program?.kind ?? knownKind(hash);
  if (!kind || (isTyped && !job.program && !checks.has(hash))) {
    send(frameKind.missing, '');
    return;
  }
  // The schemas are cached by `checks`, and the rest of the program by the runner of its kind.
  const { types, ...program } = job.program ?? {};
  if (types) checks.add(hash, types);
  const logs = new Logs(
    (entry) => send(frameKind.log, encodeText(entry)),
    isResumed ? job.logged : undefined,
  );
  const calls = job.calls && callHost(job.calls);
  let outcome: ScriptOutcome;
  try {
    const run = { hash, program: job.program && (program as CompiledProgram), kind, logs, deadline, calls };
    const input = isResumed ? job : { text: job.input };
    outcome = isTyped && kind !== 'check' ? await runChecked(run, input) : await runOnce(run, input, false);
  } catch (error) {
    outcome = {
      error:
        error instanceof RunFailure ? error.error : pluginError(`The engine failed: ${errorMessage(error)}`),
    };
  }
  const took = calls ? [encodeFrame(frameKind.took, String(performance.now() - began))] : [];
  // In one piece, which wakes the service once.
  write(Buffer.concat([...took, ...partsOfOutcome(outcome)]));
}

function partsOfOutcome(outcome: ScriptOutcome): readonly Uint8Array[] {
  if ('suspended' in outcome) return partsOfFrame(frameKind.suspended, [encodeSuspended(outcome.suspended)]);
  return [
    'result' in outcome
      ? encodeFrame(frameKind.result, encodeText(outcome.result))
      : encodeFrame(frameKind.error, JSON.stringify(outcome.error)),
  ];
}

/** Sends what a run calls to the service at once, within what the run may still do. */
function callHost({ calls, timers }: CallLimits): CallHost {
  return {
    call(id, head, body) {
      if (calls <= 0) return false;
      calls -= 1;
      send(frameKind.call, encodeCall(id, head, body));
      return true;
    },
    startTimer(id, delay) {
      if (timers <= 0) return false;
      timers -= 1;
      send(frameKind.timer, JSON.stringify([id, delay]));
      return true;
    },
    stopTimer: (id) => send(frameKind.stopTimer, String(id)),
  };
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
  readonly calls: CallHost | undefined;
}

function knownKind(hash: string): CompiledProgram['kind'] | undefined {
  if (scripts.has(hash)) return 'script';
  return modules.has(hash) ? 'wasm' : undefined;
}

/** Runs a program, and checks its input before and its output after it. The time of the checks counts as the run's. */
async function runChecked(run: PreparedRun, input: ScriptInput): Promise<ScriptOutcome> {
  const { hash, deadline } = run;
  const wrongInput = 'text' in input && (await checks.check(hash, 'input', input.text, deadline));
  if (wrongInput) return { error: violationError('input', wrongInput) };
  const outcome = await runOnce(run, input, true);
  if (!('result' in outcome)) return outcome;
  const wrongOutput = await checks.check(hash, 'output', outcome.result, deadline);
  return wrongOutput ? { error: violationError('output', wrongOutput) } : outcome;
}

async function runOnce(run: PreparedRun, input: ScriptInput, isJson: boolean): Promise<ScriptOutcome> {
  const { hash, program, kind, logs, deadline, calls } = run;
  if (kind === 'script') {
    const script = program?.kind === 'script' ? program : undefined;
    return scripts.take({ hash, program: script, deadline, logs, isJson, calls }, input);
  }
  if (!('text' in input)) throw new Error('Only scripts wait.');
  if (kind === 'check') {
    return { result: JSON.stringify(await checkNamespace(checks, hash, input.text, deadline)) };
  }
  return modules.run(hash, program?.kind === 'wasm' ? program : undefined, input.text, logs);
}

// Large enough for an input that JSON has escaped, which makes it up to six times as long, with a program and its schemas; or for
// the memory of a run with all responses that it waited for.
const frames = new FrameReader(1024 * mebibyte, kindsOfBytes);
const chunk = Buffer.allocUnsafe(65_536);

/** The jobs, one after the other, until the service has gone. */
function* receiveJobs(): Generator<Job> {
  for (let size = readSync(inputFile, chunk); size > 0; size = readSync(inputFile, chunk)) {
    for (const { text, bytes } of frames.push(Buffer.from(chunk.subarray(0, size)))) {
      yield bytes ? decodeResume(bytes) : decodeJob(text);
    }
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
