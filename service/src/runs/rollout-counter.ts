import { unattendedStamp, writeAudit } from '../audit/entries.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { isToStop } from '../plugins/rollout.ts';
import { lockPlugin } from '../storage/db.ts';
import { StorageUnavailableError } from '../storage/errors.ts';
import type { Storage } from '../storage/storage.ts';
import { addRolloutCounts, endRollout, findRollout, listStoppable } from '../storage/tables/rollouts.ts';
import type { RolloutCount } from '../storage/tables/rollouts.ts';
import { WriteBehind } from '../storage/write-behind.ts';

/** How long runs are collected before they are counted in the database, in ms. */
const interval = 1000;

/** How many sides of rollouts are held while the database is away. */
const maxSides = 20_000;

export interface RolloutCounterOptions {
  readonly now: () => number;
  /** Called with the error when runs could not be counted, other than because the database is away. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Counts the runs of rollouts, and ends those with too many failures. Runs do not wait for it: they are summed up in memory, and
 * written in one statement every second.
 */
export class RolloutCounter {
  readonly #storage: Storage;
  readonly #options: RolloutCounterOptions;
  readonly #sides = new Map<string, RolloutCount>();
  readonly #writer = new WriteBehind({
    interval,
    write: () =>
      this.#write().catch((error: unknown) => {
        if (!(error instanceof StorageUnavailableError)) this.#options.onError?.(error);
      }),
    hasWork: () => this.#sides.size > 0,
  });

  constructor(storage: Storage, options: RolloutCounterOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  count(run: RolloutCount): void {
    this.#add(run);
    this.#writer.schedule();
  }

  /** Writes what has been counted, and stops. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  /** Writes what has been counted, and ends the rollouts that have to end. */
  async #write(): Promise<void> {
    const counts = [...this.#sides.values()];
    this.#sides.clear();
    try {
      await addRolloutCounts(this.#storage.db, counts);
    } catch (error) {
      if (error instanceof StorageUnavailableError) for (const one of counts) this.#add(one);
      throw error;
    }
    const plugins = [...new Set(counts.map(({ pluginId }) => pluginId))];
    for (const plugin of await listStoppable(this.#storage.db, plugins)) await this.#stopIfFailing(plugin);
  }

  async #stopIfFailing(plugin: PluginKey): Promise<void> {
    if (!mustStop(await findRollout(this.#storage.db, plugin))) return;
    const at = this.#options.now();
    await this.#storage.transaction(async (db) => {
      await lockPlugin(db, plugin);
      const rollout = await findRollout(db, plugin);
      if (!rollout || !mustStop(rollout)) return;
      const version = await endRollout(db, plugin, 'failures', at);
      const { runs, failures, live } = rollout;
      await writeAudit(db, {
        action: 'rollout.stopped',
        target: plugin,
        version,
        details: { reason: 'failures', runs, failures, live },
        ...unattendedStamp('service', at),
      });
    });
  }

  #add(more: RolloutCount): void {
    const key = `${more.pluginId} ${more.number} ${more.isCandidate}`;
    const before = this.#sides.get(key);
    if (!before && this.#sides.size >= maxSides) return;
    this.#sides.set(key, {
      ...more,
      runs: (before?.runs ?? 0) + more.runs,
      failures: (before?.failures ?? 0) + more.failures,
    });
  }
}

const mustStop = (rollout: Awaited<ReturnType<typeof findRollout>>): boolean =>
  rollout?.stop !== undefined && !rollout.stopped && isToStop(rollout.stop, rollout, rollout.live);
