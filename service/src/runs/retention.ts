import { setTimeout as sleep } from 'node:timers/promises';
import type { Tables } from '../storage/tables.ts';
import type { RunGroup, RunRecord } from '../storage/tables/runs.ts';
import { dayOf } from './usage-sum.ts';

export interface RetentionOptions {
  readonly tables: Pick<Tables, 'runs' | 'usage'>;
  /** How long records are kept, in days. */
  readonly days: number;
  /** How many are kept of the successes of a plugin, and how many of its failures. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Whether the database has the tables. */
  readonly isReady?: () => boolean;
}

const dayLength = 86_400_000;

/** How long usage is kept. */
const usageDays = 400;

/** How often too many and too old records are looked for, in ms. */
const interval = 2000;
const ageInterval = 60_000;

/** The pause after each statement, in ms: whatever others want to do goes first. */
const pause = 10;

/** How many of the newest records are looked at when the service starts. */
const startRecords = 10_000;

/**
 * Deletes records that are too many or too old, in the background and a few at a time. Only plugins that got records since
 * the last time are looked at; at its start also those with the newest records of all, as a node that ended without warning
 * may have left them with too many.
 */
export class RunRetention {
  readonly #options: RetentionOptions;
  readonly #now: () => number;
  readonly #grown = new Map<string, RunGroup>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #hasBegun = false;
  #isClosed = false;
  /** When records were last looked at for their age, by the monotonic clock. */
  #agedAt = -Infinity;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  start(): void {
    this.#schedule();
  }

  /** Takes note of whose records were written. */
  handleStored(records: readonly RunRecord[]): void {
    for (const { pluginId, code } of records) this.#add({ pluginId, success: code === undefined });
  }

  /** Deletes all that is too much now. Never rejects: what cannot be deleted now is the next time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch(() => {})
      .finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  #schedule(): void {
    this.#timer = setTimeout(
      () => void this.sweep().then(() => this.#isClosed || this.#schedule()),
      interval,
    ).unref();
  }

  async #sweep(): Promise<void> {
    const { tables, count, days, isReady = () => true } = this.#options;
    if (!isReady()) return;
    if (!this.#hasBegun) {
      for (const group of await tables.runs.newestGroups(startRecords)) this.#add(group);
      this.#hasBegun = true;
    }
    for (const [key, group] of this.#grown) {
      // Before it is looked at, as more of its records may be written meanwhile.
      this.#grown.delete(key);
      try {
        await this.#deleteAll(() => tables.runs.trim(group, count));
      } catch (error) {
        this.#add(group);
        throw error;
      }
      if (this.#isClosed) return;
    }
    if (performance.now() - this.#agedAt < ageInterval) return;
    await this.#deleteAll(() => tables.runs.deleteBefore(this.#now() - days * dayLength));
    await this.#deleteAll(() => tables.usage.deleteBefore(dayOf(this.#now() - usageDays * dayLength)));
    this.#agedAt = performance.now();
  }

  async #deleteAll(deleteSome: () => Promise<boolean>): Promise<void> {
    while (!this.#isClosed && (await deleteSome())) await sleep(pause);
    if (!this.#isClosed) await sleep(pause);
  }

  #add(group: RunGroup): void {
    this.#grown.set(`${group.pluginId} ${group.success}`, group);
  }
}
