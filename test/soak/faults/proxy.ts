import { Agent, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { Socket } from 'node:net';
import { RefusingProxy } from '../../support/refusing-proxy.ts';
import { resetConnection } from '../../support/reset-connection.ts';

/** A whole answer of the server behind. */
export interface Upstream {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** One request that a fault is aimed at. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  /** Counted from 1, since the fault was aimed. */
  nth: number;
  /** Passes it to the server behind, and resolves with its answer. */
  forward: () => Promise<Upstream>;
  /** Passes it and its answer on unchanged. */
  pass: () => Promise<void>;
}

export type ExchangeHandler = (exchange: Exchange) => void | Promise<void>;
export type Hits = (request: { method: string; path: string; body: string }) => boolean;

/**
 * A reverse proxy on loopback that hands everything on, but for the requests that a fault is aimed at. No connection
 * serves twice: browsers send a request again by themselves when one that they kept breaks, and that would be counted.
 */
export class FaultProxy extends RefusingProxy {
  readonly #target: number;
  protected override readonly server = createServer(
    (req, res) => void this.#serve(req, res).catch(() => res.destroy()),
  );
  readonly #sockets = new Set<Socket>();
  readonly #agent = new Agent({ keepAlive: false });
  #aimed: { hits: Hits; handle: ExchangeHandler; nth: number } | undefined;
  /** The paths of all requests. */
  readonly paths: string[] = [];

  constructor(target: number) {
    super();
    this.#target = target;
    this.server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  override cut(): void {
    for (const socket of this.#sockets) resetConnection(socket);
  }

  aim(hits: Hits, handle: ExchangeHandler): void {
    this.#aimed = { hits, handle, nth: 0 };
  }

  async lift(): Promise<void> {
    this.#aimed = undefined;
    await this.listen();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = req;
    this.paths.push(path);
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const pass = () => this.#pass(req, res, body);
    const aimed = this.#aimed;
    if (!aimed?.hits({ method, path, body: body.toString() })) return pass();
    const forward = () => this.#forward(req, body);
    await aimed.handle({ req, res, nth: ++aimed.nth, forward, pass });
  }

  #send(req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { method, url: path, headers } = req;
      // The names that the page uses are the server's own: Host and Origin go through as they are.
      const options = { host: '127.0.0.1', port: this.#target, method, path, headers, agent: this.#agent };
      const upstream = request(options, resolve);
      upstream.on('error', reject);
      req.socket.on('close', () => upstream.destroy());
      upstream.end(body);
    });
  }

  async #pass(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
    try {
      const response = await this.#send(req, body);
      res.writeHead(response.statusCode ?? 502, { ...response.headers, connection: 'close' });
      res.flushHeaders();
      for await (const chunk of response) res.write(chunk);
      res.end();
    } catch {
      // The server behind is gone, and so is this connection to it.
      resetConnection(req.socket);
    }
  }

  async #forward(req: IncomingMessage, body: Buffer): Promise<Upstream> {
    const response = await this.#send(req, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode ?? 502, headers: response.headers, body: Buffer.concat(chunks) };
  }
}
