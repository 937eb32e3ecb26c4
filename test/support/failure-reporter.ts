import { basename, relative } from 'node:path';
import { inspect } from 'node:util';
import type { TestEvent } from 'node:test/reporters';

/** How much of what a process printed last is kept, in characters. */
const MAX_PRINTED = 4000;

/**
 * A reporter for `node --test` that writes only failures, each with its error. The long list of what passed hides them, so
 * they are printed once more at the end of a run. Of a process that died, it writes how, and what it printed last.
 */
export default async function* reportFailures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Map<string, string>();
  for await (const event of events) {
    if (event.type === 'test:stderr') {
      const { file, message } = event.data;
      printed.set(file, ((printed.get(file) ?? '') + message).slice(-MAX_PRINTED));
    }
    if (event.type !== 'test:fail') continue;
    const { name, file = '', line = 0, details } = event.data;
    const { failureType, cause, exitCode, signal } = details.error as ProcessError;
    // A group fails with the tests in it, which are reported themselves.
    if (failureType === 'subtestsFailed') continue;
    if (exitCode === undefined)
      yield `\n✖ ${name} (${relative(process.cwd(), file)}:${line})\n${inspect(cause ?? details.error)}\n`;
    else
      yield `\n✖ The process ${basename(name)} ended with ${signal ?? `exit code ${exitCode}`}:\n${printed.get(name) ?? ''}\n`;
  }
}

/** The error of a test, or of a process, which alone has an exit code: `null` where a signal ended it. */
interface ProcessError extends Error {
  failureType?: string;
  exitCode?: number | null;
  signal?: string | null;
}
