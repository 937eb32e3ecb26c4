import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import type { Db } from '../storage/db.ts';
import { hourKey, writeHourlyAudit } from './entries.ts';
import type { HourlyAction, NewAuditEntry } from './entries.ts';

type HourlyEntry = NewAuditEntry<HourlyAction>;

/** How many entries a node remembers, so that most of what they are about writes nothing. */
const maxEntries = 10_000;

/** Entries of which there is one for each actor, plugin and hour, over all nodes. */
export class HourlyEntries {
  readonly #written = new LRUCache<string, true>(entryLimit(maxEntries));

  /** Whether this node knows that the entry is there. */
  has(entry: HourlyEntry): boolean {
    return this.#written.has(hourKey(entry));
  }

  /** Remembers an entry whose transaction was committed. */
  add(entry: HourlyEntry): void {
    this.#written.set(hourKey(entry), true);
  }

  /** Writes an entry, unless it is there. */
  async write(db: Db, entry: HourlyEntry): Promise<void> {
    if (this.has(entry)) return;
    await writeHourlyAudit(db, entry);
    this.add(entry);
  }
}
