import { read, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import { channel, frameKind } from './tool-protocol.ts';
import { mebibyte } from '../../units.ts';

/*
 * The main loop of a tool's process: it does the jobs that it is sent, one after the other. Garbage is collected only when the
 * process has been idle for a while, because a collection makes the next job several times slower.
 */

/** After how long without a job garbage is collected, in ms. */
const idleTime = 5000;

/** A process that holds more bytes than this after a job collects garbage at once, so that a burst of jobs cannot pile it up. */
const collectAbove = 320 * mebibyte;

/** Does one job: takes its text and returns the text of the reply. It should not throw, because that ends the process. */
export type JobHandler = (text: string) => string | Promise<string>;

const collectGarbage = () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });

function send(kind: number, text: string): void {
  const frame = encodeFrame(kind, text);
  for (let sent = 0; sent < frame.length;) sent += writeSync(channel, frame, sent);
}

export const describeError = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

const readChannel = promisify(read);

/** The texts of jobs, until the service has gone. */
async function* receiveJobs(limit: number): AsyncGenerator<string> {
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
 * Does jobs until the service has gone, and then ends the process.
 * @param load loads the tool and does a trial job, because the first one is many times slower than the next
 * @param limit the longest text of a job, in bytes
 */
export async function serveTool(load: () => Promise<JobHandler>, limit: number): Promise<never> {
  try {
    const handle = await load();
    send(frameKind.ready, '');
    for await (const text of receiveJobs(limit)) {
      send(frameKind.reply, await handle(text));
      if (process.memoryUsage.rss() > collectAbove) collectGarbage();
    }
    process.exit();
  } catch (error) {
    send(frameKind.broken, describeError(error));
    process.exit(1);
  }
}
