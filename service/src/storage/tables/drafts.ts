import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Schema } from '../schema.ts';
import { digestOf } from './digest.ts';
import { pluginColumns } from './plugin-columns.ts';

export interface Draft {
  readonly source: PluginSource;
  /** Counts the saves, from 1. */
  readonly revision: number;
  /** Names this very state of the draft, as an HTTP entity tag with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

type TenantKey = Pick<PluginKey, 'environment' | 'tenant'>;

const columns = ['record', 'revision', 'updated_at'] as const;

export class Drafts {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  /** Whether there is a draft, without reading it. */
  async exists(plugin: PluginKey): Promise<boolean> {
    const row = await this.db
      .selectFrom('drafts')
      .select('revision')
      .where((where) => where.and(pluginColumns(plugin)))
      .executeTakeFirst();
    return row !== undefined;
  }

  /** How many plugins a tenant has, counted up to `most`. */
  async countOfTenant({ environment, tenant }: TenantKey, most: number): Promise<number> {
    // The key's index alone is read, and no further than it takes to know.
    const some = this.db
      .selectFrom('drafts')
      .select('environment')
      .where('environment', '=', environment)
      .where('tenant', '=', tenant)
      .limit(most);
    const { count } = await this.db
      .selectFrom(some.as('some'))
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(plugin: PluginKey): Promise<Draft | undefined> {
    const row = await this.db
      .selectFrom('drafts')
      .select(columns)
      .where((where) => where.and(pluginColumns(plugin)))
      .executeTakeFirst();
    return row && draftOf(row);
  }
}

export class DraftsInTransaction extends Drafts {
  /**
   * Saves a draft and returns it as saved. Where this depends on the draft as it was, the transaction has to lock the
   * plugin before it reads that.
   */
  async save(plugin: PluginKey, source: PluginSource, now: number): Promise<Draft> {
    const changed = { record: JSON.stringify(source), digest: digestOf(source), updated_at: now };
    const row = await this.db
      .insertInto('drafts')
      .values({ ...pluginColumns(plugin), ...changed, revision: 1, created_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(['environment', 'tenant', 'namespace', 'plugin'])
          .doUpdateSet(({ eb }) => ({ ...changed, revision: eb('drafts.revision', '+', 1) })),
      )
      .returning('revision')
      .executeTakeFirstOrThrow();
    return draftOf({ ...row, record: changed.record, updated_at: now });
  }
}

function draftOf(row: Pick<Schema['drafts'], 'record' | 'revision' | 'updated_at'>): Draft {
  const { record, revision, updated_at: updatedAt } = row;
  // The revision alone would come again, for other text, after starting afresh with a new database.
  const digest = createHash('sha256').update(record).digest('base64url').slice(0, 16);
  const source = JSON.parse(record) as PluginSource;
  return { source, revision, etag: `"${revision}-${digest}"`, updatedAt };
}
