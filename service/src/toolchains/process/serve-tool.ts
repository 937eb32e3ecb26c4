import { read, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import { channel, frameKind } from './tool-protocol.ts';

/*
 * The main loop of a tool's process: does the work that it is sent, one piece after the other. Once it has been idle for a
 * while, it gives back the memory that work left behind; before, that would make the next piece several times slower.
 */

/** How long after its work memory is given back, in ms. */
const idleTime = 5000;

/** From how many bytes on it is given back at once, so that a burst of work does not pile it up. */
const crowded = 320 * 2 ** 20;

/** Does one piece of work; both are texts that the two sides have agreed on. Should not throw. */
export type Work = (text: string) => string | Promise<string>;

const collectGarbage = () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });

function send(kind: number, text: string): void {
  const frame = encodeFrame(kind, text);
  for (let sent = 0; sent < frame.length;) sent += writeSync(channel, frame, sent);
}

export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

const readChannel = promisify(read);

/** What is sent, until the service has gone. */
async function* received(limit: number): AsyncGenerator<string> {
  const frames = new FrameReader(limit);
  for (;;) {
    const idle = setTimeout(collectGarbage, idleTime);
    const { bytesRead, buffer } = await readChannel(channel, Buffer.allocUnsafe(65_536), 0, 65_536, null);
    clearTimeout(idle);
    if (!bytesRead) return;
    for (const { text } of frames.push(buffer.subarray(0, bytesRead))) yield text;
  }
}

/**
 * Serves until the service has gone, and ends the process then.
 * @param load makes the tool ready, a trial included: the first work is many times slower than the next
 * @param limit the longest text to take, in bytes
 */
export async function serveTool(load: () => Promise<Work>, limit: number): Promise<never> {
  try {
    const work = await load();
    send(frameKind.ready, '');
    for await (const text of received(limit)) {
      send(frameKind.done, await work(text));
      if (process.memoryUsage.rss() > crowded) collectGarbage();
    }
    process.exit();
  } catch (error) {
    send(frameKind.broken, reasonOf(error));
    process.exit(1);
  }
}
