import type { TestEvent } from 'node:test/reporters';

/** A reporter for `node --test` that writes how many seconds each file took, a line for each, the slowest first. */
export default async function* reportDurations(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seconds = new Map<string, number>();
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, nesting, details } = event.data;
    // `runInTurn` makes a test of each file.
    if (nesting === 0) seconds.set(name, details.duration_ms / 1000);
  }
  for (const [file, duration] of [...seconds].toSorted(([, a], [, b]) => b - a)) {
    yield `${duration.toFixed(1).padStart(6)} ${file}\n`;
  }
}
