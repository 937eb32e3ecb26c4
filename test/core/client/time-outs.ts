import assert from 'node:assert/strict';
import { test } from 'node:test';

/** A client's options that say how long one try may take. */
interface TimeOptions {
  timeout: number | undefined;
  fetch: typeof fetch;
}

/** Tests how long calls of a client may take, in ms: by default, and where an option says it. */
export function testTimeouts<Client>(
  create: (options: TimeOptions) => Client,
  calls: readonly [name: string, call: (client: Client) => Promise<unknown>, limit: number][],
): void {
  for (const [name, call, limit] of calls) {
    test(`${name} times out after ${limit} ms by default, or after \`timeout\``, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      for (const timeout of [undefined, 70]) {
        const client = create({
          timeout,
          fetch: () => {
            queueMicrotask(() => t.mock.timers.tick(timeout ?? limit));
            return new Promise(() => undefined);
          },
        });
        const message = new RegExp(` ${timeout ?? limit} ms$`);
        await assert.rejects(call(client), { name: 'TimeoutError', message });
      }
    });
  }
}
