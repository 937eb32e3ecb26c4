import { sql } from 'kysely';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import type { Migration } from '../../../service/src/storage/migrations/migrations.ts';
import { openEngine } from '../../../service/src/storage/storage.ts';

// A program that brings a database up to date in a process of its own: `<url> <how>`. It says "in the middle" once some of
// its schema is made, then waits for standard input to end where `how` is "slow", and at last says "done".
const [url = '', how = ''] = process.argv.slice(2);
const slow: Migration = {
  name: '0002-slow',
  oldestProgram: 1,
  async up(db) {
    await sql`create table half_done (id integer)`.execute(db);
    console.log('in the middle');
    for await (const _ of process.stdin);
  },
};
const engine = await openEngine(parseDatabaseUrl(url));
await migrate(engine, how === 'slow' ? [...migrations, slow] : migrations);
await engine.close();
console.log('done');
