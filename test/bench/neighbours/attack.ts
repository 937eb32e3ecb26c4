import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type Sent } from '../../support/connection.ts';

/** Where an attacker is, and what it has: one address and the token of one environment. */
export interface Position {
  readonly port: number;
  /** The address of this machine that its connections come from. */
  readonly address: string;
  readonly environment: string;
  readonly environmentToken: string;
}

/** A load that is meant to take the service from others. */
export interface Attack {
  /** What it does, for the table of figures. */
  readonly title: string;
  /** The database that it is meant for (default: both). */
  readonly engine?: 'postgres';
  /** Makes what it needs, before anything is measured. */
  readonly prepare?: (attacker: Attacker) => Promise<void>;
  /** Goes on until `attacker.signal` aborts. */
  readonly run: (attacker: Attacker) => Promise<unknown>;
}

type Reply = { readonly status: number; readonly body: string };

/** Sends what an attack consists of, and counts what comes back. */
export class Attacker {
  readonly position: Position;
  readonly signal: AbortSignal;
  /** How often each status was answered, and how often a connection ended or a request failed. */
  readonly tally: Record<string, number> = {};
  readonly #connection: Connection;
  readonly #sockets = new Set<Socket>();

  constructor(position: Position, signal: AbortSignal) {
    this.position = position;
    this.signal = signal;
    this.#connection = new Connection(`http://127.0.0.1:${position.port}`, {
      maxSockets: Infinity,
      localAddress: position.address,
    });
    signal.addEventListener('abort', () => {
      this.#connection.close();
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  /** The plugin of the attacker by this name, as paths name it. */
  plugin(name: string, tenant = 't1'): string {
    return `${this.position.environment}.${tenant}/default/${name}`;
  }

  count(what: string | number): void {
    this.tally[what] = (this.tally[what] ?? 0) + 1;
  }

  /** Sends one request and reads its response. A broken connection is a reply with the status 0. */
  async send(method: string, path: string, options: Sent = {}): Promise<Reply> {
    const reply = await this.#connection
      .send(method, path, options)
      .catch((error: Error) => ({ status: 0, body: error.message }));
    this.count(reply.status || 'broken');
    return reply;
  }

  /** An editor token for one plugin. */
  async editorToken(name: string, tenant = 't1'): Promise<string> {
    const { environmentToken } = this.position;
    const { status, body } = await this.send('GET', `/auth/v2/access/${this.plugin(name, tenant)}`, {
      token: environmentToken,
    });
    if (status !== 200) throw new Error(`There is no editor token: ${status} ${body}`);
    return (JSON.parse(body) as { token: string }).token;
  }

  save(name: string, token: string, draft: string, tenant = 't1'): Promise<Reply> {
    const options = { token, body: draft, type: 'application/json' };
    return this.send('POST', `/api/v1/draft/${this.plugin(name, tenant)}`, options);
  }

  /** Builds and deploys a plugin in JavaScript. */
  async deploy(name: string, token: string, contents: string): Promise<Reply> {
    const built = await this.send('POST', `/api/v1/build/javascript/${this.plugin(name)}`, {
      token,
      body: contents,
    });
    if (!built.body.includes('"succeeded":true')) return built;
    return this.send('POST', `/api/v1/draft/${this.plugin(name)}/promote`, { token });
  }

  /**
   * Keeps `count` connections that nothing is read from: each sends `bytes` as fast as the service takes them, and is opened
   * again a second after it has ended.
   */
  keepConnections(
    count: number,
    bytes: () => Iterable<string | Buffer>,
    use: SocketUse = {},
  ): Promise<unknown> {
    return Promise.all(
      Array.from({ length: count }, () =>
        this.repeat(1000, async () => {
          const socket = this.#open();
          use.onOpen?.(socket);
          for (const part of bytes()) {
            if (socket.destroyed || this.signal.aborted) break;
            if (!socket.write(part)) await eventOf(socket, 'drain');
          }
          if (!socket.destroyed) this.count('sent');
          if (!socket.destroyed) await eventOf(socket);
          this.count('closed');
        }),
      ),
    );
  }

  /** The bytes of a request without a body. */
  rawGet(path: string, token?: string): string {
    return `GET ${path} HTTP/1.1\r\n${this.#rawHeaders(token)}\r\n`;
  }

  /** The bytes of the head of a request that has a body of this length, in bytes. */
  rawHead(method: string, path: string, token: string, length: number, accept = '*/*'): string {
    const headers = `Accept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`;
    return `${method} ${path} HTTP/1.1\r\n${this.#rawHeaders(token)}${headers}\r\n`;
  }

  /** The bytes of the head of a request whose body comes in chunks. */
  rawChunkedPost(path: string, token?: string): string {
    const headers = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    return `POST ${path} HTTP/1.1\r\n${this.#rawHeaders(token)}${headers}\r\n`;
  }

  #rawHeaders(token: string | undefined): string {
    const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
    return `Host: 127.0.0.1:${this.position.port}\r\n${authorization}`;
  }

  /** Does something again and again, beginning at most once in `interval` ms. */
  async repeat(interval: number, work: (turn: number) => Promise<unknown>): Promise<void> {
    for (let turn = 0; !this.signal.aborted; turn++) {
      const start = performance.now();
      await work(turn);
      const rest = interval - (performance.now() - start);
      // At least a moment, so that an attack whose requests fail at once does not take the processor from what is measured.
      await sleep(Math.max(rest, 5), undefined, { signal: this.signal }).catch(() => {});
    }
  }

  #open(): Socket {
    const { port, address } = this.position;
    const socket = connect({ port, host: '127.0.0.1', localAddress: address });
    this.#sockets.add(socket);
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

interface SocketUse {
  /** For one that is read after all. */
  readonly onOpen?: (socket: Socket) => void;
}

/** Resolves at this event of a socket, or when it is closed. */
const eventOf = (socket: Socket, event = 'close') =>
  new Promise<void>((resolve) => {
    const settle = () => {
      socket.off(event, settle).off('close', settle);
      resolve();
    };
    socket.on(event, settle).on('close', settle);
  });
