import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findBinaries } from './binaries.ts';
import type { Binaries } from './binaries.ts';

/** For tests that end with the database: quick, and worth nothing after a crash. */
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

  /** Makes a server that does not run yet. `durable`: whether a commit is on the disk before it is acknowledged. */
  static async create({ durable }: { durable: boolean }): Promise<Cluster> {
    const binaries = await findBinaries();
    const directory = mkdtempSync(join(tmpdir(), 'postgres-data-'));
    const { user } = binaries;
    if (user) chownSync(directory, user.uid, user.gid);
    // The default order of texts is that of a language, as on most servers, so that one that is not asked for by its
    // bytes shows.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'];
    const flags = ['--username=postgres', '--auth=trust', '--no-sync', ...locale];
    await promisify(execFile)(binaries.initdb, [`--pgdata=${directory}`, ...flags], {
      ...user,
      cwd: directory,
    });
    return new Cluster(binaries, directory, durable);
  }

  /** The address of the database that is there from the beginning. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`;
  }

  /** The process that starts all others of the server. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** Starts it, on the port that it had before. Rejects with what it said when it does not come up. */
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
    const said: string[] = [];
    for await (const line of createInterface({ input: server.stderr })) {
      said.push(line);
      if (line.includes('database system is ready to accept connections')) {
        // What it says from now on is of no interest, but must be read for it not to wait.
        server.stderr.resume();
        return;
      }
    }
    throw new Error(`PostgreSQL did not start:\n${said.join('\n')}`);
  }

  /** Ends it, and waits for that. `SIGINT` lets no connection finish; `SIGKILL` is a crash of its first process. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  }

  /** Ends it and removes its data. */
  async remove(): Promise<void> {
    await this.stop();
    for (const path of [this.#directory, this.#binaries.copy]) {
      if (path !== undefined) rmSync(path, { recursive: true, force: true });
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
