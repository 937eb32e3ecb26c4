import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { StartError } from '../../start-error.ts';
import { reasonOf } from '../reason.ts';
import { secretTables } from '../secret-tables.ts';
import { loadSqlite } from './load-sqlite.ts';

/**
 * Copies an SQLite file as it is at one moment, whoever writes to it meanwhile, into a file for this user's eyes only. The
 * target is there once it is complete, or not at all. Throws a {@link StartError} when that cannot be done.
 */
export async function backUp(file: string, target: string): Promise<void> {
  const { backup, DatabaseSync } = loadSqlite();
  const partial = `${target}.${randomUUID()}.partial`;
  try {
    closeSync(openSync(partial, 'wx', 0o600));
    const source = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
    try {
      // All pages at once: between steps a writer could make it begin anew, again and again.
      await backup(source, partial, { rate: 2 ** 31 - 1 });
    } finally {
      source.close();
    }
    removeSecrets(new DatabaseSync(partial));
    // Unlike a rename it never takes the place of a file that has come to be there meanwhile.
    linkSync(partial, target);
  } catch (error) {
    throw new StartError(`The backup ${target} cannot be written: ${reasonOf(error)}.`, { cause: error });
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(partial + suffix, { force: true });
  }
}

function removeSecrets(copy: InstanceType<ReturnType<typeof loadSqlite>['DatabaseSync']>): void {
  try {
    // The copy is one file alone, without a log beside it.
    copy.exec('PRAGMA journal_mode = DELETE');
    const isThere = copy.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    for (const table of secretTables) if (isThere.get(table)) copy.exec(`DELETE FROM ${table}`);
    // Deleted rows would else still be in the file, in pages that nothing uses.
    copy.exec('VACUUM');
  } finally {
    copy.close();
  }
}
