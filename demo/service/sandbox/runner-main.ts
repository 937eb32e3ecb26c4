import { writeSync } from 'node:fs';
import { encodeFrame, FrameReader } from './frames.ts';
import { Logs } from './logs.ts';
import { mebibyte, pluginError, runLimits } from './outcome.ts';
import type { RunEnd } from './outcome.ts';
import { frameKind } from './protocol.ts';
import type { FrameKind, RunRequest } from './protocol.ts';
import { ScriptRunner } from './script-runner.ts';
import { WasmRunner } from './wasm-runner.ts';

// The program of a runner process: reads runs from standard input and writes how they went to standard output.

const output = 1;

/** Writes at once, so that what a run logged is out before it may have to be killed. */
function send(kind: FrameKind, text: string): void {
  const frame = encodeFrame(kind, text);
  for (let sent = 0; sent < frame.length;) sent += writeSync(output, frame, sent);
}

const scripts = new ScriptRunner();
const modules = new WasmRunner();

async function run({ hash, program, input }: RunRequest): Promise<void> {
  const deadline = performance.now() + runLimits.time;
  const logs = new Logs((entry) => send(frameKind.log, JSON.stringify(entry)));
  const isScript = program ? program.kind === 'script' : scripts.has(hash);
  if (!program && !isScript && !modules.has(hash)) {
    send(frameKind.missing, '');
    return;
  }
  let end: RunEnd;
  try {
    end = isScript
      ? await scripts.run(hash, program?.kind === 'script' ? program : undefined, input, deadline, logs)
      : modules.run(hash, program?.kind === 'wasm' ? program : undefined, input, logs);
  } catch (error) {
    end = { error: pluginError(`The engine failed: ${error instanceof Error ? error.message : String(error)}`) };
  }
  send(frameKind.end, JSON.stringify(end));
}

// An input is JSON, in which a character can take six bytes; a program comes with it.
const frames = new FrameReader(16 * mebibyte);

try {
  await scripts.warmUp();
  process.stdin.on('data', (chunk: Buffer) => {
    for (const { text } of frames.push(chunk)) void run(JSON.parse(text) as RunRequest);
  });
  // The service has gone.
  process.stdin.on('end', () => process.exit());
  send(frameKind.ready, '');
} catch (error) {
  send(frameKind.broken, error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
