import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** How much must be free there, in bytes: many containers have 64 MB. */
const ENOUGH = 2 ** 30;

const inMemory = '/dev/shm';

/**
 * Where tests have databases that need not outlive the machine: in memory where the system has a folder for that, because a commit
 * waits for a disk.
 */
export const memoryFolder: string = isRoomy(inMemory) ? inMemory : tmpdir();

function isRoomy(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ENOUGH;
  } catch {
    return false;
  }
}
