import type { Migration } from './migrations.ts';

/** How much of each rate all nodes together have used. A row is of no use once the minute after its own has ended. */
export const rateCounters: Migration = {
  name: '0002-rate-counters',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('rate_counters')
      .modifyEnd(tableOptions)
      .addColumn('key', key, (column) => column.primaryKey())
      .addColumn('quota', integer, (column) => column.notNull())
      .addColumn('used', integer, (column) => column.notNull())
      .addColumn('granted', integer, (column) => column.notNull())
      .addColumn('ends_at', integer, (column) => column.notNull())
      .addColumn('previous_used', integer, (column) => column.notNull())
      .addColumn('previous_ends_at', integer, (column) => column.notNull())
      .execute();
  },
};
