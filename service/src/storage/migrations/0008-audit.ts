import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/**
 * The audit log, usage by plugin, and what it takes to give tokens and tenants less than the service has: scopes and limits.
 * Older releases, which may still use the database, write no entries and know no scopes.
 */
export const audit: Migration = {
  name: '0008-audit',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, bytes, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('audit_entries')
      .modifyEnd(tableOptions)
      .addColumn('id', bytes, (column) => column.primaryKey())
      // No foreign key: a look-up for each entry would be for nothing, because environments are never deleted.
      .addColumn('environment', key, (column) => column.notNull())
      .addColumn('action', key, (column) => column.notNull())
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('via', text)
      .addColumn('holder', text)
      .addColumn('actor', key)
      .addColumn('tenant', key)
      .addColumn('namespace', text)
      .addColumn('name', text)
      .addColumn('version', text)
      .addColumn('details', text)
      .addColumn('request_id', text, (column) => column.notNull())
      .addColumn('hour_key', key)
      .addColumn('size', integer, (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('audit_entries_by_environment')
      .on('audit_entries')
      .columns(['environment', 'id'])
      .execute();
    await db.schema
      .createIndex('audit_entries_by_hour')
      .unique()
      .on('audit_entries')
      .column('hour_key')
      .where(sql.ref('hour_key'), 'is not', null)
      .execute();
    await db.schema
      .createTable('audit_sizes')
      .modifyEnd(tableOptions)
      .addColumn('environment', key, (column) => column.primaryKey())
      .addColumn('bytes', integer, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('audit_progress')
      .modifyEnd(tableOptions)
      .addColumn('id', integer, (column) => column.primaryKey())
      .addColumn('counted_to', bytes, (column) => column.notNull())
      .execute();
    await sql`insert into audit_progress (id, counted_to) values (1, ${new Uint8Array(16)})`.execute(db);

    await db.schema
      .createTable('usage_plugin_days')
      .modifyEnd(tableOptions)
      .addColumn('environment', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('tenant', key, (column) => column.notNull())
      .addColumn('namespace', key, (column) => column.notNull())
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('runs', integer, (column) => column.notNull())
      .addColumn('failures', integer, (column) => column.notNull())
      .addColumn('microseconds', integer, (column) => column.notNull())
      .addColumn('builds', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_plugin_days_key', ['environment', 'day', 'tenant', 'namespace', 'name'])
      .execute();
    await db.schema.createIndex('usage_plugin_days_by_day').on('usage_plugin_days').column('day').execute();

    await db.schema.alterTable('environment_tokens').addColumn('scopes', text).execute();
    for (const column of ['storage_mb', 'calls_per_minute', 'run_timeout_ms', 'run_memory_mb'] as const)
      await db.schema.alterTable('tenants').addColumn(column, integer).execute();
    for (const column of ['record_level', 'changed_by'] as const)
      await db.schema.alterTable('tenants').addColumn(column, text).execute();
  },
};
