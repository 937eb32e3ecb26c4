import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killTree } from './processes.ts';

/** The built project that is measured unless another folder is named: by default this one. */
const measuredProject = process.env['BENCH_PROJECT'] ?? join(import.meta.dirname, '../../..');

/** The environment of all plugins but those that are to disturb them, and that of those. */
export const environment = 'com.acme';
export const otherEnvironment = 'com.other';

/** A plugin to deploy in the namespace `default`. */
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

export interface ServiceOptions {
  /** Settings of the service, besides its defaults. */
  variables?: Record<string, string>;
  /** The folder of the built project to start, such as that of a former commit (default: `BENCH_PROJECT`, else this one). */
  project?: string;
  /** The limit of the main process's heap, in MB (default: that of Node). */
  heap?: number;
  /** The name of its log in the directory (default: `service.log`). */
  log?: string;
  /** The environments to make tokens for, by the command. */
  environments?: readonly string[];
  /** The tokens of environments where they were made before, instead. */
  tokens?: Readonly<Record<string, string>>;
}

/** For preparing what is measured: one token may send as many requests as it likes. */
export const unlimitedRequests: ServiceOptions = { variables: { TOKEN_REQUESTS_PER_MINUTE: '0' } };

/**
 * `plugin-editor-service serve` as a user starts it: a process with its default settings, with records of runs, and with its log
 * going to a file.
 */
export class ServiceProcess implements AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly #tokens: Readonly<Record<string, string>>;
  readonly #ended: Promise<unknown>;
  #hasEnded = false;

  private constructor(
    pid: number,
    port: number,
    tokens: Readonly<Record<string, string>>,
    ended: Promise<unknown>,
  ) {
    this.pid = pid;
    this.port = port;
    this.#tokens = tokens;
    this.#ended = ended.then(() => (this.#hasEnded = true));
  }

  /** Starts it on the data in `directory`, which another process may have left there. */
  static async start(
    directory: string,
    {
      variables = {},
      project = measuredProject,
      heap,
      log: logName = 'service.log',
      environments = [environment, otherEnvironment],
      tokens: given,
    }: ServiceOptions = {},
  ): Promise<ServiceProcess> {
    const main = join(project, 'service/dist/cli/main.js');
    const env = { PATH: process.env['PATH'], DATA_DIR: directory, SERVICE_PORT: '0', ...variables };
    const log = join(directory, logName);
    const nodeOptions = heap === undefined ? [] : [`--max-old-space-size=${heap}`];
    const output = openSync(log, 'w');
    const child = spawn(process.execPath, [...nodeOptions, main, 'serve'], {
      env,
      stdio: ['ignore', output, output],
    });
    const ended = once(child, 'exit');
    const port = await listeningPort(log, () => child.exitCode === null && child.signalCode === null);
    const makeToken = async (name: string) => {
      const { stdout } = await promisify(execFile)(process.execPath, [main, 'env-token', name], { env });
      return [name, stdout.trim().split('\n').at(-1) ?? ''] as const;
    };
    const tokens = given ?? Object.fromEntries(await Promise.all(environments.map(makeToken)));
    return new ServiceProcess(child.pid ?? 0, port, tokens, ended);
  }

  /** Whether its main process has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The environment token for what belongs to `ident`. */
  tokenFor(ident: string): string {
    return this.#tokens[ident.slice(0, ident.lastIndexOf('.'))] ?? '';
  }

  /** Sets the record of the namespace `default`. */
  async setNamespace(environmentName: string, details: object): Promise<void> {
    const path = `/api/v1/environment/${environmentName}/namespaces/default`;
    const request = { method: 'PUT', type: 'application/json' };
    await this.#json(path, this.#tokens[environmentName] ?? '', JSON.stringify(details), request);
  }

  /** Publishes a version of a library. */
  async publish(environmentName: string, name: string, version: string, library: object): Promise<void> {
    const path = `/api/v1/environment/${environmentName}/libraries/${name}/${version}`;
    const request = { method: 'PUT', type: 'application/json' };
    await this.#json(path, this.#tokens[environmentName] ?? '', JSON.stringify(library), request);
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

  async #json<T>(
    path: string,
    token: string,
    body?: string,
    { method = 'POST', type = 'text/plain' } = {},
  ): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      ...(body === undefined ? {} : { method, body }),
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
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

/** The port that a service logs once it listens. */
async function listeningPort(log: string, isRunning: () => boolean): Promise<number> {
  for (;;) {
    const [, port] = /"port":(\d+)/.exec(readFileSync(log, 'utf8')) ?? [];
    if (port !== undefined) return Number(port);
    if (!isRunning()) throw new Error(`The service has ended:\n${readFileSync(log, 'utf8')}`);
    await sleep(20);
  }
}

/** A plugin that the service refused to build. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
