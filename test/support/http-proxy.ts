import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Target {
  readonly port: number;
  /** Whether it accepts runs, and whether it accepts other requests. */
  isAlive: boolean;
  isReady: boolean;
}

/** The interval between two checks of the targets, in ms. */
const checkInterval = 250;

/**
 * A reverse proxy that distributes requests to servers on loopback, in turn, and avoids those that do not work: `/exec` by
 * `/healthz`, the rest by `/readyz`. It answers 502 when no server is available, or when one disconnects before its response.
 */
export class HttpProxy {
  readonly #targets: readonly Target[];
  readonly #server = createServer((incoming, outgoing) => {
    this.#serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  // A kept-alive connection may break when it is reused, which would be no fault of the servers.
  readonly #agent = new Agent({ keepAlive: false });
  readonly #checks: NodeJS.Timeout;
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#targets = ports.map((port) => ({ port, isAlive: true, isReady: true }));
    this.#checks = setInterval(() => this.#check(), checkInterval);
  }

  static async start(ports: readonly number[]): Promise<HttpProxy> {
    const proxy = new HttpProxy(ports);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    clearInterval(this.#checks);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #check(): void {
    for (const target of this.#targets) {
      void statusOf(target.port, '/healthz').then((status) => (target.isAlive = isOk(status)));
      void statusOf(target.port, '/readyz').then((status) => (target.isReady = isOk(status)));
    }
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isRun = incoming.url?.startsWith('/exec/');
    this.#turn += 1;
    for (let i = 0; i < this.#targets.length; i++) {
      const target = this.#targets[(this.#turn + i) % this.#targets.length] as Target;
      if (!(isRun ? target.isAlive : target.isReady)) continue;
      try {
        const response = await this.#forward(target.port, incoming, body);
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        for await (const chunk of response) outgoing.write(chunk);
        outgoing.end();
        return;
      } catch (error) {
        // The client has received a part of the response, and must notice that it is incomplete.
        if (outgoing.headersSent) return void outgoing.destroy();
        // Another server gets the request only if this one has certainly not begun with it.
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') break;
        target.isAlive = target.isReady = false;
      }
    }
    outgoing.writeHead(502).end();
  }

  #forward(port: number, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const headers = { ...incoming.headers, host: `localhost:${port}`, connection: 'close' };
    const { method, url: path } = incoming;
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, headers, agent: this.#agent };
      request(options, resolve).on('error', reject).end(body);
    });
  }
}

/** The status of the response to a path, or `undefined` without a response within a second. */
function statusOf(port: number, path: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const headers = { host: `localhost:${port}` };
  const proxied = request(
    { host: '127.0.0.1', port, path, headers, timeout: 1000, agent: false },
    (response) => {
      response.resume();
      resolve(response.statusCode);
    },
  );
  proxied.on('timeout', () => proxied.destroy());
  proxied.on('error', () => resolve(undefined));
  proxied.end();
  return promise;
}

const isOk = (status: number | undefined) => status === 200;
