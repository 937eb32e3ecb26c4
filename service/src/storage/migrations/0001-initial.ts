import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** The tables of the first release for two databases. Times are milliseconds since the epoch. */
export const initial: Migration = {
  name: '0001-initial',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, bytes, integer, id, tableOptions } = engine.columns;
    const create = <T extends string>(table: T) => db.schema.createTable(table).modifyEnd(tableOptions);

    await create('environments')
      .addColumn('name', key, (column) => column.primaryKey())
      .addColumn('owner_email', key)
      .addColumn('created_at', integer, (column) => column.notNull())
      .execute();

    await create('environment_tokens')
      .addColumn('id', key, (column) => column.primaryKey())
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('holder', key, (column) => column.notNull())
      .addColumn('token_hash', bytes, (column) => column.notNull().unique())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('ends_at', integer)
      .execute();
    await db.schema
      .createIndex('environment_tokens_by_environment')
      .on('environment_tokens')
      .columns(['environment', 'id'])
      .execute();

    await create('tenants')
      .addColumn('id', id)
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('description', text)
      .addColumn('suspended', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('most_plugins', integer)
      .addColumn('runs_per_minute', integer)
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('deleted_at', integer)
      .addColumn('erased_at', integer)
      .execute();
    await db.schema
      .createIndex('tenants_by_name')
      .unique()
      .on('tenants')
      .columns(['environment', 'name'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute();
    // Deleted tenants included: the newest row of a name shows whether the tenant exists.
    await db.schema
      .createIndex('tenants_by_age')
      .on('tenants')
      .columns(['environment', 'name', 'id'])
      .execute();
    await db.schema
      .createIndex('tenants_to_erase')
      .on('tenants')
      .column('id')
      .where(sql.ref('deleted_at'), 'is not', null)
      .where(sql.ref('erased_at'), 'is', null)
      .execute();

    await create('plugins')
      .addColumn('id', id)
      .addColumn('tenant_id', integer, (column) => column.notNull().references('tenants.id'))
      .addColumn('namespace', key, (column) => column.notNull())
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('deleted_at', integer)
      .addColumn('erased_at', integer)
      .addColumn('last_patch', integer, (column) => column.notNull())
      .addColumn('pinned_patch', integer)
      .addColumn('pinned_at', integer)
      .addColumn('pinned_by', text)
      .execute();
    await db.schema
      .createIndex('plugins_by_name')
      .unique()
      .on('plugins')
      .columns(['tenant_id', 'namespace', 'name'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute();
    await db.schema
      .createIndex('plugins_by_age')
      .on('plugins')
      .columns(['tenant_id', 'namespace', 'name', 'id'])
      .execute();
    await db.schema
      .createIndex('plugins_to_erase')
      .on('plugins')
      .column('id')
      .where(sql.ref('deleted_at'), 'is not', null)
      .where(sql.ref('erased_at'), 'is', null)
      .execute();

    await create('editor_tokens')
      .addColumn('token_hash', bytes, (column) => column.primaryKey())
      .addColumn('tenant_id', integer, (column) => column.notNull().references('tenants.id'))
      .addColumn('namespace', key)
      .addColumn('plugin_name', key)
      .addColumn('permissions', text, (column) => column.notNull())
      .addColumn('actor', text)
      .addColumn('expires_at', integer, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('editor_tokens_by_expiry').on('editor_tokens').column('expires_at').execute();
    await db.schema
      .createIndex('editor_tokens_by_scope')
      .on('editor_tokens')
      .columns(['tenant_id', 'namespace', 'plugin_name'])
      .execute();

    await create('drafts')
      .addColumn('plugin_id', integer, (column) => column.primaryKey().references('plugins.id'))
      .addColumn('record', text, (column) => column.notNull())
      .addColumn('lang', text, (column) => column.notNull())
      .addColumn('tag', text, (column) => column.notNull())
      .addColumn('build_digest', text, (column) => column.notNull())
      .addColumn('source_digest', text, (column) => column.notNull())
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('actor', text)
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
      .addColumn('plugin_id', integer, (column) => column.primaryKey().references('plugins.id'))
      .addColumn('digest', text, (column) => column.notNull())
      .addColumn('program_hash', key, (column) => column.notNull().references('programs.hash'))
      .addColumn('built_at', integer, (column) => column.notNull())
      .execute();

    await create('versions')
      .addColumn('plugin_id', integer, (column) => column.notNull().references('plugins.id'))
      .addColumn('patch', integer, (column) => column.notNull())
      .addColumn('record', text, (column) => column.notNull())
      .addColumn('lang', text, (column) => column.notNull())
      .addColumn('digest', text, (column) => column.notNull())
      .addColumn('program_hash', key, (column) => column.notNull().references('programs.hash'))
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('actor', text)
      .addColumn('message', text)
      .addPrimaryKeyConstraint('versions_key', ['plugin_id', 'patch'])
      .execute();
    // What runs in production must never change under its name; no operation updates a version, so this costs nothing.
    // Removing one is not forbidden: a plugin that is deleted takes its versions along.
    await engine.forbidUpdates(db, 'versions', 'a version is never changed');

    // For finding out whether a program is still referred to.
    await db.schema.createIndex('builds_by_program').on('builds').column('program_hash').execute();
    await db.schema.createIndex('versions_by_program').on('versions').column('program_hash').execute();

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
