import { readSync, writeSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { errorMessage } from '../../error-message.ts';
import type { Program } from '../../plugins/program.ts';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import { mebibyte } from '../../units.ts';
import { Logs } from '../logs.ts';
import { checkOutput, limitError, pluginError, RunFailure, runErrorCodes } from '../outcome.ts';
import type { RunError, RunOutcome } from '../outcome.ts';
import { decodeJob, encodeText, frameKind } from '../protocol.ts';
import type { FrameKind, RunJob } from '../protocol.ts';
import { applyRunLimits, runLimits, serviceLimits, setRunLimits } from '../run-limits.ts';
import { SchemaChecks, violationError } from '../schema-checks.ts';
import { ClosedCallError, Interpreter } from './interpreter.ts';
import { imageDescriptor, pythonMemoryError } from './python-protocol.ts';

/*
 * The program of a Python runner's process: starts the interpreter, reads jobs from standard input, and writes their outcomes to
 * standard output. The first one hands the interpreter's memory to the service, and the later ones are handed it.
 */

const [time = 0, defaultMemory = 0, imageSize = 0] = process.argv.slice(2).map(Number);
// The limit of memory is that of the engine which checks values by schemas.
setRunLimits({ time, memory: runLimits.memory });

/** The limit of the run in progress, in bytes beyond the interpreter's own memory. */
let memory = defaultMemory;

function send(kind: FrameKind, text: string): void {
  const frame = encodeFrame(kind, text);
  for (let sent = 0; sent < frame.length;) sent += writeSync(1, frame, sent);
}

/** The run in progress. Between runs there are no logs and there is no limit. */
let current: { readonly logs: Logs; readonly deadline: number } | undefined;

const interpreter = await startInterpreter();
const checks = new SchemaChecks();

interface CachedProgram {
  readonly source: string;
  readonly code: Uint8Array;
}
const programs = new LRUCache<string, CachedProgram>({
  maxSize: 16 * mebibyte,
  sizeCalculation: ({ source, code }) => 1000 + 2 * source.length + code.length,
});

async function startInterpreter(): Promise<Interpreter> {
  try {
    const started = await Interpreter.start({
      memory,
      image: imageSize ? readImage(imageSize) : undefined,
      write: (_descriptor, bytes) => current?.logs.add(Buffer.from(bytes).toString()),
      tick: () => {
        if (current && performance.now() > current.deadline) throw new RunFailure(limitError('time-limit'));
      },
    });
    const { code, source } = compile(started, 'def run(input): return input');
    const trial = call(started, { source, code, text: 'works', isJson: false });
    started.restore();
    if (!('result' in trial) || trial.result !== 'works') throw new Error('Python gives a wrong result.');
    if (!imageSize) writeImage(started.image);
    send(frameKind.ready, '');
    return started;
  } catch (error) {
    send(frameKind.broken, errorMessage(error));
    return process.exit(1);
  }
}

function readImage(size: number): Uint8Array {
  const image = new Uint8Array(size);
  for (let at = 0; at < size;) {
    const read = readSync(imageDescriptor, image, at, size - at, null);
    if (!read) throw new Error('The memory of the interpreter did not arrive.');
    at += read;
  }
  return image;
}

function writeImage(image: Uint8Array): void {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(image.length);
  for (const part of [size, image]) {
    for (let sent = 0; sent < part.length;) sent += writeSync(imageDescriptor, part, sent);
  }
}

/** Compiles a source in untouched memory, so that the result depends on it alone. Runs of the program load what comes out. */
function compile(python: Interpreter, source: string): CachedProgram {
  try {
    const reply = python.call({ head: { do: 'compile' }, code: Buffer.from(source), text: Buffer.alloc(0) });
    if (reply[0] !== 0x3d) throw new RunFailure(readError(reply.subarray(1)));
    return { source, code: reply.subarray(1) };
  } finally {
    python.restore();
  }
}

interface Call extends CachedProgram {
  readonly text: string;
  readonly isJson: boolean;
}

/** Runs a program. The memory has to be put back afterwards. */
function call(python: Interpreter, { source, code, text, isJson }: Call): RunOutcome {
  const wide = !text.isWellFormed();
  try {
    const reply = python.call({
      head: { do: 'run', source, ...(wide && { wide }), ...(isJson && { json: true }) },
      code,
      text: Buffer.from(text, wide ? 'utf16le' : 'utf8'),
    });
    const body = reply.subarray(1);
    if (reply[0] === 0x3d) return { result: checkOutput(body.toString()) };
    if (reply[0] === 0x7e) return { result: checkOutput(body.toString('utf16le')) };
    return { error: readError(body) };
  } catch (error) {
    if (error instanceof RunFailure) return { error: error.error };
    if (error instanceof ClosedCallError) throw error;
    if (python.isGrowthRefused) return { error: pythonMemoryError(memory) };
    if (error instanceof RangeError) return { error: limitError('stack-limit') };
    return { error: pluginError('Python cannot go on: the plugin ran out of stack, or damaged its memory.') };
  }
}

/** Reads an error of `boot-source.ts`, which a plugin may have replaced. */
function readError(bytes: Buffer): RunError {
  try {
    const { code, message } = JSON.parse(bytes.toString()) as Record<string, unknown>;
    if (code === 'memory-limit') return pythonMemoryError(memory);
    if (code === 'stack-limit') return limitError('stack-limit');
    if (runErrorCodes.some((known) => known === code) && typeof message === 'string')
      return pluginError(message);
  } catch {
    // Reported below.
  }
  return pluginError('The plugin ended without a result.');
}

async function doJob(job: RunJob): Promise<void> {
  const { hash, isTyped, limits = { time, memory: defaultMemory } } = job;
  if (!job.program && (!programs.has(hash) || (isTyped && !checks.has(hash)))) {
    return send(frameKind.missing, '');
  }
  applyRunLimits({ time: limits.time, memory: serviceLimits.memory });
  memory = limits.memory;
  interpreter.limitMemory(memory);
  const logs = new Logs((entry) => send(frameKind.log, encodeText(entry)));
  current = { logs, deadline: performance.now() + runLimits.time };
  let outcome: RunOutcome;
  let closed: ClosedCallError | undefined;
  try {
    const program = findProgram(hash, job.program);
    outcome = isTyped
      ? await runChecked(hash, program, job.input, current.deadline)
      : call(interpreter, { ...program, text: job.input, isJson: false });
  } catch (error) {
    if (error instanceof ClosedCallError) closed = error;
    outcome = { error: error instanceof RunFailure ? error.error : pluginError(errorMessage(error)) };
  }
  current = undefined;
  // The service replaces a runner that sends this kind.
  if (closed) send(frameKind.broken, closed.message);
  else if ('result' in outcome) send(frameKind.result, encodeText(outcome.result));
  else send(frameKind.error, JSON.stringify(outcome.error));
  if (closed) process.exit(1);
  // After the outcome was sent, so that its caller need not wait.
  interpreter.restore();
}

function findProgram(hash: string, program: Program | undefined): CachedProgram {
  if (program?.types) checks.add(hash, program.types);
  const cached = programs.get(hash);
  if (cached) return cached;
  if (program?.kind !== 'python') throw new Error('A Python runner runs Python only.');
  const compiled = compile(interpreter, program.code);
  programs.set(hash, compiled);
  return compiled;
}

/** Runs a program, and checks its input before and its output after it, in an engine that runs nothing else. */
async function runChecked(
  hash: string,
  program: CachedProgram,
  text: string,
  deadline: number,
): Promise<RunOutcome> {
  const wrongInput = await checks.check(hash, 'input', text, deadline);
  if (wrongInput) return { error: violationError('input', wrongInput) };
  const outcome = call(interpreter, { ...program, text, isJson: true });
  if ('error' in outcome) return outcome;
  const wrongOutput = await checks.check(hash, 'output', outcome.result, deadline);
  return wrongOutput ? { error: violationError('output', wrongOutput) } : outcome;
}

// Large enough for an input that JSON has escaped, which makes it up to six times as long, with a program and its schemas.
const frames = new FrameReader(24 * mebibyte);
const chunk = Buffer.allocUnsafe(65_536);
for (let size = readSync(0, chunk); size > 0; size = readSync(0, chunk)) {
  for (const { text } of frames.push(Buffer.from(chunk.subarray(0, size)))) await doJob(decodeJob(text));
  checks.restoreAhead();
  // Lets Node do deferred work, such as freeing memory.
  await new Promise((resolve) => setImmediate(resolve));
}
