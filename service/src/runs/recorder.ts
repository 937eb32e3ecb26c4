import { setTimeout as sleep } from 'node:timers/promises';
import type { RunRecord } from '../storage/tables/runs.ts';
import type { PluginUsageOfDay } from '../storage/tables/usage.ts';
import { StorageUnavailableError } from '../storage/errors.ts';
import { WriteBehind } from '../storage/write-behind.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { RecordQueue } from './record-queue.ts';
import { toRecord } from './to-record.ts';
import type { CompletedRun } from './to-record.ts';
import { lowerLevel } from '../plugins/record-level.ts';
import type { RecordLevel } from '../plugins/record-level.ts';
import { UsageSum } from './usage-sum.ts';

/** The records and usage that are written in one transaction. */
export interface Batch {
  readonly records: readonly RunRecord[];
  /** Usage besides that of the records. */
  readonly usage: readonly PluginUsageOfDay[];
}

export interface RecorderOptions {
  /** Writes a batch in one transaction. Rejects with a `StorageUnavailableError` when it may succeed later. */
  readonly store: (batch: Batch) => Promise<void>;
  /** How much records hold (default `logs`). */
  readonly level?: RecordLevel | undefined;
  /** How many records are kept of a plugin's successes, and as many of its failures: more of them are not written (default all). */
  readonly count?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called with the number of dropped records, and the error if the database refused them; with 0 if it refused usage. */
  readonly onDropped?: (count: number, reason?: unknown) => void;
  /** Called when the first record is dropped because too many wait, once until all were written. */
  readonly onFull?: () => void;
  /** Called when the recorder is closed before everything was written, because the database is unavailable. */
  readonly onLost?: (lost: LostRecords) => void;
}

/** What a recorder could not write before it was closed. */
export interface LostRecords {
  readonly records: number;
  /** Usage besides that of the records: the number of pairs of a plugin and a day. */
  readonly usage: number;
}

/**
 * How long records are collected before they are written, and how often writing is tried while the database is away, in ms. A
 * record is promised within a second of the response; the longer they are collected, the fewer of a busy plugin are written.
 */
const interval = 450;

/** For how long writing is tried when the service ends while the database is away, in ms. */
const closingTime = 3000;

/**
 * Records runs and counts usage. Runs do not wait for it: records are held in memory and written in batches.
 *
 * While the database is unavailable, records are held up to a limit. Beyond it the newest are dropped and not the oldest, so that
 * the stored records have one gap, which ends when the database is back. The usage of dropped runs is still counted.
 */
export class RunRecorder {
  readonly #options: RecorderOptions;
  readonly #queue = new RecordQueue();
  /** Usage besides that of the records in the queue: builds, and runs whose records were dropped. */
  readonly #usage = new UsageSum();
  readonly #writer = new WriteBehind({
    interval,
    write: () => this.#writeBatches(),
    hasWork: () => this.#hasWork,
  });
  /**
   * What the last attempt left because the database is away. Some of it may be stored: it is written again as it was, so that
   * `store` can tell by its records.
   */
  #unwritten: Batch[] = [];
  #isFull = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  record(run: CompletedRun): void {
    const record = toRecord(run, lowerLevel(this.#options.level ?? 'logs', run.level));
    if (this.#writer.isClosed) this.#drop(record);
    else if (!this.#queue.add(record)) {
      this.#drop(record);
      if (!this.#isFull) this.#options.onFull?.();
      this.#isFull = true;
    }
    this.#schedule();
  }

  countBuild(plugin: PluginKey): void {
    this.#usage.addBuild(plugin, (this.#options.now ?? Date.now)());
    this.#schedule();
  }

  /** Writes all waiting records. Those that cannot be written within three seconds are dropped. */
  async close(): Promise<void> {
    const deadline = performance.now() + closingTime;
    await this.#writer.close();
    while (this.#hasWork && performance.now() < deadline) {
      await sleep(interval);
      await this.#writer.writeNow();
    }
    if (!this.#hasWork) return;
    for (const { usage } of this.#unwritten) this.#usage.addAll(usage);
    this.#options.onLost?.({ records: this.#queue.size, usage: this.#usage.size });
  }

  get #hasWork(): boolean {
    return this.#queue.size > 0 || this.#usage.size > 0 || this.#isDatabaseAway;
  }

  get #isDatabaseAway(): boolean {
    return this.#unwritten.length > 0;
  }

  #schedule(): void {
    if (this.#queue.isLong && !this.#isDatabaseAway) void this.#writer.writeNow();
    else this.#writer.schedule();
  }

  async #writeBatches(): Promise<void> {
    // A busy plugin makes more records between two writes than are kept. Their runs are counted all the same.
    const excess = this.#isDatabaseAway ? [] : this.#queue.removeExcess(this.#options.count ?? Infinity);
    for (const record of excess) this.#usage.addRun(record);
    // Records that come meanwhile are written with the next batch, once it is full or the interval has passed.
    do await this.#writeBatch();
    while (!this.#isDatabaseAway && (this.#queue.hasWholeBatch || (this.#writer.isClosed && this.#hasWork)));
  }

  /** Writes a batch. One that the database refuses is split until only the refused records are dropped. */
  async #writeBatch(): Promise<void> {
    const parts = this.#unwritten.splice(0);
    if (!parts.length) parts.push({ records: this.#queue.firstBatch(), usage: this.#usage.take() });
    for (let part = parts.shift(); part; part = parts.shift()) {
      try {
        await this.#options.store(part);
      } catch (error) {
        if (error instanceof StorageUnavailableError) {
          this.#unwritten = [part, ...parts];
          return;
        }
        const smaller = split(part);
        if (smaller) {
          parts.unshift(...smaller);
          continue;
        }
        const [record] = part.records;
        if (record) this.#drop(record, error);
        else this.#options.onDropped?.(0, error);
      }
      this.#queue.removeFirst(part.records.length);
      if (!this.#queue.size) this.#isFull = false;
    }
  }

  #drop(record: RunRecord, reason?: unknown): void {
    this.#usage.addRun(record);
    this.#options.onDropped?.(1, reason);
  }
}

/** Splits a batch in two; `undefined` for one that cannot be split. */
function split({ records, usage }: Batch): Batch[] | undefined {
  if (records.length && usage.length)
    return [
      { records, usage: [] },
      { records: [], usage },
    ];
  const middle = Math.ceil(records.length / 2);
  if (records.length > 1)
    return [
      { records: records.slice(0, middle), usage },
      { records: records.slice(middle), usage },
    ];
  return undefined;
}
