import { randomUUID } from 'node:crypto';
import type { Db } from '../storage/db.ts';
import { endReplay, prolongReplay, takeReplay } from '../storage/tables/replays.ts';
import { withoutOwner } from '../storage/turns.ts';

/** For how long a lease holds unless it is prolonged, and how often it is, in ms. */
const [leaseTime, interval] = [30_000, 10_000];

/**
 * A tenant's one replay, over all nodes. A node that is killed prolongs nothing, so that another replay can begin once its lease
 * has ended.
 */
export class ReplayLease {
  readonly #db: Db;
  readonly #tenantId: number;
  readonly #now: () => number;
  readonly #lease = randomUUID();
  readonly #lost = new AbortController();
  #endsAt: number;
  #timer: NodeJS.Timeout | undefined;
  #prolonging: Promise<void> | undefined;

  /** Resolves with `undefined` where the tenant has a replay already. */
  static async take(db: Db, tenantId: number, now: () => number): Promise<ReplayLease | undefined> {
    const lease = new ReplayLease(db, tenantId, now);
    if (!(await takeReplay(db, lease.#row(), now()))) return undefined;
    lease.#timer = setInterval(() => {
      lease.#prolonging ??= withoutOwner(() => lease.#prolong()).finally(
        () => (lease.#prolonging = undefined),
      );
    }, interval).unref();
    return lease;
  }

  private constructor(db: Db, tenantId: number, now: () => number) {
    this.#db = db;
    this.#tenantId = tenantId;
    this.#now = now;
    this.#endsAt = now() + leaseTime;
  }

  /** Is aborted when another replay of the tenant may have begun, such as after the database was unavailable. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Ends the replay. Never rejects: a lease that cannot be deleted ends by itself. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#prolonging;
    await withoutOwner(() => endReplay(this.#db, this.#row())).catch(() => {});
  }

  async #prolong(): Promise<void> {
    const row = { ...this.#row(), endsAt: this.#now() + leaseTime };
    try {
      if (await prolongReplay(this.#db, row)) this.#endsAt = row.endsAt;
      else this.#lost.abort();
    } catch {
      if (this.#now() >= this.#endsAt) this.#lost.abort();
    }
  }

  #row() {
    return { tenantId: this.#tenantId, lease: this.#lease, endsAt: this.#endsAt };
  }
}
