import { relative } from 'node:path';
import { inspect } from 'node:util';
import type { TestEvent } from 'node:test/reporters';

/**
 * A reporter for `node --test` that writes only failures, each with its error. The long list of what passed hides them, so
 * they are printed once more at the end of a run.
 */
export default async function* reportFailures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:fail') continue;
    const { name, file = '', line = 0, details } = event.data;
    const { failureType, cause } = details.error as Error & { failureType?: string };
    // A group fails with the tests in it, which are reported themselves.
    if (failureType === 'subtestsFailed') continue;
    yield `\n✖ ${name} (${relative(process.cwd(), file)}:${line})\n${inspect(cause ?? details.error)}\n`;
  }
}
