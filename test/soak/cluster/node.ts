import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { statusOf } from '../../support/http-proxy.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const command = fileURLToPath(new URL('../../../service/src/cli/main.ts', import.meta.url));

/** A node of the service, in a process of its own, that is killed and started again at the same port. */
export class ClusterNode {
  readonly port: number;
  readonly #databaseUrl: string;
  readonly #dataDir: string;
  #child: ChildProcess | undefined;
  /** All that it printed on standard error. */
  output = '';

  private constructor(port: number, databaseUrl: string, dataDir: string) {
    this.port = port;
    this.#databaseUrl = databaseUrl;
    this.#dataDir = dataDir;
  }

  static async start(databaseUrl: string): Promise<ClusterNode> {
    const dataDir = await mkdtemp(join(tmpdir(), 'plugin-service-node-'));
    const node = new ClusterNode(await freePort(), databaseUrl, dataDir);
    node.launch();
    await until('a node that is ready', () => node.isReady());
    return node;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('The node does not run.');
    return pid;
  }

  /** Starts its process, and does not wait until it serves. */
  launch(): void {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', command, 'serve'], {
      env: {
        ...process.env,
        DATABASE_URL: this.#databaseUrl,
        DATA_DIR: this.#dataDir,
        SERVICE_PORT: String(this.port),
        // All users come from one address, and share the environment's token.
        TOKEN_REQUESTS_PER_MINUTE: '0',
        ADDRESS_REQUESTS_PER_MINUTE: '0',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.#child = child;
  }

  /** Whether it says that it takes all requests; where it has no such answer yet, whether it answers at all. */
  async isReady(): Promise<boolean> {
    const status = await statusOf(this.port, '/readyz');
    return status === 200;
  }

  /** Ends it with no warning. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
