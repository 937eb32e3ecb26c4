import { sql } from 'kysely';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import type { Migration } from '../../../service/src/storage/migrations/migrations.ts';
import { openEngine } from '../../../service/src/storage/storage.ts';

// A program that brings a database up to date in a separate process: `<url> <how>`. Where `how` is "slow" it says "in the
// middle" once some of its schema is made, and waits for standard input to end; else it says "asks" when it is about to ask for
// the lock. At last it says "done".
const [url = '', how = ''] = process.argv.slice(2);
const slow: Migration = {
  name: '9001-slow',
  oldestProgram: 1,
  async up(db) {
    await sql`create table half_done (id integer)`.execute(db);
    console.log('in the middle');
    for await (const _ of process.stdin);
  },
};
const engine = await openEngine(parseDatabaseUrl(url));
if (how === 'slow') await migrate(engine, [...migrations, slow]);
else {
  const migrationTransaction = engine.migrationTransaction.bind(engine);
  engine.migrationTransaction = (work) => {
    console.log('asks');
    return migrationTransaction(work);
  };
  await migrate(engine);
}
await engine.close();
console.log('done');
