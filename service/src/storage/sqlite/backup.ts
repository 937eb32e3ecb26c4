import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { StartError } from '../../start-error.ts';
import { describeDatabaseError } from '../errors.ts';
import { secretTables } from '../secret-tables.ts';
import { loadSqlite } from './load-sqlite.ts';

/**
 * Makes a consistent copy of an SQLite file, even while it is written to, that only this user can read. The copy is created
 * whole or not at all. Throws a {@link StartError} when that cannot be done.
 */
export async function backUp(file: string, copy: string): Promise<void> {
  const { backup, DatabaseSync } = loadSqlite();
  const partial = `${copy}.${randomUUID()}.partial`;
  try {
    closeSync(openSync(partial, 'wx', 0o600));
    const source = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
    try {
      // All pages in one step: between several steps, writers could make the backup start over again and again.
      await backup(source, partial, { rate: 2 ** 31 - 1 });
    } finally {
      source.close();
    }
    removeSecrets(new DatabaseSync(partial));
    // Unlike a rename, a link never replaces a file that was created meanwhile.
    linkSync(partial, copy);
  } catch (error) {
    throw new StartError(`The backup ${copy} cannot be written: ${describeDatabaseError(error)}.`, {
      cause: error,
    });
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(partial + suffix, { force: true });
  }
}

function removeSecrets(database: InstanceType<ReturnType<typeof loadSqlite>['DatabaseSync']>): void {
  try {
    // So that the copy is a single file, without a log beside it.
    database.exec('PRAGMA journal_mode = DELETE');
    const isThere = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    for (const table of secretTables) if (isThere.get(table)) database.exec(`DELETE FROM ${table}`);
    // Otherwise deleted rows would remain in unused pages of the file.
    database.exec('VACUUM');
  } finally {
    database.close();
  }
}
