import '../support/cold-compilers.ts';
import { sql } from 'kysely';
import { serve } from '../../service/src/cli/serve.ts';
import { readSettings } from '../../service/src/settings/read-settings.ts';
import { migrate } from '../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../service/src/storage/migrations/migrations.ts';
import type { Migration } from '../../service/src/storage/migrations/migrations.ts';
import { openEngine } from '../../service/src/storage/storage.ts';

/*
 * The command `serve` of a release, which is its first argument: `this` one, or the `next` one, whose schema is one migration
 * further.
 */

/** What the next release may do to the schema: only what a program of this release can leave alone. */
const next: Migration = {
  name: '9999-next-release',
  oldestProgram: migrations.at(-1)?.oldestProgram ?? 1,
  async up(db) {
    await sql`alter table drafts add column reviewed_at bigint`.execute(db);
    await sql`alter table versions add column note text not null default ''`.execute(db);
    await sql`create table reviews (id integer primary key, note text not null)`.execute(db);
    await sql`create index drafts_by_review on drafts (reviewed_at)`.execute(db);
  },
};

if (process.argv[2] === 'next') {
  const engine = await openEngine(readSettings(process.env).database);
  await migrate(engine, [...migrations, next]);
  await engine.close();
}
await serve([]);
