import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { resetConnection } from '../../support/reset-connection.ts';

/*
 * What the plugins of benches and soaks call, in a process of its own that `upstream.ts` starts. The path says what it does:
 * `/{what}/{ms}/{text}` answers with the text after `ms` milliseconds, or does it wrong.
 */

type Behaviour = (text: string, response: ServerResponse, request: IncomingMessage) => Promise<void> | void;

const raw =
  (answer: string): Behaviour =>
  (_text, _response, { socket }) =>
    void socket.end(answer);

function* parts() {
  for (;;) yield 'x'.repeat(64 * 1024);
}

const behaviours: Record<string, Behaviour> = {
  good: (text, response) => void response.end(text),
  // Neither a response nor an end.
  hang: () => {},
  cut: (text, response, { socket }) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write(text, () => resetConnection(socket));
  },
  'too-long': raw('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort'),
  'too-short': raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nHTTP/1.1 200 OK\r\n\r\nmore'),
  'two-lengths': raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nmore'),
  garbage: raw('\u0000\u0001 what?\r\n\r\n'),
  'bad-gzip': raw('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nmore'),
  endless: (_text, response) => pipeline(parts, response).catch(() => {}),
  drip: async (_text, response) => {
    while (!response.destroyed) {
      response.write('x');
      await sleep(500);
    }
  },
};

const answer = async (request: IncomingMessage, response: ServerResponse) => {
  response.on('error', () => {});
  const [, what = '', ms = '0', text = ''] = request.url?.split('/') ?? [];
  if (Number(ms)) await sleep(Number(ms));
  await behaviours[what]?.(text, response, request);
};

const server = createServer((request, response) => void answer(request, response));
server.on('connection', (socket) => socket.on('error', () => {}));
// It never ends a connection that a request may be on its way on.
server.keepAliveTimeout = 120_000;
server.requestTimeout = 0;
server.listen({ port: Number(process.argv[2] ?? 0), host: '127.0.0.1', backlog: 4096 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
