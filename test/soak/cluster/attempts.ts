import { setTimeout } from 'node:timers/promises';
import type { HttpResponse, Connection, Sent } from '../../support/connection.ts';
import type { Tally } from '../tally.ts';

/** A response of the service, and whether an earlier try may have been done without one. */
export interface RetriedResponse extends HttpResponse {
  readonly wasRetried: boolean;
}

/** What no response may take longer than, in ms: no request hangs past its limits. */
const longestRequest = 60_000;

/** How long a client waits without a `Retry-After`, in ms. */
const pause = 200;

/**
 * Asks until the service answers, as a client does: again after a broken connection, after 502 of the proxy, and after 503 or
 * 429 once `Retry-After` is over. Each is counted by its name; 503 and 429 without that header are faults. `what` is what
 * tries and successes are counted by.
 */
export async function sendUntilAnswered(
  connection: Connection,
  tally: Tally,
  what: string,
  [method, path, sent]: [method: string, path: string, sent: Sent],
): Promise<RetriedResponse> {
  for (let wasRetried = false; ; wasRetried = true) {
    tally.count(`tries of ${what}`);
    const began = performance.now();
    const response = await connection.send(method, path, sent).catch(() => undefined);
    const took = performance.now() - began;
    if (took > longestRequest) tally.fault(`${what}: answered after ${Math.round(took)} ms`);
    if (!response || response.status === 502) {
      tally.count(response ? '502 of the proxy' : 'broken connections');
      await setTimeout(pause);
      continue;
    }
    if (response.status !== 503 && response.status !== 429) {
      tally.time(what, took);
      return { ...response, wasRetried };
    }
    const code = /"code":"([\w-]+)"/.exec(response.body)?.[1] ?? 'without a code';
    tally.count(`${response.status} ${code}`);
    const wait = /^\d+$/.exec(response.headers['retry-after'] ?? '')?.[0];
    if (wait === undefined) tally.fault(`${what}: ${response.status} without Retry-After: ${response.body}`);
    await setTimeout(Number(wait ?? 1) * 1000);
  }
}
