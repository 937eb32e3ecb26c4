import { setTimeout } from 'node:timers/promises';
import type { Answer, Connection, Sent } from '../connection.ts';
import type { Tally } from '../tally.ts';

/** An answer of the service, and whether an earlier try may have been done without one. */
export interface Answered extends Answer {
  readonly wasRetried: boolean;
}

/** What no answer may take longer than, in ms: no request hangs past its limits. */
const longestAnswer = 60_000;

/** How long a client waits where nobody told it how long, in ms. */
const pause = 200;

/**
 * Asks until the service answers, as a client does: again after a broken connection, after 502 of the proxy, and after 503 or
 * 429 once `Retry-After` is over. Each is counted by its name; 503 and 429 without that header are faults. `what` is what
 * tries and successes are counted by.
 */
export async function askUntilAnswered(
  connection: Connection,
  tally: Tally,
  what: string,
  [method, path, sent]: [method: string, path: string, sent: Sent],
): Promise<Answered> {
  for (let wasRetried = false; ; wasRetried = true) {
    tally.count(`tries of ${what}`);
    const began = performance.now();
    const answer = await connection.send(method, path, sent).catch(() => undefined);
    const took = performance.now() - began;
    if (took > longestAnswer) tally.fault(`${what}: answered after ${Math.round(took)} ms`);
    if (!answer || answer.status === 502) {
      tally.count(answer ? '502 of the proxy' : 'broken connections');
      await setTimeout(pause);
      continue;
    }
    if (answer.status !== 503 && answer.status !== 429) {
      tally.time(what, took);
      return { ...answer, wasRetried };
    }
    const code = /"code":"([\w-]+)"/.exec(answer.body)?.[1] ?? 'without a code';
    tally.count(`${answer.status} ${code}`);
    const wait = /^\d+$/.exec(answer.headers['retry-after'] ?? '')?.[0];
    if (wait === undefined) tally.fault(`${what}: ${answer.status} without Retry-After: ${answer.body}`);
    await setTimeout(Number(wait ?? 1) * 1000);
  }
}
