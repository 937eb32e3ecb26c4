import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Takes a lock between processes, and waits for it as long as another has it; returns what gives it back. It is SQLite's on
 * an empty file, because the system takes that from a process that is killed.
 * @param file absolute; it is made where it is not there, in a folder that is
 */
export async function lock(file: string): Promise<() => void> {
  const database = new DatabaseSync(file, { timeout: 0 });
  for (;;) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return () => database.close();
    } catch (error) {
      if (!/database is locked/.test(String(error))) throw error;
      await wait(100);
    }
  }
}
