import type { Migration } from './migrations.ts';

/**
 * Adds the libraries of environments, and which of them a namespace has. A release before, which may still use the database, leaves
 * those of a namespace as they are, and builds without them.
 */
export const libraries: Migration = {
  name: '0012-libraries',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('libraries')
      .modifyEnd(tableOptions)
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('version', key, (column) => column.notNull())
      .addColumn('digest', text, (column) => column.notNull())
      .addColumn('contents', text)
      .addColumn('details', text)
      .addColumn('bytes', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('deleted_at', integer)
      .addPrimaryKeyConstraint('libraries_key', ['environment', 'name', 'version'])
      .execute();
    await db.schema.alterTable('namespaces').addColumn('libraries', text).execute();
    for (const table of ['namespaces', 'builds', 'versions'] as const) {
      await db.schema
        .alterTable(table)
        .addColumn('libraries_digest', text, (column) => column.notNull().defaultTo(''))
        .execute();
    }
  },
};
