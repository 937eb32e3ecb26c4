import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { certificate, key } from './certificates.ts';

export interface UpstreamRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that plugins call, and what it was asked. */
export interface Upstream extends AsyncDisposable {
  readonly port: number;
  readonly requests: UpstreamRequest[];
  /** Responds to the next requests; each test sets its own (default: responds with what it was asked, in JSON). */
  handle: (request: UpstreamRequest, response: ServerResponse, incoming: IncomingMessage) => void;
  reset(): void;
}

const echo: Upstream['handle'] = (request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(request));
};

/** Starts a server on loopback, by TLS where `isSecure`. */
export async function startUpstream(isSecure = false): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers as Record<string, string>,
      body: await text(incoming).catch(() => ''),
    };
    requests.push(request);
    upstream.handle(request, response, incoming);
  };
  const listener: RequestListener = (incoming, response) => void respond(incoming, response);
  const server = isSecure ? createTlsServer({ key, cert: certificate }, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: Upstream = {
    port: (server.address() as AddressInfo).port,
    requests,
    handle: echo,
    reset() {
      requests.length = 0;
      upstream.handle = echo;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return upstream;
}
