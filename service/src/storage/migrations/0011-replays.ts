import type { Migration } from './migrations.ts';

/** Which tenants have a replay, so that each has one at a time. A release before looks only at its own node. */
export const replays: Migration = {
  name: '0011-replays',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('replays')
      .modifyEnd(tableOptions)
      .addColumn('tenant_id', integer, (column) => column.primaryKey())
      .addColumn('lease', key, (column) => column.notNull())
      .addColumn('ends_at', integer, (column) => column.notNull())
      .execute();
  },
};
