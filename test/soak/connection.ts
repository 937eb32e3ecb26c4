import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Sent {
  token?: string;
  type?: string;
  accept?: string;
  body?: string;
}

/** One client's own connection to a server on this machine, kept open between requests. */
export class Connection {
  readonly #agent: Agent;
  readonly #base: URL;

  /** @param ca the certificate to trust, where the server is reached by https */
  constructor(base: string, ca?: string) {
    this.#base = new URL(base);
    const options = { keepAlive: true, maxSockets: 1 };
    this.#agent = ca === undefined ? new Agent(options) : new SecureAgent({ ...options, ca });
  }

  /** Rejects when the response did not come whole. */
  send(
    method: string,
    path: string,
    { token, type = 'text/plain', accept, body = '' }: Sent = {},
  ): Promise<HttpResponse> {
    const headers = {
      'content-type': type,
      ...(accept && { accept }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    return new Promise((resolve, reject) => {
      const { hostname, port, protocol } = this.#base;
      const send = protocol === 'https:' ? secureRequest : request;
      const sent = send({ agent: this.#agent, hostname, port, method, path, headers }, (response) => {
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
}
