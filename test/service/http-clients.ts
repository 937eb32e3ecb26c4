import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A request with a long body of one byte over and over. */
export interface BigRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  size: number;
  /** In chunks, so that nothing says how long it is. */
  chunked: boolean;
}

export interface SmallResponse {
  status: number;
  body: string;
  /** Whether the response announced that the connection will be closed. */
  closes: boolean;
}

/** One client that keeps its connection where it may. */
export interface Client {
  send: (request: BigRequest) => Promise<SmallResponse>;
  close: () => void;
}

/** How the clients of several languages behave, by name. */
export const clients: Record<string, (port: number) => Client> = {
  'node:http': nodeClient,
  fetch: fetchClient,
  'a client that sends all before it reads, as Python’s': pythonLikeClient,
};

const PIECE = Buffer.alloc(64 * 1024, 'x');

/** The body in pieces. */
function* pieces(size: number): Generator<Uint8Array<ArrayBuffer>> {
  for (let left = size; left > 0; left -= PIECE.length) yield PIECE.subarray(0, Math.min(left, PIECE.length));
}

const headersOf = ({ headers, size, chunked }: BigRequest) => ({
  'content-type': 'application/json',
  ...headers,
  ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(size) }),
});

function nodeClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (big) =>
      new Promise((resolve, reject) => {
        const { method = 'POST', path } = big;
        const request = httpRequest({
          port,
          host: '127.0.0.1',
          method,
          path,
          headers: headersOf(big),
          agent,
        });
        request.on('error', reject);
        request.on('response', (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (part: string) => (body += part));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              body,
              closes: response.headers.connection === 'close',
            }),
          );
        });
        void (async () => {
          for (const piece of pieces(big.size)) {
            if (!request.write(piece)) await new Promise((drained) => request.once('drain', drained));
          }
          request.end();
        })();
      }),
    close: () => agent.destroy(),
  };
}

function fetchClient(port: number): Client {
  return {
    send: async (big) => {
      const { method = 'POST', path, size, chunked, headers } = big;
      const all = pieces(size);
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const { value, done } = all.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      const init = {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(size ? { body: chunked ? stream : Buffer.alloc(size, 'x'), duplex: 'half' } : {}),
      };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      const body = await response.text();
      return { status: response.status, body, closes: response.headers.get('connection') === 'close' };
    },
    close: () => {},
  };
}

/**
 * Sends a whole request before it reads a byte of the response, and uses one connection for as long as it may. A reset by
 * the server loses it what it has not read yet.
 */
function pythonLikeClient(port: number): Client {
  let socket: Socket | undefined;
  return {
    async send(big) {
      socket ??= connect(port, '127.0.0.1').pause();
      const { method = 'POST', path, size, chunked } = big;
      const headers = Object.entries({ host: `127.0.0.1:${port}`, ...headersOf(big) });
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      await write(socket, `${method} ${path} HTTP/1.1\r\n${lines}\r\n`);
      for (const piece of pieces(size)) {
        if (chunked) await write(socket, `${piece.length.toString(16)}\r\n`);
        await write(socket, piece);
        if (chunked) await write(socket, '\r\n');
      }
      if (chunked) await write(socket, '0\r\n\r\n');
      const response = await readResponse(socket);
      if (response.closes) {
        await ended(socket);
        socket = undefined;
      }
      return response;
    },
    close: () => socket?.destroy(),
  };
}

const write = (socket: Socket, data: string | Uint8Array) =>
  new Promise<void>((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())));

/** Reads one response that says how long it is. */
function readResponse(socket: Socket): Promise<SmallResponse> {
  return new Promise((resolve, reject) => {
    let text = '';
    const stop = () => socket.off('data', onData).off('end', onEnd).off('error', onError).pause();
    const onData = (part: Buffer) => {
      text += part.toString('latin1');
      const [head = '', body] = text.split(/\r\n\r\n(.*)/s);
      const length = Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      stop();
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
      resolve({ status, body, closes: /^connection: close\r?$/im.test(head) });
    };
    const onError = (error: Error) => {
      stop();
      reject(error);
    };
    const onEnd = () => onError(new Error(`The connection ended within an answer, after: ${text}`));
    socket.on('data', onData).on('end', onEnd).on('error', onError).resume();
  });
}

/** Waits for the server's end of a connection that was announced as one that closes. */
const ended = (socket: Socket) =>
  new Promise<void>((resolve, reject) => {
    socket.once('error', reject).once('end', resolve).once('close', resolve).resume();
  });
