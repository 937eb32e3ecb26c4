import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/**
 * Adds webhooks, what is delivered to them, and the counts of runs by which a plugin is said to be failing. Older releases, which
 * may still use the database, send nothing and tell no events.
 */
export const webhooks: Migration = {
  name: '0010-webhooks',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, bytes, integer, id, tableOptions } = engine.columns;
    await db.schema
      .createTable('webhooks')
      .modifyEnd(tableOptions)
      .addColumn('id', bytes, (column) => column.primaryKey())
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('url', text, (column) => column.notNull())
      .addColumn('events', text, (column) => column.notNull())
      .addColumn('description', text)
      .addColumn('is_enabled', integer, (column) => column.notNull())
      .addColumn('disabled_reason', text)
      .addColumn('failing_since', integer)
      .addColumn('sealed_secret', text, (column) => column.notNull())
      .addColumn('former_secret', text)
      .addColumn('former_ends_at', integer)
      .addColumn('created_at', integer, (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('webhooks_by_environment')
      .on('webhooks')
      .columns(['environment', 'id'])
      .execute();

    await db.schema
      .createTable('webhook_deliveries')
      .modifyEnd(tableOptions)
      .addColumn('position', id)
      .addColumn('message_id', key, (column) => column.notNull())
      .addColumn('webhook_id', bytes, (column) =>
        column.notNull().references('webhooks.id').onDelete('cascade'),
      )
      .addColumn('type', text, (column) => column.notNull())
      .addColumn('subject', key, (column) => column.notNull())
      .addColumn('body', text, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('status', key, (column) => column.notNull())
      .addColumn('tries', integer, (column) => column.notNull())
      .addColumn('attempts', text, (column) => column.notNull())
      .addColumn('next_at', integer)
      .addColumn('give_up_at', integer, (column) => column.notNull())
      .execute();
    const index = (name: string) => db.schema.createIndex(name).on('webhook_deliveries');
    await index('webhook_deliveries_by_webhook').columns(['webhook_id', 'position']).execute();
    await index('webhook_deliveries_by_age').column('created_at').execute();
    await index('webhook_deliveries_due')
      .columns(['webhook_id', 'next_at'])
      .where(sql.ref('status'), '=', 'pending')
      .execute();
    // For the order of first tries.
    await index('webhook_deliveries_untried')
      .columns(['webhook_id', 'subject', 'position'])
      .where(sql.ref('tries'), '=', 0)
      .execute();

    await db.schema
      .createTable('plugin_run_counts')
      .modifyEnd(tableOptions)
      .addColumn('plugin_id', integer, (column) => column.notNull())
      .addColumn('slot', integer, (column) => column.notNull())
      .addColumn('runs', integer, (column) => column.notNull())
      .addColumn('failures', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('plugin_run_counts_key', ['plugin_id', 'slot'])
      .execute();
    await db.schema.createIndex('plugin_run_counts_by_slot').on('plugin_run_counts').column('slot').execute();
    await db.schema
      .createTable('plugin_health')
      .modifyEnd(tableOptions)
      .addColumn('plugin_id', integer, (column) => column.primaryKey())
      .addColumn('is_failing', integer, (column) => column.notNull())
      .execute();
  },
};
