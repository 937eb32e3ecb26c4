import { once } from 'node:events';
import type { Server } from 'node:net';
import { freePort } from './free-port.ts';

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
    // While it refuses connections, nothing else may get its port.
    this.#port ||= await freePort();
    this.server.listen(this.#port, '127.0.0.1');
    await once(this.server, 'listening');
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
