import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../error-message.ts';
import { deleteOldChanges } from '../storage/changes/change-log.ts';
import type { Storage } from '../storage/storage.ts';
import { deleteRunsBefore, dropOldestDetails, listNewestGroups, trimRuns } from '../storage/tables/runs.ts';
import type { RunGroup, RunRecord } from '../storage/tables/runs.ts';
import { dayLength } from '../units.ts';
import { dayOf, pluginUsageDays, usageDays } from './usage-sum.ts';
import { deleteUsageBefore } from '../storage/tables/usage.ts';
import { findTenantsWithTooManyRecords } from '../storage/tables/tenant-storage.ts';

export interface RetentionOptions {
  readonly storage: Pick<Storage, 'db' | 'transaction' | 'isSchemaReady'>;
  /** How long records are kept, in days. */
  readonly days: number;
  /** How many records are kept of a plugin's successes, and as many of its failures. */
  readonly count: number;
  /** How many bytes the details of a tenant's records may take (default: any number). */
  readonly bytes?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called with each error, but with those of the same message once a minute. What failed is tried again. */
  readonly onError?: (error: unknown) => void;
}

/** How often to look for plugins with too many records, and for records that are too old, in ms. */
const interval = 2000;
const ageInterval = 60_000;

/** How long the records of plugins are deleted one after another before it is the turn of details and of old records, in ms. */
const trimTime = 10_000;

/** The pause after each statement, in ms, so that others can use the database. */
const pause = 10;

/** How many of the newest records are examined when the service starts. */
const startRecords = 10_000;

/**
 * Deletes excess and old records in the background, a few at a time, and old usage and changes. Only plugins with new records are
 * examined; at the start also those with the newest records of all, because a node that was killed may have left too many of them.
 */
export class RunRetention {
  readonly #options: RetentionOptions;
  readonly #now: () => number;
  readonly #grown = new Map<string, RunGroup>();
  /** The plugins with new details. */
  readonly #detailed = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #hasBegun = false;
  readonly #closed = new AbortController();
  /** When old records were last deleted, by `performance.now()`. */
  #agedAt = -Infinity;
  /** The messages of the errors that were reported since then. */
  readonly #reported = new Set<string>();

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  start(): void {
    this.#schedule();
  }

  /** Notes which plugins have new records. */
  handleStored(records: readonly RunRecord[]): void {
    for (const { pluginId, code, details } of records) {
      this.#add({ pluginId, success: code === undefined });
      if (details !== undefined) this.#detailed.add(pluginId);
    }
  }

  /** Deletes excess records, and once a minute the old ones. Never rejects: a failed deletion is tried again next time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async close(): Promise<void> {
    this.#closed.abort();
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
    const { db, isSchemaReady } = this.#options.storage;
    if (!isSchemaReady) return;
    const isAgeing = performance.now() - this.#agedAt >= ageInterval;
    if (isAgeing) this.#reported.clear();
    if (!this.#hasBegun) {
      this.#hasBegun = await this.#try(async () => {
        for (const group of await listNewestGroups(db, startRecords)) {
          this.#add(group);
          this.#detailed.add(group.pluginId);
        }
      });
    }
    await this.#trim();
    await this.#dropDetails();
    if (this.#isClosed || !isAgeing) return;
    await this.#deleteOld();
    this.#agedAt = performance.now();
  }

  /** Does a step, whatever becomes of it. Resolves with whether it succeeded. */
  async #try(step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  #report(error: unknown): void {
    const message = errorMessage(error);
    if (this.#isClosed || this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#options.onError?.(error);
  }

  async #trim(): Promise<void> {
    const { storage, count } = this.#options;
    const end = performance.now() + trimTime;
    // A copy, because groups grow meanwhile, the same ones again and again. What is left has its turn next time.
    const grown = [...this.#grown];
    for (const [key, group] of grown) {
      if (this.#isClosed || performance.now() > end) return;
      // Removed first, because more records of the group may be written meanwhile.
      this.#grown.delete(key);
      const isDone = await this.#try(() => this.#deleteAll(() => trimRuns(storage.db, group, count)));
      if (!isDone) this.#add(group);
    }
  }

  async #deleteOld(): Promise<void> {
    const { storage, days } = this.#options;
    const { db } = storage;
    // Changes have the time of the system, as nothing but their deletion depends on it.
    await this.#try(() => this.#deleteAll(() => deleteOldChanges(db, Date.now())));
    const aged = await this.#keepDays();
    const before = (kept: number) => this.#now() - kept * dayLength;
    await this.#try(() => this.#deleteAll(() => deleteRunsBefore(db, before(days), aged)));
    for (const [table, kept] of [
      ['usage_days', usageDays],
      ['usage_plugin_days', pluginUsageDays],
    ] as const)
      await this.#try(() => this.#deleteAll(() => deleteUsageBefore(db, table, dayOf(before(kept)))));
  }

  /** Keeps the records by day where the database can. Resolves with the table from which old ones are to be deleted. */
  async #keepDays(): Promise<'runs' | 'runs_rest'> {
    const { storage, days } = this.#options;
    const { engine } = storage.db;
    try {
      const mayKeep = (await engine.keepRunDays?.(this.#now(), days, this.#closed.signal)) ?? true;
      if (!mayKeep) return 'runs';
    } catch (error) {
      this.#report(error);
    }
    return engine.agedRuns;
  }

  /** Removes the oldest details of tenants whose records take more than they may. */
  async #dropDetails(): Promise<void> {
    const { storage, bytes } = this.#options;
    const plugins = [...this.#detailed];
    this.#detailed.clear();
    if (bytes === undefined) return;
    let tenants: number[] = [];
    let isDone = await this.#try(async () => {
      tenants = await findTenantsWithTooManyRecords(storage.db, plugins, bytes);
    });
    for (const tenant of tenants) {
      const drop = () => storage.transaction((db) => dropOldestDetails(db, tenant, bytes, this.#now()));
      if (!(await this.#try(() => this.#deleteAll(drop)))) isDone = false;
    }
    if (!isDone) for (const one of plugins) this.#detailed.add(one);
  }

  async #deleteAll(deleteSome: () => Promise<boolean>): Promise<void> {
    while (!this.#isClosed && (await deleteSome())) await sleep(pause);
    if (!this.#isClosed) await sleep(pause);
  }

  #add(group: RunGroup): void {
    this.#grown.set(`${group.pluginId} ${group.success}`, group);
  }
}
