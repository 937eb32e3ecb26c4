import type { RunRecord } from '../storage/tables/runs.ts';

/** How many records a node holds, and how many characters of what runs said and got. */
export const maxRecords = 10_000;
const maxDetails = 32 * 2 ** 20;

/** How much is written at once: so little that neither the database nor the event loop is busy with it for long. */
const batchRecords = 500;
const batchDetails = 256 * 1024;

const onlyOutcome = JSON.stringify({ truncated: true });

/** The records that wait to be written, in their order. */
export class RecordQueue {
  #records: RunRecord[] = [];
  #details = 0;

  get size(): number {
    return this.#records.length;
  }

  /** Whether there is so much that waiting for more makes no batch larger. */
  get hasWholeBatch(): boolean {
    return this.#records.length >= batchRecords || this.#details >= batchDetails;
  }

  /** False when there is no room. Where there is room for the record and not for its details, it is held without them. */
  add(record: RunRecord): boolean {
    if (this.#records.length >= maxRecords) return false;
    const fits = this.#details + lengthOf(record) <= maxDetails;
    const held = fits ? record : { ...record, details: onlyOutcome };
    this.#records.push(held);
    this.#details += lengthOf(held);
    return true;
  }

  /** The next batch. It stays in the queue until it is removed. */
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
}

const lengthOf = ({ details }: RunRecord): number => details?.length ?? 0;
