import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** A proxy on loopback that can refuse connections for a while. */
export abstract class RefusingProxy {
  #port = 0;

  protected abstract readonly server: Server;

  /** Resets the connections that there are. */
  abstract cut(): void;

  get port(): number {
    return this.#port;
  }

  /** Accepts connections, on the port that it had before. */
  async listen(): Promise<void> {
    if (this.server.listening) return;
    this.server.listen(this.#port, '127.0.0.1');
    await once(this.server, 'listening');
    this.#port = (this.server.address() as AddressInfo).port;
  }

  /** Refuses connections from now on, and resets those that there are. */
  async refuse(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.cut();
    await closed;
  }

  async close(): Promise<void> {
    if (this.server.listening) await this.refuse();
  }
}
