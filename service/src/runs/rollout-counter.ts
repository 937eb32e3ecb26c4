import { unattendedStamp, writeAudit } from '../audit/entries.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { isToStop } from '../plugins/rollout.ts';
import { lockPlugin } from '../storage/db.ts';
import { StorageUnavailableError } from '../storage/errors.ts';
import type { Storage } from '../storage/storage.ts';
import { addRolloutCounts, endRollout, findRollout, listStoppable } from '../storage/tables/rollouts.ts';
import type { RolloutCount } from '../storage/tables/rollouts.ts';
import { WriteBehind } from '../storage/write-behind.ts';

/** How many rollouts are ended at once. */
const stopsAtOnce = 4;

/** How many sides of rollouts are held while the database is away. */
const maxSides = 20_000;

export interface RolloutCounterOptions {
  readonly now: () => number;
  /** How long runs are collected before they are counted in the database, in ms; default 1000. */
  readonly interval?: number;
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
  /** The ends of rollouts that are being written, by the numbers of their plugins. */
  readonly #stopping = new Map<number, Promise<void>>();
  readonly #writer: WriteBehind;

  constructor(storage: Storage, options: RolloutCounterOptions) {
    this.#storage = storage;
    this.#options = options;
    this.#writer = new WriteBehind({
      interval: options.interval ?? 1000,
      write: () => this.#write().catch(this.#report),
      hasWork: () => this.#sides.size > 0,
    });
  }

  count(run: RolloutCount): void {
    this.#add(run);
    this.#writer.schedule();
  }

  /** Writes what has been counted, and stops. */
  async close(): Promise<void> {
    await this.#writer.close();
    await Promise.all(this.#stopping.values());
  }

  readonly #report = (error: unknown) => {
    if (!(error instanceof StorageUnavailableError)) this.#options.onError?.(error);
  };

  /** Writes what has been counted, and ends the rollouts that have to end. */
  async #write(): Promise<void> {
    const counts = [...this.#sides.values()];
    this.#sides.clear();
    await this.#orCountAgain(counts, () => addRolloutCounts(this.#storage.db, counts));
    // To be counted again without runs, so that the rollouts are looked at again.
    const counted = counts.map((one) => ({ ...one, runs: 0, failures: 0 }));
    await this.#orCountAgain(counted, async () => {
      const plugins = [...new Set(counts.map(({ pluginId }) => pluginId))];
      for (const plugin of await listStoppable(this.#storage.db, plugins)) {
        const { pluginId } = plugin;
        if (this.#stopping.has(pluginId)) continue;
        if (!mustStop(await findRollout(this.#storage.db, plugin))) continue;
        // Not one after the other, because a plugin may be locked for seconds, in which the rollouts of others have to end.
        while (this.#stopping.size >= stopsAtOnce) await Promise.race(this.#stopping.values());
        const own = counted.filter((one) => one.pluginId === pluginId);
        const stopping = this.#orCountAgain(own, () => this.#stopIfFailing(plugin))
          .catch(this.#report)
          .finally(() => this.#stopping.delete(pluginId));
        this.#stopping.set(pluginId, stopping);
      }
    });
  }

  async #orCountAgain(counts: readonly RolloutCount[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StorageUnavailableError) for (const one of counts) this.count(one);
      throw error;
    }
  }

  async #stopIfFailing(plugin: PluginKey): Promise<void> {
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
