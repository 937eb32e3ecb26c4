import { STATUS_CODES } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { errorResponse, ServiceError } from './errors.ts';
import type { Connection } from './connection.ts';
import { requestIdHeader } from './observe-requests.ts';
import type { ServiceResponse } from './response.ts';

/** Makes the response to what could not be parsed as a request. `address`: where it came from. */
export type Refuse = (error: unknown, address?: string) => Response;

/**
 * How long a client may take to read the response and to end its side of the connection, in ms. If the connection were closed
 * at once, a client that is still sending would never see the response.
 */
const lingerTime = 2000;

/**
 * Responds to requests that Node's HTTP parser refuses (400, 408, 413, 431) as to all others: in JSON, with an id, and with a
 * line in the log. Node by itself would send a bare status line.
 */
export function respondToClientErrors(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  refuse: Refuse,
): void {
  // After its first error on a connection, the parser reports one for each further chunk.
  const refused = new WeakSet<Socket>();

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const problem = problemOf(error);
    if (problem && refused.has(socket)) return;
    // The connection broke, so that no response can be sent.
    if (!problem || !socket.writable) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const latest = connections.get(socket)?.latest;
    if (!latest) {
      void send(socket, refuse(problem, socket.remoteAddress));
      return;
    }
    const { incoming, outgoing } = latest;
    // That request arrived whole and the fault is in what follows it, so its own response is sent first.
    if (incoming.complete) {
      outgoing.once('close', () => void send(socket, refuse(problem, socket.remoteAddress)));
    } else if (outgoing.headersSent) {
      socket.destroy();
    } else {
      // The request already has an id, and its line is logged when its connection has ended.
      const id = (outgoing as ServiceResponse).requestId;
      const response = id === undefined ? refuse(problem, socket.remoteAddress) : errorResponse(problem, id);
      if (id !== undefined) response.headers.set(requestIdHeader, id);
      void send(socket, response);
    }
  });
}

/** What was wrong with the request; `undefined` where it is the connection that failed. */
function problemOf({ code: cause = '' }: NodeJS.ErrnoException): ServiceError | undefined {
  switch (cause) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError(431, 'headers-too-large', 'The headers have more than 16 KB together.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ServiceError(413, 'too-large', 'The extensions of a chunk of the body are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError(408, 'request-timeout', 'The request did not arrive whole in time.');
    default:
      return cause.startsWith('HPE_')
        ? new ServiceError(400, 'invalid-request', 'This is not a request of HTTP/1.1.')
        : undefined;
  }
}

/** Sends a response and ends the connection. */
async function send(socket: Socket, response: Response): Promise<void> {
  const body = await response.text();
  const { status, headers } = response;
  headers.set('connection', 'close');
  headers.set('content-length', String(Buffer.byteLength(body)));
  headers.set('date', new Date().toUTCString());
  const lines = Array.from(headers, ([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerTime).unref();
  socket.once('close', () => clearTimeout(timer));
}
