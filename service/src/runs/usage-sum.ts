import type { RunRecord } from '../storage/tables/runs.ts';
import { timeOfUuid } from '../storage/tables/uuids.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { PluginUsageOfDay, UsageOfDay } from '../storage/tables/usage.ts';
import { dayLength } from '../units.ts';

type Counts = Pick<UsageOfDay, 'runs' | 'failures' | 'microseconds' | 'builds'>;

const nothing: Counts = { runs: 0, failures: 0, microseconds: 0, builds: 0 };

/** How long usage of tenants, and of plugins, is kept, in days. */
export const [usageDays, pluginUsageDays] = [400, 100];

/** Usage by day and plugin, summed up in memory. */
export class UsageSum {
  readonly #days = new Map<string, PluginUsageOfDay>();
  #lastDay = { number: NaN, name: '' };

  /** How many pairs of a day and a plugin there are. */
  get size(): number {
    return this.#days.size;
  }

  /** Adds a run, for the day on which it was requested. */
  addRun({ id, environment, tenant, namespace, pluginName, code, took }: RunRecord): void {
    const failures = code === undefined ? 0 : 1;
    const microseconds = Math.round(took * 1000);
    const plugin = { environment, tenant, namespace, pluginName };
    this.#add(plugin, this.#dayOf(timeOfUuid(id)), {
      ...nothing,
      runs: 1,
      failures,
      microseconds,
    });
  }

  addBuild(plugin: PluginKey, now: number): void {
    this.#add(plugin, dayOf(now), { ...nothing, builds: 1 });
  }

  addAll(days: readonly PluginUsageOfDay[]): void {
    for (const { environment, tenant, namespace, name, day, ...counts } of days)
      this.#add({ environment, tenant, namespace, pluginName: name }, day, counts);
  }

  /** Returns the sums, and resets them. */
  take(): PluginUsageOfDay[] {
    const all = [...this.#days.values()];
    this.#days.clear();
    return all;
  }

  /** The day of a time. The last one is cached, because most runs are of the same day, and formatting a date is slow. */
  #dayOf(time: number): string {
    const number = Math.floor(time / dayLength);
    if (number !== this.#lastDay.number) this.#lastDay = { number, name: dayOf(time) };
    return this.#lastDay.name;
  }

  #add({ environment, tenant, namespace, pluginName: name }: PluginKey, day: string, more: Counts): void {
    const key = JSON.stringify([environment, tenant, namespace, name, day]);
    const before = this.#days.get(key) ?? { environment, tenant, namespace, name, day, ...nothing };
    this.#days.set(key, {
      ...before,
      runs: before.runs + more.runs,
      failures: before.failures + more.failures,
      microseconds: before.microseconds + more.microseconds,
      builds: before.builds + more.builds,
    });
  }
}

/** The day of a time by UTC, as `YYYY-MM-DD`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
