import type { Storage } from '../storage/storage.ts';
import { RunRecorder } from './recorder.ts';
import type { Batch, RecorderOptions } from './recorder.ts';
import { RunRetention } from './retention.ts';
import type { RetentionOptions } from './retention.ts';
import type { RecordLevel } from '../plugins/record-level.ts';
import { UsageSum } from './usage-sum.ts';
import { addRuns, packRuns, storedIds } from '../storage/tables/runs.ts';
import { addUsage } from '../storage/tables/usage.ts';

export interface RecordingOptions {
  /** How much records hold (default `logs`). */
  readonly level?: RecordLevel;
  /** How long records are kept, in days (default 14). */
  readonly days?: number;
  /** How many records are kept of a plugin's successes, and as many of its failures (default 1000). */
  readonly count?: number;
  /** How many bytes the details of a tenant's records may take (default: any number). */
  readonly bytes?: number;
}

export interface Recording {
  readonly recorder: RunRecorder;
  readonly retention: RunRetention;
  /** Writes all waiting records, and stops. */
  close(): Promise<void>;
}

/** Starts to record runs in a storage, and to delete old records there. */
export function startRecording(
  storage: Storage,
  options: RecordingOptions &
    Pick<RecorderOptions, 'now' | 'onDropped' | 'onFull' | 'onLost'> &
    Pick<RetentionOptions, 'onError'> = {},
): Recording {
  const { days = 14, count = 1000, bytes, now = Date.now, onError } = options;
  const retention = new RunRetention({
    storage,
    days,
    count,
    bytes,
    now,
    ...(onError && { onError }),
  });
  const recorder = new RunRecorder({
    ...options,
    count,
    async store(batch) {
      await storeBatch(storage, batch);
      retention.handleStored(batch.records);
    },
  });
  retention.start();
  return {
    recorder,
    retention,
    async close() {
      await retention.close();
      await recorder.close();
    },
  };
}

/**
 * Writes records, and adds the usage of all but those that were stored before, in one transaction. Runs of a plugin that was
 * deleted meanwhile count, too. Where a batch was stored but seemed to fail, they count twice, and so does the usage that came with
 * no record which is still stored: nothing in the database tells that it was counted.
 */
export async function storeBatch(storage: Storage, { records, usage }: Batch): Promise<void> {
  const packed = await packRuns(storage.db, records);
  await storage.transaction(async (db) => {
    const added = await addRuns(db, packed);
    const others = records.filter(({ id }) => !added.has(id));
    const stored = await storedIds(
      db,
      others.map(({ id }) => id),
    );
    const sum = new UsageSum();
    for (const record of records) if (!stored.has(record.id)) sum.addRun(record);
    // The usage was stored with these records.
    if (!stored.size) sum.addAll(usage);
    await addUsage(db, sum.take());
  });
}
