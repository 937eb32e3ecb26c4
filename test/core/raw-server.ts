import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';

/** A server that says, byte for byte, what no HTTP library would. */
export interface RawServer extends AsyncDisposable {
  url: string;
  /** The first line of every request so far. */
  readonly requests: string[];
}

/** @param answer called for each connection as soon as its request is there */
export async function rawServer(answer: (socket: Socket, attempt: number) => void): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A client that gives up is what many of the tests are about.
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      requests.push(String(data).split('\r\n', 1).join());
      answer(socket, requests.length);
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

/** The head of an answer. */
export const head = (status: string, ...headers: string[]): string =>
  ['HTTP/1.1 ' + status, 'connection: close', ...headers, '', ''].join('\r\n');
