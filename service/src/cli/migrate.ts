import { readSettings } from '../settings/read-settings.ts';
import { migrateDatabase } from '../storage/storage.ts';
import { readOptions } from './options.ts';

const usage = `Usage: plugin-editor-service migrate

Brings the schema of the database that DATABASE_URL or DATA_DIR names up to date, under a lock, and ends. Running it again
changes nothing. Services that run meanwhile go on; those that wait for the schema (AUTO_MIGRATE=off) begin.`;

/** Brings the schema up to date. */
export async function migrate(args: string[]): Promise<void> {
  if (readOptions(args, usage, {}).help) {
    console.log(usage);
    return;
  }
  const { database } = readSettings(process.env);
  await migrateDatabase(database);
  console.log(`The schema is up to date: ${database.engine === 'sqlite' ? database.file : database.shown}`);
}
