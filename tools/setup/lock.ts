import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Takes a lock between processes, and waits while another process has it. It is SQLite's lock on an empty file, because the
 * system releases that when its process is killed.
 * @param file an absolute path; the file is created if it is missing, the folder is not
 * @returns the function that releases the lock
 */
export async function lock(file: string): Promise<() => void> {
  const database = new DatabaseSync(file, { timeout: 0 });
  for (let isFirst = true; ; isFirst = false) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return () => database.close();
    } catch (error) {
      if (!/database is locked/.test(String(error))) throw error;
      if (isFirst) console.error(`Waiting for another process, which has locked ${file}.`);
      await wait(100);
    }
  }
}
