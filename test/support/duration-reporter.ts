import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A reporter for `node --test` that writes how many seconds each file took, a line for each, the slowest first. */
export default async function* reportDurations(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seconds = new Map<string, number>();
  for await (const event of events) {
    // There is a summary for each file, and one of all files, which names none.
    if (event.type !== 'test:summary' || event.data.file === undefined) continue;
    seconds.set(event.data.file, event.data.duration_ms / 1000);
  }
  for (const [file, duration] of [...seconds].toSorted(([, a], [, b]) => b - a)) {
    yield `${duration.toFixed(1).padStart(6)} ${relative(process.cwd(), file)}\n`;
  }
}
