import type { PluginKey } from '../plugins/plugin-key.ts';
import { StorageUnavailableError } from '../storage/errors.ts';
import type { Storage } from '../storage/storage.ts';
import {
  addRunCounts,
  deleteOldRunCounts,
  findHealthSubscribers,
  setFailing,
} from '../storage/tables/plugin-health.ts';
import type { CountedPlugin, RunCounts } from '../storage/tables/plugin-health.ts';
import { pluginExists } from '../storage/tables/plugins.ts';
import { WriteBehind } from '../storage/write-behind.ts';
import { tellWebhooks } from './outbox.ts';

/** How long runs are counted before the counts are written, in ms. */
const interval = 1000;

/** How many plugins are counted while the database is away. */
const maxPlugins = 10_000;

/** How many are written in one transaction. Where all of them begin to fail, each takes some statements. */
const pluginsPerTransaction = 250;

/** Whether a plugin fails, by its runs of the last five minutes; `undefined` where they are too few to say. */
export function isFailing({ runs, failures }: RunCounts): boolean | undefined {
  return runs < 10 ? undefined : failures * 2 >= runs;
}

export interface PluginHealthOptions {
  readonly storage: Pick<Storage, 'transaction' | 'isSchemaReady'>;
  readonly now: () => number;
  /** Called once an event was written. */
  readonly onEvent: () => void;
  readonly onError: (error: unknown) => void;
}

/** Counts how runs end, over all nodes, and tells webhooks when a plugin begins to fail and when it has recovered. */
export class PluginHealth {
  readonly #options: PluginHealthOptions;
  readonly #counted = new Map<number, CountedPlugin>();
  readonly #writer = new WriteBehind({
    interval,
    write: () => this.#write(),
    hasWork: () => this.#counted.size > 0,
  });

  constructor(options: PluginHealthOptions) {
    this.#options = options;
  }

  /** Counts a run that has ended. */
  count(plugin: PluginKey, pluginId: number, hasFailed: boolean): void {
    this.#add({ plugin, pluginId, runs: 1, failures: hasFailed ? 1 : 0 });
    this.#writer.schedule();
  }

  /** Writes what was counted, and ends. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  #add({ plugin, pluginId, runs, failures }: CountedPlugin): void {
    const before = this.#counted.get(pluginId);
    if (!before && this.#counted.size >= maxPlugins) return;
    this.#counted.set(pluginId, {
      plugin,
      pluginId,
      runs: (before?.runs ?? 0) + runs,
      failures: (before?.failures ?? 0) + failures,
    });
  }

  async #write(): Promise<void> {
    const { storage, onEvent, onError } = this.#options;
    if (!storage.isSchemaReady) return;
    const counted = [...this.#counted.values()];
    this.#counted.clear();
    for (let at = 0; at < counted.length; at += pluginsPerTransaction) {
      const part = counted.slice(at, at + pluginsPerTransaction);
      try {
        if (await storage.transaction((db) => this.#writeCounts(db, part))) onEvent();
      } catch (error) {
        onError(error);
        if (!(error instanceof StorageUnavailableError)) continue;
        for (const one of counted.slice(at)) this.#add(one);
        return;
      }
    }
  }

  async #writeCounts(
    db: Parameters<Parameters<Storage['transaction']>[0]>[0],
    counted: readonly CountedPlugin[],
  ): Promise<boolean> {
    const now = this.#options.now();
    const environments = new Set(counted.map(({ plugin }) => plugin.environment));
    const subscribers = await findHealthSubscribers(db, [...environments]);
    if (!subscribers.size) return false;
    const watched = counted.filter(({ plugin }) => subscribers.has(plugin.environment));
    const plugins = new Map(watched.map(({ pluginId, plugin }) => [pluginId, plugin]));
    let hasTold = false;
    for (const health of await addRunCounts(db, watched, now)) {
      const fails = isFailing(health);
      if (fails === undefined || fails === health.isFailing) continue;
      // Another node may have told it meanwhile.
      if (!(await setFailing(db, health.pluginId, fails))) continue;
      // The plugin may have been deleted since the runs ended.
      const target = plugins.get(health.pluginId);
      if (!target || !(await pluginExists(db, target))) continue;
      const type = fails ? ('plugin.failing' as const) : ('plugin.recovered' as const);
      await tellWebhooks(db, { type, at: now, target });
      hasTold = true;
    }
    await deleteOldRunCounts(db, now);
    return hasTold;
  }
}
