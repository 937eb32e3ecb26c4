import { sql } from 'kysely';
import type { CreateTableBuilder } from 'kysely';
import type { Migration } from './migrations.ts';

const pluginKey = ['environment', 'tenant', 'namespace', 'plugin'] as const;

/** The tables of the first release for two databases. Times are milliseconds since the epoch. */
export const initial: Migration = {
  name: '0001-initial',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, bytes, integer, id, tableOptions } = engine.columns;
    const create = <T extends string>(table: T) => db.schema.createTable(table).modifyEnd(tableOptions);
    const withPlugin = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
      table
        .addColumn('environment', key, (column) => column.notNull())
        .addColumn('tenant', key, (column) => column.notNull())
        .addColumn('namespace', key, (column) => column.notNull())
        .addColumn('plugin', key, (column) => column.notNull());

    if (!(await engine.adoptFormerSchema(db))) {
      await create('environments')
        .addColumn('name', key, (column) => column.primaryKey())
        .addColumn('owner_email', key)
        .addColumn('created_at', integer, (column) => column.notNull())
        .execute();

      await create('environment_tokens')
        .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
        .addColumn('holder', key, (column) => column.notNull().check(sql`holder in ('owner', 'demo')`))
        .addColumn('token_hash', bytes, (column) => column.notNull().unique())
        .addColumn('created_at', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('environment_tokens_key', ['environment', 'holder'])
        .execute();

      await create('editor_tokens')
        .addColumn('token_hash', bytes, (column) => column.primaryKey())
        .$call(withPlugin)
        .addColumn('expires_at', integer, (column) => column.notNull())
        .addForeignKeyConstraint('editor_tokens_environment', ['environment'], 'environments', ['name'])
        .execute();
      await db.schema
        .createIndex('editor_tokens_by_expiry')
        .on('editor_tokens')
        .column('expires_at')
        .execute();

      await create('drafts')
        .addColumn('id', id)
        .$call(withPlugin)
        .addColumn('record', text, (column) => column.notNull())
        .addColumn('revision', integer, (column) => column.notNull())
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('updated_at', integer, (column) => column.notNull())
        .addColumn('digest', text, (column) => column.notNull().defaultTo(''))
        .addForeignKeyConstraint('drafts_environment', ['environment'], 'environments', ['name'])
        .addUniqueConstraint('drafts_key', [...pluginKey])
        .execute();

      await create('verification_codes')
        .addColumn('id', id)
        .addColumn('email', key, (column) => column.notNull())
        .addColumn('environment', key, (column) => column.notNull())
        .addColumn('salt', bytes, (column) => column.notNull())
        .addColumn('code_hash', bytes, (column) => column.notNull())
        .addColumn('tries', integer, (column) => column.notNull().defaultTo(0))
        .addColumn('used', integer, (column) => column.notNull().defaultTo(0))
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('expires_at', integer, (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('verification_codes_by_email')
        .on('verification_codes')
        .columns(['email', 'created_at'])
        .execute();

      await create('programs')
        .addColumn('hash', key, (column) => column.primaryKey())
        .addColumn('program', text, (column) => column.notNull())
        .execute();

      await create('builds')
        .$call(withPlugin)
        .addColumn('digest', text, (column) => column.notNull())
        .addColumn('program_hash', key, (column) => column.notNull().references('programs.hash'))
        .addColumn('built_at', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('builds_key', [...pluginKey])
        .addForeignKeyConstraint('builds_draft', [...pluginKey], 'drafts', [...pluginKey])
        .execute();

      await create('versions')
        .$call(withPlugin)
        .addColumn('patch', integer, (column) => column.notNull())
        .addColumn('record', text, (column) => column.notNull())
        .addColumn('program_hash', key, (column) => column.notNull().references('programs.hash'))
        .addColumn('created_at', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('versions_key', [...pluginKey, 'patch'])
        .addForeignKeyConstraint('versions_draft', [...pluginKey], 'drafts', [...pluginKey])
        .execute();
      // What runs in production must never change under its name; no operation updates a version, so this costs nothing.
      // Removing one is not forbidden: a plugin that is deleted takes its versions along.
      await engine.forbidUpdates(db, 'versions', 'a version is never changed');

      // For finding out whether a program is still referred to.
      await db.schema.createIndex('builds_by_program').on('builds').column('program_hash').execute();
      await db.schema.createIndex('versions_by_program').on('versions').column('program_hash').execute();
    }

    await create('change_counter')
      .addColumn('id', integer, (column) => column.primaryKey().check(sql`id = 1`))
      .addColumn('last', integer, (column) => column.notNull())
      .execute();
    await db.insertInto('change_counter').values({ id: 1, last: 0 }).execute();
    await create('changes')
      .addColumn('id', integer, (column) => column.primaryKey())
      .addColumn('kind', key, (column) => column.notNull())
      .addColumn('key', text, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .execute();

    await create('schema_requirements')
      .addColumn('id', integer, (column) => column.primaryKey().check(sql`id = 1`))
      .addColumn('oldest_program', integer, (column) => column.notNull())
      .execute();
    await db.insertInto('schema_requirements').values({ id: 1, oldest_program: 1 }).execute();
  },
};
