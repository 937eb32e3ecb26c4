import { Connection } from '../../support/connection.ts';
import { executionPath } from '../executions/service-process.ts';
import type { Plugin, ServiceProcess } from '../executions/service-process.ts';
import type { UpstreamProcess } from './upstream.ts';

/** A plugin that asks the upstream for its input, and returns the answer, or the code of the error of the call. */
export const callingPlugin = (ident: string, { origin }: UpstreamProcess): Plugin => ({
  ident,
  name: 'calls',
  lang: 'javascript',
  contents: `export async function run(input) {
  try {
    return await (await fetch('${origin}' + input)).text();
  } catch (error) {
    return 'error ' + error.code;
  }
}
`,
});

/** Grants the plugins of an environment what they call. */
export const grantUpstream = (service: ServiceProcess, environment: string, { origin }: UpstreamProcess) =>
  service.setNamespace(environment, { connections: [{ name: 'upstream', origin }] });

/** The settings of a service whose plugins call an upstream on this machine. */
export const callingSettings = ({ origin }: UpstreamProcess): Record<string, string> => ({
  OUTBOUND_ALLOW: origin,
  TOKEN_REQUESTS_PER_MINUTE: '0',
});

/** A back end that runs a plugin. */
export class Caller implements Disposable {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #token: string;

  /**
   * @param atOnce how many runs there are at most at once
   * @param localAddress the address that it calls from
   */
  constructor(
    port: number,
    plugin: Pick<Plugin, 'ident' | 'name'>,
    token: string,
    atOnce: number,
    localAddress = '127.0.0.1',
  ) {
    this.#connection = new Connection(`http://127.0.0.1:${port}`, { maxSockets: atOnce, localAddress });
    this.#path = executionPath(plugin);
    this.#token = token;
  }

  /** The output, or what there was instead. Rejects where the connection broke, or `signal` was aborted. */
  async run(input: string, signal?: AbortSignal): Promise<string> {
    const options = { token: this.#token, body: input, ...(signal && { signal }) };
    const { status, body } = await this.#connection.send('POST', this.#path, options);
    return status === 200 ? body : `status ${status} ${codeOf(body)}`;
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

function codeOf(body: string): string {
  try {
    return (JSON.parse(body) as { error: { code: string } }).error.code;
  } catch {
    return body;
  }
}
