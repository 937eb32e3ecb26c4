import { request } from 'node:http';
import type { Agent } from 'node:http';

export interface RequestToSend {
  readonly agent: Agent;
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly type?: string;
  readonly body?: string | Buffer | undefined;
  /** Ends it, also while it waits for a connection. */
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Sends a request to this machine, and reads the response. Rejects when it does not come whole. */
export function send({ token, type = 'text/plain', body, ...options }: RequestToSend): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': type,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const sent = request({ ...options, host: '127.0.0.1', headers });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.end(body);
  });
}
