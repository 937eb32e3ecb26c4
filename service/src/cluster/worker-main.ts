import { performance } from 'node:perf_hooks';
import { start } from '../start.ts';
import type { StartedService } from '../start.ts';
import type { Change } from '../storage/changes/change-log.ts';
import { Channel } from './channel.ts';
import type { PrimaryCalls, WorkerCalls } from './channel.ts';

/*
 * One of the processes that answer the requests of a node. It does what the primary asks for, and ends with it: Node exits when the
 * connection to the primary is closed.
 */

// A terminal, and some service managers, send signals to all processes at once. The primary ends its workers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

let starting: Promise<StartedService> | undefined;
let service: StartedService | undefined;
let utilized = performance.eventLoopUtilization();
let onChanges: (changes: readonly Change[]) => void = () => {};

const primary = new Channel<PrimaryCalls, WorkerCalls>(process, {
  async start({ settings, share, port, warns }) {
    const siblings = {
      tell: (changes: readonly Change[]) => primary.call('changes', changes).catch(() => {}),
      onChanges(listener: typeof onChanges) {
        onChanges = listener;
      },
    };
    const beforeListening = () => primary.call('prepared');
    starting = start(settings, { inNode: { share, port, siblings, warns }, beforeListening });
    service = await starting;
  },
  async pulse() {
    const since = utilized;
    utilized = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(utilized, since);
    return { connections: service?.balance?.takeActive() ?? 0, utilization };
  },
  giveUp: async (connections) => service?.balance?.giveUp(connections),
  metrics: async () => (await service?.metrics?.snapshot()) ?? [],
  changes: async (changes) => onChanges(changes),
  async end(how) {
    try {
      // It may listen already, and have requests.
      const started = await starting;
      await (how === 'drain' ? started?.drain() : started?.close());
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
    }
    process.exit();
  },
});
