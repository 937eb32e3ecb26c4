import type { Migration } from './migrations.ts';

/**
 * The types of the input and output of a namespace's plugins. Builds and versions hold the digest of the schemas that they were
 * made with. It is empty for those of older releases, which build without schemas.
 */
export const namespaces: Migration = {
  name: '0004-namespaces',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('namespaces')
      .modifyEnd(tableOptions)
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('record', text, (column) => column.notNull())
      .addColumn('record_size', integer, (column) => column.notNull())
      .addColumn('schemas_digest', text, (column) => column.notNull())
      .addColumn('compiled', text)
      .addColumn('declarations', text, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('namespaces_key', ['environment', 'name'])
      .execute();
    for (const table of ['builds', 'versions'] as const) {
      await db.schema
        .alterTable(table)
        .addColumn('schemas_digest', text, (column) => column.notNull().defaultTo(''))
        .execute();
    }
  },
};
