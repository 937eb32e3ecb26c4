import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from './http-limits.ts';

/**
 * Makes the class of a server's responses. They differ from Node's in three ways:
 *
 * - The response to a request whose body has not arrived whole has `connection: close`. It is sent at once, but ends only when
 *   the rest of the body was received and discarded, as with the "lingering close" of other servers: many clients send their
 *   whole body before they read, and would lose the response if the connection were closed meanwhile. The connection is not
 *   kept, because some clients, Node's own among them, stop sending once they have a response.
 * - While the server drains, every response has `connection: close`.
 * - A client that does not read its response loses its connection, so that unread responses do not fill the memory.
 */
export function lingeringResponse(
  limits: HttpLimits,
  isDraining: () => boolean = () => false,
): typeof ServerResponse<IncomingMessage> {
  return class LingeringResponse extends ServerResponse {
    /** Whether the whole response was sent, and only the rest of the request's body is awaited. */
    #isLingering = false;

    constructor(...args: ConstructorParameters<typeof ServerResponse<IncomingMessage>>) {
      super(...args);
      // Without a listener, Node would close every connection on which nothing was sent or received for `writeTimeout`. The
      // client may just be waiting for the service, as during a build, so a connection is only closed if its client does not
      // read. How long a request may take to arrive is limited by `requestTimeout`.
      this.on('timeout', (socket: Socket) => {
        if (socket.writableLength > 0) socket.destroy();
      });
    }

    override writeHead(...args: unknown[]): this {
      if (!this.req.complete || isDraining()) this.setHeader('connection', 'close');
      return (super.writeHead as (...all: unknown[]) => this).apply(this, args);
    }

    override end(...args: unknown[]): this {
      if (this.#isLingering) return this;
      if (this.req.complete || this.req.destroyed) return this.#finish(args);
      this.#isLingering = true;
      const [chunk] = args;
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk);
      this.flushHeaders();
      discardBody(this.req, limits.unwantedBody, () => this.#finish([]));
      return this;
    }

    #finish(args: unknown[]): this {
      (super.end as (...all: unknown[]) => unknown).apply(this, args);
      const { socket } = this;
      if (socket && socket.writableLength > 0) {
        const timer = setTimeout(() => socket.destroy(), limits.responseTimeout).unref();
        this.once('close', () => clearTimeout(timer));
      }
      return this;
    }
  };
}

/** Receives the rest of a body and discards it. Calls `done` at its end, after `max` bytes, or when it breaks off. */
export function discardBody(incoming: IncomingMessage, max: number, done: () => void): void {
  // Listeners of a reader that has given up would still pause the stream.
  incoming.removeAllListeners('data').removeAllListeners('readable');
  let discarded = 0;
  const settle = () => {
    incoming.off('data', count).off('end', settle).off('close', settle);
    done();
  };
  const count = (chunk: Uint8Array) => {
    discarded += chunk.byteLength;
    if (discarded > max) settle();
  };
  incoming.on('data', count).on('end', settle).on('close', settle);
  incoming.resume();
}
