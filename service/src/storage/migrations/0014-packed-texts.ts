import { sql } from 'kysely';
import { replaceCounting } from './0005-tenant-storage.ts';
import { lockRuns } from './0013-run-days.ts';
import type { Migration } from './migrations.ts';

/**
 * Room for long texts in a compressed form, which only programs from this one on can read: see `packed-text.ts`. What tenants
 * store counts as before, by the length of the texts.
 */
export const packedTexts: Migration = {
  name: '0014-packed-texts',
  oldestProgram: 1,
  isRequiredOfNew: true,
  async up(db, engine) {
    const { bytes, integer } = engine.columns;
    if (engine.name === 'postgres') await lockRuns(db, 'programs');
    for (const [table, packed, length] of [
      ['programs', 'packed', 'bytes'],
      ['runs', 'packed_details', 'details_bytes'],
    ] as const) {
      await db.schema.alterTable(table).addColumn(packed, bytes).execute();
      await db.schema.alterTable(table).addColumn(length, integer).execute();
      // PostgreSQL would try to compress it once more.
      if (engine.name === 'postgres')
        await sql`alter table ${sql.table(table)} alter column ${sql.ref(packed)} set storage external`.execute(
          db,
        );
    }
    await replaceCounting(db, engine, {
      program: 'coalesce(programs.bytes, octet_length(program))',
      details: (row = '') => `coalesce(${row}details_bytes, octet_length(${row}details))`,
    });
  },
};
