import type { Migration } from './migrations.ts';

/**
 * Adds the values of connections, and the keys that sign identities. Both are stored encrypted. A value of the environment, for
 * tenants without one, has 0 as the tenant, so that the key has no null.
 */
export const connections: Migration = {
  name: '0007-connections',
  oldestProgram: 1,
  async up(db, engine) {
    const { key, text, integer, tableOptions } = engine.columns;
    await db.schema
      .createTable('connection_values')
      .modifyEnd(tableOptions)
      .addColumn('environment', key, (column) => column.notNull().references('environments.name'))
      .addColumn('tenant_id', integer, (column) => column.notNull())
      .addColumn('namespace', key, (column) => column.notNull())
      .addColumn('connection', key, (column) => column.notNull())
      .addColumn('sealed', text)
      .addColumn('origin', text)
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('connection_values_key', [
        'environment',
        'tenant_id',
        'namespace',
        'connection',
      ])
      .execute();
    // For erasing what a tenant has.
    await db.schema
      .createIndex('connection_values_tenant')
      .on('connection_values')
      .column('tenant_id')
      .execute();
    await db.schema
      .createTable('identity_keys')
      .modifyEnd(tableOptions)
      .addColumn('id', key, (column) => column.primaryKey())
      .addColumn('public_key', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('signs_from', integer, (column) => column.notNull())
      .execute();
  },
};
