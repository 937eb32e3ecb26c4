import type { RunRecord } from '../storage/tables/runs.ts';

/** How many records the queue holds, and how many characters of their details. */
export const maxRecords = 10_000;
const maxDetails = 32 * 2 ** 20;

/** How many records, and characters of their details, are in a batch: few enough to keep database and event loop responsive. */
const batchRecords = 500;
const batchDetails = 256 * 1024;

/** From how many waiting records on writing begins immediately. Fewer are collected until the interval has passed. */
const manyRecords = 5000;

const onlyOutcome = JSON.stringify({ truncated: true });

/** The records that are waiting to be written, in their order. */
export class RecordQueue {
  #records: RunRecord[] = [];
  #details = 0;

  get size(): number {
    return this.#records.length;
  }

  /** Whether there are enough records to write them at once. */
  get isLong(): boolean {
    return this.#records.length >= manyRecords || this.#details >= batchDetails;
  }

  /** Whether there are enough records for a full batch. */
  get hasWholeBatch(): boolean {
    return this.#records.length >= batchRecords || this.#details >= batchDetails;
  }

  /** Adds a record. Returns false when the queue is full. Where only its details do not fit, it is added without them. */
  add(record: RunRecord): boolean {
    if (this.#records.length >= maxRecords) return false;
    const fits = this.#details + lengthOf(record) <= maxDetails;
    const held = fits ? record : { ...record, details: onlyOutcome };
    this.#records.push(held);
    this.#details += lengthOf(held);
    return true;
  }

  /** The next batch, which stays in the queue until it is removed. */
  firstBatch(): RunRecord[] {
    let length = 0;
    const end = this.#records.findIndex((record, i) => {
      length += lengthOf(record);
      return i === batchRecords || (i > 0 && length > batchDetails);
    });
    return this.#records.slice(0, end < 0 ? undefined : end);
  }

  removeFirst(count: number): void {
    for (const record of this.#records.splice(0, count)) this.#details -= lengthOf(record);
  }

  /**
   * Removes and returns the records that would be deleted as soon as they were written, because the queue holds enough newer
   * successes, or newer failures, of the same plugin.
   * @param kept how many records are kept of a plugin's successes, and as many of its failures
   */
  removeExcess(kept: number): RunRecord[] {
    if (this.#records.length <= kept) return [];
    const counts = new Map<number, number>();
    const excess: RunRecord[] = [];
    const held: RunRecord[] = [];
    for (const record of this.#records.toReversed()) {
      // Failures have the negative key. Ids of plugins begin at 1.
      const group = record.code === undefined ? record.pluginId : -record.pluginId;
      const count = (counts.get(group) ?? 0) + 1;
      counts.set(group, count);
      (count > kept ? excess : held).push(record);
    }
    for (const record of excess) this.#details -= lengthOf(record);
    this.#records = held.toReversed();
    return excess;
  }
}

const lengthOf = ({ details }: RunRecord): number => details?.length ?? 0;
