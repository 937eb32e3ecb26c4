import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { databaseUrl } from '../service/storage/databases.ts';
import type { DurableDatabase } from '../service/storage/durable-database.ts';
import { createEnvironmentToken, NodeProcess } from '../support/node-process.ts';
import { until } from '../support/until.ts';

const probe = new URL('./heap-probe.js', import.meta.url).href;

type Settings = Readonly<Record<string, string>>;

/** A service that is killed together with its database, and started again on the same data. */
export class KilledService {
  readonly node: NodeProcess;
  readonly environmentToken: string;
  readonly #database: DurableDatabase;
  isKilled = false;

  private constructor(database: DurableDatabase, environmentToken: string, settings: Settings) {
    const options = [process.env['NODE_OPTIONS'], `--import=${probe}`];
    this.node = new NodeProcess(databaseUrl(database.address), {
      NODE_OPTIONS: options.filter(Boolean).join(' '),
      ...settings,
    });
    this.#database = database;
    this.environmentToken = environmentToken;
  }

  /** The caller removes the database. */
  static async start(database: DurableDatabase, settings: Settings = {}): Promise<KilledService> {
    const token = await createEnvironmentToken(databaseUrl(database.address));
    const service = new KilledService(database, token, settings);
    await service.node.start();
    return service;
  }

  async restart(): Promise<void> {
    await this.#database.restart();
    await this.node.start();
    this.isKilled = false;
  }

  /** Bytes that its main thread holds and uses, after a collection. */
  async memoryInUse(): Promise<number> {
    const { memoryInUse: printed } = this.node;
    const before = printed.length;
    process.kill(this.node.pid, 'SIGUSR2');
    await until('another figure of memory', () => printed.length > before);
    return printed.at(-1) ?? NaN;
  }

  /** Ends it and its database with no warning, and waits until they and all that they had started are gone. */
  async kill(): Promise<void> {
    const { pid } = this.node;
    const helpers = (await processes(pid)).filter((one) => one.pid !== pid);
    this.isKilled = true;
    await Promise.all([this.node.end('SIGKILL'), this.#database.crash()]);
    await until('the end of all processes', () => helpers.every((one) => !isAlive(one.pid)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isKilled) await this.kill();
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
