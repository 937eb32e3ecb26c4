import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DatabaseAddress } from '../../service/src/storage/database-url.ts';
import { bearer, draftPath, source } from './harness.ts';
import { cleanUpFirst, databaseUrl } from './storage/databases.ts';
import type { Cleanup } from './storage/databases.ts';

const pluginPath = draftPath.replace('/api/v1/draft/', '');
const fixture = join(import.meta.dirname, 'service.fixture.ts');

export interface Deployed {
  readonly version: string;
  readonly unchanged?: true;
}

/** A service in a separate process, and what a client does there with one plugin, by HTTP. */
export class ServiceProcess {
  readonly environmentToken: string;
  readonly #child: ChildProcess;
  readonly #base: string;
  readonly #exited: Promise<unknown>;
  /** The plugin, as paths of the interface name it. */
  readonly #plugin: string;

  private constructor(child: ChildProcess, base: string, environmentToken: string, plugin = pluginPath) {
    this.#child = child;
    this.#base = base;
    this.environmentToken = environmentToken;
    this.#plugin = plugin;
    this.#exited = once(child, 'exit');
  }

  /** Starts it on a database; without a token it makes one, which ends the one before. */
  static async start(t: Cleanup, address: DatabaseAddress, environmentToken = ''): Promise<ServiceProcess> {
    const args = ['--disable-warning=ExperimentalWarning', fixture, databaseUrl(address), environmentToken];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanUpFirst(t, () => child.kill('SIGKILL'));
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const [port = '', token = ''] = line.trim().split(' ');
    return new ServiceProcess(child, `http://127.0.0.1:${port}`, token);
  }

  /** The same process with a client of another plugin, in the same environment. */
  withPlugin(pluginName: string): ServiceProcess {
    const plugin = pluginPath.replace(/[^/]+$/, pluginName);
    return new ServiceProcess(this.#child, this.#base, this.environmentToken, plugin);
  }

  /** Ends it with no warning. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  request(method: string, path: string, token: string, body?: string, headers: Record<string, string> = {}) {
    return fetch(this.#base + path, {
      method,
      headers: { ...bearer(token), ...headers },
      ...(body !== undefined && { body }),
    });
  }

  /** A token for the plugin. */
  async editorToken(): Promise<string> {
    const response = await this.request('GET', `/auth/v2/access/${this.#plugin}`, this.environmentToken);
    return ((await response.json()) as { token: string }).token;
  }

  read(token: string): Promise<Response> {
    return this.request('GET', `/api/v1/draft/${this.#plugin}`, token);
  }

  save(token: string, record: Partial<typeof source> | object, headers: Record<string, string> = {}) {
    const body = JSON.stringify({ ...source, ...record });
    return this.request('POST', `/api/v1/draft/${this.#plugin}`, token, body, {
      'content-type': 'application/json',
      ...headers,
    });
  }

  async build(token: string, text: string): Promise<void> {
    const path = `/api/v1/build/javascript/${this.#plugin}`;
    const body = await (await this.request('POST', path, token, text, plain)).text();
    if (!body.includes('"succeeded":true')) throw new Error(`The build did not succeed: ${body}`);
  }

  async deploy(token: string): Promise<Deployed> {
    const response = await this.request('POST', `/api/v1/draft/${this.#plugin}/promote`, token);
    if (!response.ok)
      throw new Error(`The deploy was answered with ${response.status}: ${await response.text()}`);
    return (await response.json()) as Deployed;
  }

  /** Runs a version, by default the newest. */
  run(version?: string, token = this.environmentToken): Promise<Response> {
    const path = version === undefined ? `/exec/name/${this.#plugin}` : `/exec/${this.#plugin}/${version}`;
    return this.request('POST', path, token, '', plain);
  }
}

const plain = { 'content-type': 'text/plain' };
