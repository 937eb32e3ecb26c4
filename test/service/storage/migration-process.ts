import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { cleanUpFirst, databaseUrl } from './databases.ts';
import type { Cleanup } from './databases.ts';

/** Brings a database up to date in a separate process; `migration.fixture.ts` says how. */
export function startMigration(t: Cleanup, address: DatabaseAddress, how: 'slow' | 'quick') {
  const fixture = join(import.meta.dirname, 'migration.fixture.ts');
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fixture, databaseUrl(address), how],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  cleanUpFirst(t, () => child.kill('SIGKILL'));
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string | undefined> => (await lines.next()).value;
  return { child, exited, nextLine };
}
