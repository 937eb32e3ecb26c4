import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A response with its raw headers, so that repeated ones can be seen. */
export interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: { token?: string; error?: { code: string; message: string } };
}

/** Sends a request with any header, such as those that a browser writes itself and `fetch` would drop. */
export function rawRequest(
  port: number,
  { method = 'POST', path = '/token', headers = {}, body, signal }: RawRequest = {},
): Promise<RawResponse> {
  const all = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers };
  const definedHeaders = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: definedHeaders,
        agent: false,
        ...(signal && { signal }),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('error', reject);
        response.on('end', () => {
          const isJson = response.headers['content-type']?.includes('json');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: (isJson && text ? JSON.parse(text) : {}) as RawResponse['json'],
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(typeof body === 'object' && !(body instanceof Uint8Array) ? JSON.stringify(body) : body);
  });
}

export interface RawRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  signal?: AbortSignal;
}

/** A server on a free port of the loopback interface, closed with the test. */
export async function listen(
  handler: RequestListener,
): Promise<AsyncDisposable & { port: number; server: Server }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    server,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
