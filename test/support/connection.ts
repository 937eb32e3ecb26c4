import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Sent {
  readonly token?: string | undefined;
  readonly type?: string;
  readonly accept?: string;
  readonly body?: string | Buffer;
  /** Ends the request, also while it waits for a connection. */
  readonly signal?: AbortSignal;
}

interface ConnectionOptions {
  /** The certificate to trust, where the server is reached by https. */
  readonly ca?: string;
  /** How many requests may be on their way at once (default: 1). */
  readonly maxSockets?: number;
  /** The address of this machine that it comes from. */
  readonly localAddress?: string;
}

/** A client's connections to a server on this machine, kept open between requests. */
export class Connection implements Disposable {
  readonly #agent: Agent;
  readonly #base: URL;

  constructor(base: string, { maxSockets = 1, ...options }: ConnectionOptions = {}) {
    this.#base = new URL(base);
    const Kind = this.#base.protocol === 'https:' ? SecureAgent : Agent;
    this.#agent = new Kind({ keepAlive: true, maxSockets, ...options });
  }

  /** Rejects when the response did not come whole. */
  send(
    method: string,
    path: string,
    { token, type = 'text/plain', accept, body = '', signal }: Sent = {},
  ): Promise<HttpResponse> {
    const headers = {
      'content-type': type,
      ...(accept && { accept }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    return new Promise((resolve, reject) => {
      const { hostname, port, protocol } = this.#base;
      const send = protocol === 'https:' ? secureRequest : request;
      const options = {
        agent: this.#agent,
        hostname,
        port,
        method,
        path,
        headers,
        ...(signal && { signal }),
      };
      const sent = send(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      sent.on('error', reject).end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Gets an editor token for a plugin, such as `com.acme.t1/default/add-record`. */
export async function signIn(
  connection: Connection,
  plugin: string,
  environmentToken: string | undefined,
): Promise<string> {
  const { status, body } = await connection.send('GET', `/auth/v2/access/${plugin}`, {
    token: environmentToken,
  });
  if (status !== 200) throw new Error(`There is no editor token: ${status} ${body}`);
  return (JSON.parse(body) as { token: string }).token;
}

/** Builds a plugin with an editor token, and deploys it. */
export async function deploy(
  connection: Connection,
  plugin: string,
  token: string,
  code: string,
  language = 'javascript',
): Promise<void> {
  const built = await connection.send('POST', `/api/v1/build/${language}/${plugin}`, { token, body: code });
  if (!built.body.includes('"succeeded":true')) throw new Error(`It was not built: ${built.body}`);
  const { status, body } = await connection.send('POST', `/api/v1/draft/${plugin}/promote`, { token });
  if (status !== 200) throw new Error(`It was not deployed: ${status} ${body}`);
}
