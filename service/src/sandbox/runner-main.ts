import { readSync, writeSync } from 'node:fs';
import { encodeFrame, FrameReader } from '../processes/frames.ts';
import { Logs } from './logs.ts';
import { mebibyte, pluginError, runLimits, setRunLimits } from './outcome.ts';
import type { RunEnd } from './outcome.ts';
import { decodeRequest, encodeText, frameKind } from './protocol.ts';
import type { FrameKind, RunRequest } from './protocol.ts';
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

async function run({ hash, program, input: text }: RunRequest): Promise<void> {
  const deadline = performance.now() + runLimits.time;
  const logs = new Logs((entry) => send(frameKind.log, encodeText(entry)));
  const isScript = program ? program.kind === 'script' : scripts.has(hash);
  if (!program && !isScript && !modules.has(hash)) {
    send(frameKind.missing, '');
    return;
  }
  let end: RunEnd;
  try {
    end = isScript
      ? await scripts.run(hash, program?.kind === 'script' ? program : undefined, text, deadline, logs)
      : modules.run(hash, program?.kind === 'wasm' ? program : undefined, text, logs);
  } catch (error) {
    end = {
      error: pluginError(`The engine failed: ${error instanceof Error ? error.message : String(error)}`),
    };
  }
  if ('result' in end) send(frameKind.result, encodeText(end.result));
  else send(frameKind.error, JSON.stringify(end.error));
}

// An input may be escaped, which makes it up to six times as long; a program may come with it.
const frames = new FrameReader(16 * mebibyte);
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
  runs += 1;
  if (runs % runsPerTurn === 0) await turn();
}
