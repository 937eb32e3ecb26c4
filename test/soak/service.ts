import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { issueOwnerToken } from '../../service/src/accounts/environment-token.ts';
import { databaseUrl } from '../service/storage/databases.ts';
import type { DurableDatabase } from '../service/storage/durable-database.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { startDemo } from '../demo/harness.ts';
import type { RunningDemo } from '../demo/harness.ts';
import { until } from '../support/until.ts';

const probe = new URL('./heap-probe.js', import.meta.url).href;

export const ENVIRONMENT = 'com.example';

/** What `npm start` runs, in a process that is killed and started again on the same database. */
export class KilledService {
  readonly #dataDir: string;
  readonly #database: DurableDatabase;
  /** Its owner's, which outlives a restart; the demo's own gets another each time. */
  environmentToken = '';
  isKilled = false;
  #demo: RunningDemo | undefined;

  private constructor(dataDir: string, database: DurableDatabase) {
    this.#dataDir = dataDir;
    this.#database = database;
  }

  /** The caller removes the database. */
  static async start(database: DurableDatabase): Promise<KilledService> {
    const service = new KilledService(await mkdtemp(join(tmpdir(), 'plugin-service-soak-')), database);
    try {
      await service.#startDemo();
      const storage = await openStorage(database.address);
      const token = await storage.transaction((tables) =>
        issueOwnerToken(tables, ENVIRONMENT, 'owner@example.com', Date.now()),
      );
      service.environmentToken = token ?? '';
      await storage.close();
    } catch (error) {
      await service.remove();
      throw error;
    }
    return service;
  }

  async restart(): Promise<void> {
    await this.#database.restart();
    await this.#startDemo();
    this.isKilled = false;
  }

  async #startDemo(): Promise<void> {
    this.#demo = await startDemo({
      DATA_DIR: this.#dataDir,
      DATABASE_URL: databaseUrl(this.#database.address),
      NODE_OPTIONS: `--import ${probe}`,
      // Users who never pause ask more often than people do.
      TOKEN_REQUESTS_PER_MINUTE: '0',
    });
  }

  get base(): string {
    return this.#running.service;
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** All that it printed. */
  get output(): string {
    return this.#running.output();
  }

  /** Bytes that its main thread holds and uses, after a collection. */
  async memoryInUse(): Promise<number> {
    const printed = () =>
      [...this.output.matchAll(/^in use: (\d+) bytes$/gm)].map(([, bytes]) => Number(bytes));
    const before = printed().length;
    process.kill(this.pid, 'SIGUSR2');
    await until('another figure of memory', () => printed().length > before);
    return printed().at(-1) ?? NaN;
  }

  /** Ends it and its database with no warning, and waits until they and all that they had started are gone. */
  async kill(): Promise<void> {
    const demo = this.#running;
    const helpers = (await processes(demo.pid)).filter(({ pid }) => pid !== demo.pid);
    demo.kill('SIGKILL');
    this.isKilled = true;
    await Promise.all([demo.ended, this.#database.crash()]);
    await until('the end of all processes', () => helpers.every(({ pid }) => !isAlive(pid)));
  }

  async remove(): Promise<void> {
    if (this.#demo && !this.isKilled) await this.kill();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  get #running(): RunningDemo {
    if (!this.#demo) throw new Error('The service was not started.');
    return this.#demo;
  }
}

interface Process {
  pid: number;
  /** Bytes of the machine's memory. */
  memory: number;
}

/** A process and all that it started, with what they hold now. */
export async function processes(root: number): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-e', '-o', 'pid=,ppid=,rss=']);
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]);
  const family = new Set([root]);
  // A parent may be listed after its child.
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const [pid, parent] of all) if (family.has(parent)) family.add(pid);
  }
  return all
    .filter(([pid]) => family.has(pid))
    .map(([pid, , kibibytes]) => ({ pid, memory: kibibytes * 1024 }));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
