import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { killTree } from './processes.ts';

const fixture = fileURLToPath(new URL('service.fixture.ts', import.meta.url));

/** The environment of all plugins but those that are to disturb them, and that of those. */
export const environment = 'com.acme';
export const otherEnvironment = 'com.other';

/** A plugin to deploy, in a namespace of its own by the name `default`. */
export interface Plugin {
  /** `{environment}.{tenant}`. */
  ident: string;
  name: string;
  lang: string;
  contents: string;
}

/** Where the first version of a plugin is called. */
export const executionPath = ({ ident, name }: Pick<Plugin, 'ident' | 'name'>): string =>
  `/exec/${ident}/default/${name}/v1.0.0`;

/** A directory for a service's data, which is removed in the end. */
export function createDataDirectory(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'plugin-service-bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A service in a process of its own, with tokens for both environments. */
export class ServiceProcess implements AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly #tokens: Readonly<Record<string, string>>;
  readonly #ended: Promise<unknown>;

  private constructor(
    pid: number,
    { port, tokens }: { port: number; tokens: Record<string, string> },
    ended: Promise<unknown>,
  ) {
    this.pid = pid;
    this.port = port;
    this.#tokens = tokens;
    this.#ended = ended;
  }

  /**
   * Starts it on the data that is in `directory`, which another process may have left there, with some variables of the
   * environment beside those of this process.
   */
  static async start(directory: string, variables: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', fixture, directory, environment, otherEnvironment],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...variables } },
    );
    const ended = once(child, 'exit');
    const failed = ended.then(() => {
      throw new Error('The service has ended; what it printed is above.');
    });
    const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), failed])) as [string];
    failed.catch(() => {});
    const started = JSON.parse(line) as { port: number; tokens: Record<string, string> };
    return new ServiceProcess(child.pid ?? 0, started, ended);
  }

  /** The environment token for what belongs to `ident`. */
  tokenFor(ident: string): string {
    return this.#tokens[ident.slice(0, ident.lastIndexOf('.'))] ?? '';
  }

  /** Builds a plugin and deploys it. Throws what the build said when it did not succeed. */
  async deploy({ ident, name, lang, contents }: Plugin): Promise<void> {
    const path = `${ident}/default/${name}`;
    const { token } = await this.#json<{ token: string }>(`/auth/v2/access/${path}`, this.tokenFor(ident));
    const built = await this.#json<{ succeeded: boolean; outputLog: string }>(
      `/api/v1/build/${lang}/${path}`,
      token,
      contents,
    );
    if (!built.succeeded) throw new BuildError(built.outputLog);
    await this.#json(`/api/v1/draft/${path}/promote`, token, '');
  }

  /** Deploys many, a few at a time. */
  async deployAll(plugins: readonly Plugin[]): Promise<void> {
    const left = plugins.values();
    const deployNext = async () => {
      for (const plugin of left) await this.deploy(plugin);
    };
    await Promise.all(Array.from({ length: 4 }, deployNext));
  }

  async #json<T>(path: string, token: string, body?: string): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** Ends it and all that it has started, whatever those are doing. */
  async [Symbol.asyncDispose](): Promise<void> {
    killTree(this.pid);
    await this.#ended;
  }
}

/** A plugin that the service refused to build. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
