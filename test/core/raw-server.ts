import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';

/** A server that sends bytes which no HTTP library would send. */
export interface RawServer extends AsyncDisposable {
  url: string;
  /** The first line of every request so far. */
  readonly requests: string[];
}

/** @param respond called for each connection as soon as its request is there */
export async function rawServer(respond: (socket: Socket, attempt: number) => void): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Clients disconnect in many of the tests.
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      requests.push(String(data).split('\r\n', 1).join());
      respond(socket, requests.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The status line and the headers of a response. */
export const head = (status: string, ...headers: string[]): string =>
  ['HTTP/1.1 ' + status, 'connection: close', ...headers, '', ''].join('\r\n');
