import type { RunRecord } from '../storage/tables/runs.ts';
import { timeOfUuid } from '../storage/tables/uuids.ts';
import type { UsageOfDay } from '../storage/tables/usage.ts';
import { dayLength } from '../units.ts';

type Counts = Pick<UsageOfDay, 'runs' | 'failures' | 'microseconds' | 'builds'>;

const nothing: Counts = { runs: 0, failures: 0, microseconds: 0, builds: 0 };

/** How long usage is kept, in days. */
export const usageDays = 400;

/** Usage by day and tenant, summed up in memory. */
export class UsageSum {
  readonly #days = new Map<string, UsageOfDay>();
  #lastDay = { number: NaN, name: '' };

  /** How many pairs of a day and a tenant there are. */
  get size(): number {
    return this.#days.size;
  }

  /** Adds a run, for the day on which it was requested. */
  addRun({ id, environment, tenant, code, took }: RunRecord): void {
    const failures = code === undefined ? 0 : 1;
    const microseconds = Math.round(took * 1000);
    this.#add(environment, tenant, this.#dayOf(timeOfUuid(id)), {
      ...nothing,
      runs: 1,
      failures,
      microseconds,
    });
  }

  addBuild({ environment, tenant }: Pick<UsageOfDay, 'environment' | 'tenant'>, now: number): void {
    this.#add(environment, tenant, dayOf(now), { ...nothing, builds: 1 });
  }

  addAll(days: readonly UsageOfDay[]): void {
    for (const { environment, tenant, day, ...counts } of days) this.#add(environment, tenant, day, counts);
  }

  /** Returns the sums, and resets them. */
  take(): UsageOfDay[] {
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

  #add(environment: string, tenant: string, day: string, more: Counts): void {
    const key = JSON.stringify([environment, tenant, day]);
    const before = this.#days.get(key) ?? { environment, tenant, day, ...nothing };
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
