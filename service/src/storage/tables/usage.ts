import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';

/** What a tenant used on one day. It stays when the tenant is deleted. */
export interface UsageOfDay {
  readonly environment: string;
  readonly tenant: string;
  /** By UTC, as `YYYY-MM-DD`. */
  readonly day: string;
  readonly runs: number;
  /** Of these, those that gave no output. */
  readonly failures: number;
  /** What all runs took together. */
  readonly microseconds: number;
  readonly builds: number;
}

/** Where a page of usage begins: after this row. */
export type UsageCursor = Pick<UsageOfDay, 'day' | 'tenant'>;

const counts = ['runs', 'failures', 'microseconds', 'builds'] as const;

/** How many rows are deleted at once. */
const deletedAtOnce = 200;

/** Usage by day and tenant. */
export class Usage {
  readonly #db: Kysely<Schema>;
  readonly #engine: Engine;

  constructor(db: Kysely<Schema>, engine: Engine) {
    this.#db = db;
    this.#engine = engine;
  }

  /** Adds to what there is, in one statement. Each pair of a day and a tenant may be there once. */
  async add(days: readonly UsageOfDay[]): Promise<void> {
    if (!days.length) return;
    const given = this.#engine.jsonRows(JSON.stringify(days), {
      environment: 'text',
      tenant: 'text',
      day: 'text',
      runs: 'integer',
      failures: 'integer',
      microseconds: 'integer',
      builds: 'integer',
    });
    await this.#db
      .insertInto('usage_days')
      .columns(['environment', 'day', 'tenant', ...counts])
      .expression(
        // In the same order on every node: two that lock the same rows in turn would wait for each other for ever.
        sql`select environment, day, tenant, runs, failures, microseconds, builds from ${given} as given
          where true order by environment, day, tenant` as never,
      )
      .onConflict((conflict) =>
        conflict
          .columns(['environment', 'day', 'tenant'])
          .doUpdateSet(
            Object.fromEntries(
              counts.map((name) => [name, sql`usage_days.${sql.ref(name)} + excluded.${sql.ref(name)}`]),
            ),
          ),
      )
      .execute();
  }

  /** By day, then tenant. `days`: all of those that are asked for, in order. */
  async list(
    environment: string,
    days: readonly string[],
    limit: number,
    { tenant, after }: { tenant?: string | undefined; after?: UsageCursor | undefined } = {},
  ): Promise<UsageOfDay[]> {
    const left = after ? days.filter((day) => day >= after.day) : days;
    const [first, last] = [left[0], left.at(-1)];
    if (first === undefined || last === undefined) return [];
    const query = this.#db
      .selectFrom('usage_days')
      .select(['environment', 'day', 'tenant', ...counts])
      .where('environment', '=', environment)
      .$if(after !== undefined, (rows) =>
        rows.where(sql<boolean>`(day, tenant) > (${after?.day}, ${after?.tenant})`),
      )
      .orderBy('day')
      .orderBy('tenant')
      .limit(limit);
    const rows = await (
      tenant === undefined
        ? query.where('day', '>=', first).where('day', '<=', last)
        : // One look-up for each day, however many tenants there are.
          query.where('day', 'in', left).where('tenant', '=', tenant)
    ).execute();
    // Rows of node:sqlite have no prototype.
    return rows.map((row) => ({ ...row }));
  }

  /** Deletes some of what is older than a day. False when there was not a whole batch of it. */
  async deleteBefore(day: string): Promise<boolean> {
    const old = sql<string>`(select environment, day, tenant from usage_days where day < ${day}
      order by day limit ${sql.lit(deletedAtOnce)} ${this.#engine.skipLocked})`;
    const { numDeletedRows } = await this.#db
      .deleteFrom('usage_days')
      .where(sql<boolean>`(environment, day, tenant) in ${old}`)
      .executeTakeFirstOrThrow();
    return numDeletedRows >= deletedAtOnce;
  }
}
