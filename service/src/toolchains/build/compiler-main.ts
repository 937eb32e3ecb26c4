import { read, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Language } from '../language.ts';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import { channel, encodeReport, frameKind, sourceLimit } from './compiler-protocol.ts';
import type { BuildEnd } from './limits.ts';

/*
 * The program of a compiler's process: compiles the sources that it is sent, one after the other. Once it has been idle for a
 * while, it gives back the memory that builds left behind; before, that would make the next build several times slower.
 */

/** How long after a build memory is given back, in ms. */
const idleTime = 5000;

/** From how many bytes on it is given back at once, so that a burst of builds does not pile it up. */
const crowded = 320 * 2 ** 20;

const collectGarbage = () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });

function send(kind: number, text: string): void {
  const frame = encodeFrame(kind, text);
  for (let sent = 0; sent < frame.length;) sent += writeSync(channel, frame, sent);
}

const reasonOf = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

const readChannel = promisify(read);

/** The sources, until the service has gone. */
async function* sources(): AsyncGenerator<string> {
  const frames = new FrameReader(sourceLimit);
  for (;;) {
    const idle = setTimeout(collectGarbage, idleTime);
    const { bytesRead, buffer } = await readChannel(channel, Buffer.allocUnsafe(65_536), 0, 65_536, null);
    clearTimeout(idle);
    if (!bytesRead) return;
    for (const { text } of frames.push(buffer.subarray(0, bytesRead))) yield text;
  }
}

try {
  const { default: language } = (await import(process.argv[2] ?? '')) as { default: Language };
  const compile = await language.loadCompiler();
  // The first build is many times slower than the next: it is not the user's.
  const trial = await compile(language.template({ pluginName: 'trial', namespace: 'trial' }).contents);
  if (!trial.program) throw new Error(trial.diagnostics.map(({ message }) => message).join('; '));
  send(frameKind.ready, '');
  for await (const source of sources()) {
    let end: BuildEnd;
    try {
      end = { compiled: await compile(source) };
    } catch (error) {
      end = { failed: `The compiler failed on this source. ${reasonOf(error)}` };
    }
    const memory = process.memoryUsage.rss();
    send(frameKind.end, encodeReport({ end, memory }));
    if (memory > crowded) collectGarbage();
  }
  process.exit();
} catch (error) {
  send(frameKind.broken, reasonOf(error));
  process.exit(1);
}
