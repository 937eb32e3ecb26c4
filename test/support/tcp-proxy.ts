import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { RefusingProxy } from './refusing-proxy.ts';
import { resetConnection } from './reset-connection.ts';

/**
 * What happens to data that a client sends. `pass`: it goes to the server. `cut`: it goes to the server, and the client's connection
 * is reset before the response. `stall`: neither this nor anything later goes on, and both connections stay open.
 */
export type Verdict = 'pass' | 'cut' | 'stall';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Whether nothing is passed on any more, without telling either side. */
  isDead: boolean;
}

/** A proxy of TCP connections on loopback, which a test can slow down, stall or break. */
export class TcpProxy extends RefusingProxy {
  readonly #target: { readonly host: string; readonly port: number };
  protected override readonly server = createServer((client) => this.#handleConnection(client));
  readonly #pairs = new Set<Pair>();
  #isStalled = false;
  #watch: (sent: Buffer) => Verdict = () => 'pass';
  /** The delay of each piece of data in each direction, in ms. */
  delay = 0;

  private constructor(target: { host: string; port: number }) {
    super();
    this.#target = target;
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.listen();
    return proxy;
  }

  override cut(): void {
    for (const pair of this.#pairs) this.#destroy(pair);
  }

  /** Drops everything sent from now on, even by new connections. The present ones stay stalled for good. */
  stall(): void {
    this.#isStalled = true;
    for (const pair of this.#pairs) pair.isDead = true;
  }

  /** Lets new connections through again. */
  resume(): void {
    this.#isStalled = false;
  }

  /** Calls `watch` for all data that clients send. */
  watch(watch: (sent: Buffer) => Verdict): void {
    this.#watch = watch;
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
        // Once the pair is stalled, neither side learns that the other has closed.
        if (!pair.isDead) this.#destroy(pair);
      });
    }
  }

  async #pass(pair: Pair, from: Socket, to: Socket, data: Buffer): Promise<void> {
    // Timers with the same delay end in the order in which they began.
    if (this.delay) await new Promise((resolve) => setTimeout(resolve, this.delay));
    if (pair.isDead) return;
    const verdict = from === pair.client ? this.#watch(data) : 'pass';
    if (verdict === 'pass') {
      to.write(data);
      return;
    }
    pair.isDead = true;
    if (verdict === 'stall') return;
    to.end(data);
    resetConnection(pair.client);
  }

  #destroy(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.isDead = true;
    resetConnection(pair.client);
    resetConnection(pair.server);
  }
}
