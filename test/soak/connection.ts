import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface Answer {
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
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #base: URL;

  constructor(base: string) {
    this.#base = new URL(base);
  }

  /** Rejects when the answer did not come whole. */
  send(
    method: string,
    path: string,
    { token, type = 'text/plain', accept, body = '' }: Sent = {},
  ): Promise<Answer> {
    const headers = {
      'content-type': type,
      ...(accept && { accept }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#base;
      const sent = request({ agent: this.#agent, hostname, port, method, path, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
        );
      });
      sent.on('error', reject).end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
