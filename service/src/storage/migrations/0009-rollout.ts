import type { Migration } from './migrations.ts';

/**
 * Rollouts, and how many runs of each side there were. A release before, which may still use the database, knows only the pin: it
 * runs what is live, counts nothing, and ends a rollout by moving the pin, because a rollout names the pin that it began with.
 */
export const rollout: Migration = {
  name: '0009-rollout',
  oldestProgram: 1,
  async up(db, engine) {
    const { text, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('rollouts')
      .modifyEnd(tableOptions)
      // Deleted with the plugin, also where a release before erases it.
      .addColumn('plugin_id', integer, (column) =>
        column.primaryKey().references('plugins.id').onDelete('cascade'),
      )
      .addColumn('number', integer, (column) => column.notNull())
      .addColumn('patch', integer, (column) => column.notNull())
      .addColumn('live_patch', integer, (column) => column.notNull())
      .addColumn('pinned_at', integer, (column) => column.notNull())
      .addColumn('percent', integer, (column) => column.notNull())
      .addColumn('stop', text)
      .addColumn('started_at', integer, (column) => column.notNull())
      .addColumn('actor', text)
      .addColumn('ended_at', integer)
      .addColumn('end_reason', text)
      .execute();
    await db.schema
      .createTable('rollout_counts')
      .modifyEnd(tableOptions)
      .addColumn('plugin_id', integer, (column) => column.notNull())
      .addColumn('number', integer, (column) => column.notNull())
      .addColumn('is_candidate', integer, (column) => column.notNull())
      .addColumn('runs', integer, (column) => column.notNull())
      .addColumn('failures', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('rollout_counts_key', ['plugin_id', 'number', 'is_candidate'])
      .execute();
  },
};
