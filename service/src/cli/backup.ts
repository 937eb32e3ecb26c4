import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { secretsOf } from '../settings/complete-settings.ts';
import { readSettings } from '../settings/read-settings.ts';
import { StartError } from '../start-error.ts';
import { secretTables } from '../storage/secret-tables.ts';
import { backUp } from '../storage/sqlite/backup.ts';
import { readOptions, UsageError } from './options.ts';

const usage = `Usage: plugin-editor-service backup <file>

Writes a consistent copy of the SQLite file that DATABASE_URL or DATA_DIR names, also while it is served. The copy holds no
tokens and no verification codes: after it was restored, make environment tokens anew with env-token. To restore it, stop
the service and put the copy in the place of the file, without the -wal and -shm files beside that. The secrets of connections
and webhooks can only be read with SECRETS_KEY, or with the file secrets.key in DATA_DIR: keep that, too.

PostgreSQL is backed up by its own tools: pg_dump, or continuous archiving.`;

/** The command for a backup of PostgreSQL, without the tables that hold secrets. */
const pgDump = [
  'pg_dump --format=custom --no-owner',
  ...secretTables.map((table) => `--exclude-table-data=${table}`),
  '--file=backup.dump "$DATABASE_URL"',
].join(' ');

/** Copies the database of a service that may be running. */
export async function backup(args: string[]): Promise<void> {
  const {
    help,
    positionals: [path],
  } = readOptions(args, usage, {}, 1);
  if (help) {
    console.log(usage);
    return;
  }
  if (path === undefined) throw new UsageError(`The file to write is missing.\n\n${usage}`);
  const settings = readSettings(process.env);
  const { database } = settings;
  if (database.engine === 'postgres') {
    throw new StartError(
      `The database is ${database.shown}, which this command does not back up; use pg_dump, without the tables that hold tokens: ${pgDump}`,
    );
  }
  const copy = resolve(path);
  if (!existsSync(database.file)) {
    throw new StartError(`There is no database yet: ${database.file}. See DATABASE_URL and DATA_DIR.`);
  }
  if (existsSync(copy)) {
    throw new StartError(`${copy} exists already; name a file that does not exist.`);
  }
  await backUp(database.file, copy);
  const { file } = secretsOf(settings);
  const key = file === undefined ? 'SECRETS_KEY' : existsSync(file) && file;
  const hint = key ? ` Its secrets can only be read with ${key}: keep that, too.` : '';
  console.log(`The backup is in ${copy}. It holds no tokens.${hint}`);
}
