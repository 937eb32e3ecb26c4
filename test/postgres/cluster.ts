import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findBinaries } from './binaries.ts';
import type { Binaries, PostgresRelease } from './binaries.ts';
import { freePort } from '../support/free-port.ts';
import { memoryFolder } from '../support/memory-folder.ts';

/** Settings that are quick, and lose the data in a crash. */
const hasty = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
};

/** A PostgreSQL server with a data folder of its own. */
export class Cluster {
  readonly #binaries: Binaries;
  readonly #directory: string;
  readonly #isDurable: boolean;
  #server: ChildProcess | undefined;
  #port = 0;

  private constructor(binaries: Binaries, directory: string, isDurable: boolean) {
    this.#binaries = binaries;
    this.#directory = directory;
    this.#isDurable = isDurable;
  }

  /**
   * Makes a server that does not run yet. `durable`: whether a commit is on the disk before it is acknowledged. `release`: by
   * default the one that TEST_POSTGRES names.
   */
  static async create(options: { durable: boolean; release?: PostgresRelease }): Promise<Cluster> {
    const binaries = await findBinaries(options.release);
    const directory = mkdtempSync(join(options.durable ? tmpdir() : memoryFolder, 'postgres-data-'));
    const { user } = binaries;
    if (user) chownSync(directory, user.uid, user.gid);
    // The default order of texts is that of a language, as on most servers, so that one that is not asked for by its
    // bytes shows.
    const locale = ['--encoding=UTF8', '--locale=C', ...(await localeFlags(binaries))];
    const flags = ['--username=postgres', '--auth=trust', '--no-sync', ...locale];
    await promisify(execFile)(binaries.initdb, [`--pgdata=${directory}`, ...flags], {
      ...user,
      cwd: directory,
    });
    return new Cluster(binaries, directory, options.durable);
  }

  /** The URL of the initial database. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`;
  }

  /** Starts it on its previous port. Rejects with its output when that fails. */
  async start(): Promise<void> {
    this.#port ||= await freePort();
    const all = { ...settings, ...(this.#isDurable ? {} : hasty), port: this.#port };
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(this.#binaries.postgres, ['-D', this.#directory, ...flags], {
      ...this.#binaries.user,
      cwd: this.#directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = server;
    const lines: string[] = [];
    for await (const line of createInterface({ input: server.stderr })) {
      lines.push(line);
      if (line.includes('database system is ready to accept connections')) {
        // Its further output is ignored, but has to be read, as it would block otherwise.
        server.stderr.resume();
        return;
      }
    }
    throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`);
  }

  /** Shuts it down cleanly, even if clients are connected, and waits for that. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGINT');
    await exited;
  }

  /** Kills all processes of it at once, as when the machine's memory runs out, and waits until they are gone. */
  async crash(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server?.pid === undefined) return;
    const { stdout } = await promisify(execFile)('ps', ['-e', '-o', 'pid=,ppid=']);
    const children = stdout
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([pid, parent]) => (parent === server.pid && pid !== undefined ? [pid] : []));
    const exited = once(server, 'exit');
    for (const pid of [server.pid, ...children]) kill(pid, 'SIGKILL');
    await exited;
    // While one of them lives, the server does not start again on the same data.
    while (children.some((pid) => kill(pid, 0))) await sleep(5);
  }

  /** Ends it and removes its data. */
  async remove(): Promise<void> {
    await this.stop();
    for (const path of [this.#directory, this.#binaries.copy]) {
      if (path !== undefined) rmSync(path, { recursive: true, force: true });
    }
  }
}

/** PostgreSQL before 15 knows no locales but those of the C library, of which only C is on every machine. */
async function localeFlags({ initdb, user }: Binaries): Promise<string[]> {
  const { stdout } = await promisify(execFile)(initdb, ['--help'], { ...user });
  return stdout.includes('--locale-provider') ? ['--locale-provider=icu', '--icu-locale=en'] : [];
}

/** Sends a signal, or only checks with 0. Returns false when the process does not exist any more. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
