import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs `work` in one transaction that takes the write lock at its start: what it reads cannot have changed by
 * the time it writes, although another process uses the same file. Throwing undoes all of it.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk, for one, has SQLite roll back by itself.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
