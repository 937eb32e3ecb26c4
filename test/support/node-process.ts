import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { parseDatabaseUrl } from '../../service/src/storage/database-url.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { freePort } from './free-port.ts';

const fixture = fileURLToPath(new URL('../deploy/node.fixture.ts', import.meta.url));

/** This release, or one with a schema that is one migration further. */
export type Release = 'this' | 'next';

/** A line that the service logs, as far as it is used here. */
interface LogLine {
  readonly level?: string;
  readonly port?: number;
  readonly route?: string;
  readonly inUse?: number;
}

/** A node of the service, which can be ended and started again at the same address. */
export class NodeProcess implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #port = 0;
  /** How many requests it has answered, but for those about its health. */
  answered = 0;
  /** What it printed to standard error. */
  errors = '';
  /** The lines that it logged as errors. */
  readonly faults: string[] = [];
  /** Bytes that its main thread uses, as `heap-probe.js` printed them. */
  readonly memoryInUse: number[] = [];

  /** @param settings variables besides `DATABASE_URL` */
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

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('The node does not run.');
    return pid;
  }

  /** Starts it; resolves once it serves. Rejects when it ends instead. */
  async start(release: Release = 'this'): Promise<void> {
    // While it is ended, nothing else may get its port.
    this.#port ||= await freePort();
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fixture, release], {
      env: {
        ...process.env,
        // Users of these tests work without a pause, faster than any editor, and come from one address.
        TOKEN_REQUESTS_PER_MINUTE: '0',
        ADDRESS_REQUESTS_PER_MINUTE: '0',
        // No run of these tests loops, and a busy machine may need more than the default of a second.
        RUN_TIMEOUT_MS: '20000',
        ...this.#settings,
        SERVICE_PORT: `${this.#port}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const served = Promise.withResolvers<void>();
    child.once('exit', () => served.reject(new Error(`The node has ended: ${this.errors}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    createInterface(child.stdout).on('line', (line) => {
      const { level, port, route, inUse } = JSON.parse(line) as LogLine;
      if (port !== undefined) served.resolve();
      if (route !== undefined && route !== '/healthz' && route !== '/readyz') this.answered++;
      if (level === 'error' || level === 'fatal') this.faults.push(line);
      if (inUse !== undefined) this.memoryInUse.push(inUse);
    });
    await served.promise;
  }

  /** Whether it says that it takes all requests. */
  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(1000);
    return fetch(`${this.origin}/readyz`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
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
