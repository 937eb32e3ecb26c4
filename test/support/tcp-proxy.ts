import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Looks at what a client sends. `cut`: the client loses its connection once this has gone on to the server. */
export type Watch = (sent: Buffer) => 'pass' | 'cut';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing goes through any more, and neither side is told. */
  isDead: boolean;
}

/** A proxy of TCP connections on loopback, which a test makes slow, deaf or broken. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server = createServer((client) => this.#handleConnection(client));
  readonly #pairs = new Set<Pair>();
  #port = 0;
  #isStalled = false;
  #watch: Watch = () => 'pass';
  /** How long each piece of data takes in each direction, in ms. */
  delay = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Accepts connections, on the port that it had before. */
  async listen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections from now on, and resets those that there are. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Resets the connections that there are. */
  cut(): void {
    for (const pair of this.#pairs) this.#destroy(pair);
  }

  /** Swallows all that is sent from now on, also by new connections. Those that there are never come to life again. */
  stall(): void {
    this.#isStalled = true;
    for (const pair of this.#pairs) pair.isDead = true;
  }

  /** Lets new connections through again. */
  resume(): void {
    this.#isStalled = false;
  }

  /** Has `watch` look at all that clients send. */
  watch(watch: Watch): void {
    this.#watch = watch;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }

  #handleConnection(client: Socket): void {
    const pair: Pair = { client, server: connect(this.#target), isDead: this.#isStalled };
    this.#pairs.add(pair);
    for (const [from, to] of [
      [pair.client, pair.server],
      [pair.server, pair.client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('data', (data: Buffer) => void this.#pass(pair, from, to, data));
      from.on('end', () => {
        if (!pair.isDead) to.end();
      });
      from.on('close', () => {
        // A side that leaves is not told of to the other, once nothing goes through.
        if (!pair.isDead) this.#destroy(pair);
        else if (from === client) this.#pairs.delete(pair);
      });
    }
  }

  async #pass(pair: Pair, from: Socket, to: Socket, data: Buffer): Promise<void> {
    // Timers of the same length end in the order in which they began.
    if (this.delay) await new Promise((resolve) => setTimeout(resolve, this.delay));
    if (pair.isDead) return;
    const verdict = from === pair.client ? this.#watch(data) : 'pass';
    if (verdict === 'pass') {
      to.write(data);
      return;
    }
    // The server gets it and answers, and the client never learns of that.
    pair.isDead = true;
    to.write(data);
    pair.client.resetAndDestroy();
    to.end();
  }

  #destroy(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.isDead = true;
    pair.client.resetAndDestroy();
    pair.server.resetAndDestroy();
  }
}
