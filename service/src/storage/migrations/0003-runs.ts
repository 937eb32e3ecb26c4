import type { Migration } from './migrations.ts';

/** Records of runs, and the usage of tenants by day. Older releases, which may still use the database, write neither. */
export const runs: Migration = {
  name: '0003-runs',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, bytes, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('runs')
      .modifyEnd(tableOptions)
      .addColumn('id', bytes, (column) => column.primaryKey())
      // No foreign key: it would cost a look-up for each record, and the records of a plugin are erased before the plugin.
      .addColumn('plugin_id', integer, (column) => column.notNull())
      .addColumn('patch', integer, (column) => column.notNull())
      .addColumn('success', integer, (column) => column.notNull())
      .addColumn('error_code', text)
      .addColumn('microseconds', integer, (column) => column.notNull())
      .addColumn('input_bytes', integer, (column) => column.notNull())
      .addColumn('output_bytes', integer, (column) => column.notNull())
      .addColumn('details', text)
      .execute();
    await db.schema
      .createIndex('runs_by_plugin')
      .on('runs')
      .columns(['plugin_id', 'success', 'id'])
      .execute();
    await db.schema
      .createIndex('runs_by_version')
      .on('runs')
      .columns(['plugin_id', 'patch', 'success', 'id'])
      .execute();

    await db.schema
      .createTable('usage_days')
      .modifyEnd(tableOptions)
      .addColumn('environment', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('tenant', key, (column) => column.notNull())
      .addColumn('runs', integer, (column) => column.notNull())
      .addColumn('failures', integer, (column) => column.notNull())
      .addColumn('microseconds', integer, (column) => column.notNull())
      .addColumn('builds', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_days_key', ['environment', 'day', 'tenant'])
      .execute();
    // For deleting old rows.
    await db.schema.createIndex('usage_days_by_day').on('usage_days').column('day').execute();
  },
};
