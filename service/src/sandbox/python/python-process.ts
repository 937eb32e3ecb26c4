import type { Duplex } from 'node:stream';
import { startIsolated } from '../../processes/isolated-process.ts';
import type { IsolatedProcess } from '../../processes/isolated-process.ts';
import { moduleUrl } from '../../processes/module-url.ts';
import { codeOf } from '../../processes/package-folders.ts';
import { mebibyte } from '../../units.ts';
import type { AdjustableLimits } from '../run-limits.ts';
import { stackOptions } from '../runner-limits.ts';
import { RunnerProcess } from '../runner-process.ts';
import { imageDescriptor, longestImage } from './python-protocol.ts';

const main = moduleUrl('./python-main', import.meta.url);

/** What the system lets a runner allocate besides the memory of runs, in bytes: the interpreter's, twice while it starts. */
const ownMemory = 512 * mebibyte;

/** How long a runner may take to come up, in ms. The first takes 2 s on a quiet machine, the later ones 0.3 s. */
const startTime = 120_000;

/** The memory of an interpreter that has started, once one has. It comes from a runner that has not run any plugin yet. */
export interface PythonImage {
  bytes?: Buffer;
}

/** A process that runs Python plugins. The service does not watch its memory: the system's limit holds. */
export class PythonProcess extends RunnerProcess {
  /** @param limits.memory bytes that a run may take beyond the interpreter's own memory */
  constructor(limits: AdjustableLimits, image: PythonImage) {
    super(
      { limits, watchedMemory: Infinity, recycleMemory: Infinity },
      { start: () => startRunner(limits, image), startTime, hasCalls: false, keepsAlive: true },
    );
  }
}

function startRunner({ time, memory }: AdjustableLimits, image: PythonImage): IsolatedProcess {
  const started = startIsolated({
    file: main,
    args: [String(time), String(memory), String(image.bytes?.length ?? 0)],
    readable: codeOf(['lru-cache', 'quickjs-wasi', 'pyodide']),
    // The limit of the heap stays above the interpreter's memory: else each growth of that would make the engine collect garbage.
    memoryLimit: ownMemory + 2 * memory,
    nodeOptions: stackOptions,
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
  });
  const channel = started.child.stdio[imageDescriptor] as Duplex;
  channel.on('error', () => {});
  if (image.bytes) channel.end(image.bytes);
  else readImage(channel, (bytes) => (image.bytes ??= bytes));
  return started;
}

/** Reads the memory of an interpreter: its size in bytes, then these bytes. */
function readImage(channel: Duplex, onImage: (bytes: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let needed = 4;
  channel.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (needed === 4 && length >= 4) needed += Buffer.concat(chunks).readUInt32LE();
    if (needed > longestImage) {
      channel.destroy();
      return;
    }
    if (needed === 4 || length < needed) return;
    onImage(Buffer.concat(chunks).subarray(4, needed));
    // The channel is kept as long as the process, and would keep a second copy.
    chunks.length = 0;
    channel.destroy();
  });
}
