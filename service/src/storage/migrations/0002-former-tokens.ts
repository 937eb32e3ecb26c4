import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/**
 * Environment tokens may have holders of any name, and a token that was replaced may stay good for a while. It then moves
 * to a table of its own, so that programs of the schema before can still replace a holder's token as they always did; only
 * the overlap is unknown to them.
 */
export const formerTokens: Migration = {
  name: '0002-former-tokens',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, bytes, integer, tableOptions } = engine.columns;
    if (engine.name === 'postgres') {
      await db.schema
        .alterTable('environment_tokens')
        .dropConstraint('environment_tokens_holder_check')
        .execute();
    } else {
      // SQLite drops no constraint of a table.
      await db.schema
        .createTable('new_environment_tokens')
        .modifyEnd(tableOptions)
        .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
        .addColumn('holder', key, (column) => column.notNull())
        .addColumn('token_hash', bytes, (column) => column.notNull().unique())
        .addColumn('created_at', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('environment_tokens_key', ['environment', 'holder'])
        .execute();
      await sql`insert into new_environment_tokens select environment, holder, token_hash, created_at from environment_tokens`.execute(
        db,
      );
      await db.schema.dropTable('environment_tokens').execute();
      await db.schema.alterTable('new_environment_tokens').renameTo('environment_tokens').execute();
    }
    await db.schema
      .createTable('former_environment_tokens')
      .modifyEnd(tableOptions)
      .addColumn('token_hash', bytes, (column) => column.primaryKey())
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('holder', key, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('ends_at', integer, (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('former_environment_tokens_by_holder')
      .on('former_environment_tokens')
      .columns(['environment', 'holder'])
      .execute();
  },
};
