import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { parseDatabaseUrl } from '../../service/src/storage/database-url.ts';
import { openStorage } from '../../service/src/storage/storage.ts';

const fixture = fileURLToPath(new URL('node.fixture.ts', import.meta.url));

/** This release, or one with a schema that is one migration further. */
export type Release = 'this' | 'next';

/** A node of the service, which can be ended and started again at the same address. */
export class NodeProcess implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #port = 0;
  /** How many requests it has answered, but for those about its health. */
  answered = 0;

  /** @param settings variables beside `DATABASE_URL` */
  constructor(databaseUrl: string, settings: Readonly<Record<string, string>> = {}) {
    this.#settings = { DATABASE_URL: databaseUrl, ...settings };
  }

  /** As a proxy names it. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get origin(): string {
    return `http://${this.address}`;
  }

  /** Starts it; resolves once it serves. Rejects when it ends instead. */
  async start(release: Release = 'this'): Promise<void> {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fixture, release], {
      env: {
        ...process.env,
        // Users of these tests work without a pause, faster than any editor.
        TOKEN_REQUESTS_PER_MINUTE: '0',
        // No run of these tests loops, and a busy machine may need more than the default of a second.
        RUN_TIMEOUT_MS: '20000',
        ...this.#settings,
        SERVICE_PORT: `${this.#port}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    const served = Promise.withResolvers<void>();
    child.once('exit', () => served.reject(new Error('The node has ended; what it printed is above.')));
    createInterface(child.stdout).on('line', (line) => {
      const { port, route } = JSON.parse(line) as { port?: number; route?: string };
      if (port !== undefined) {
        this.#port = port;
        served.resolve();
      }
      if (route !== undefined && route !== '/healthz' && route !== '/readyz') this.answered++;
    });
    await served.promise;
  }

  /** Ends it with a signal, and waits; resolves with its exit code, which is null where the signal ended it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await exited)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}

/** Makes the schema where there is none, and a token for the environment `com.acme`. */
export async function createEnvironmentToken(databaseUrl: string): Promise<string> {
  const storage = await openStorage(parseDatabaseUrl(databaseUrl));
  try {
    return await provisionEnvironmentToken(storage, 'com.acme');
  } finally {
    await storage.close();
  }
}
