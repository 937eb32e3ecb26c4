import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from './http-limits.ts';

/**
 * Makes the class of a server's answers. They differ from Node's in three things:
 *
 * - An answer to a request whose body has not come as a whole announces that the connection will be closed. It is sent at
 *   once, but ends only when the rest of the body has come and was dropped: many clients send a whole body before they
 *   read the answer, and closing the connection meanwhile would take the answer from them. The connection is not kept,
 *   because there are clients, Node's own among them, that stop sending when they are answered early.
 * - While the server drains, every answer announces that the connection will be closed.
 * - A client that does not take its answer loses its connection, so that answers nobody reads do not fill the memory.
 */
export function patientResponse(
  limits: HttpLimits,
  isDraining: () => boolean = () => false,
): typeof ServerResponse<IncomingMessage> {
  return class PatientResponse extends ServerResponse {
    /** All of the answer is sent, and the rest of the request's body is awaited. */
    #waits = false;

    constructor(...args: ConstructorParameters<typeof ServerResponse<IncomingMessage>>) {
      super(...args);
      // With a listener here, Node leaves it to us what becomes of a connection on which nothing moved for a while. One
      // that waits for the service, as with a build, has nothing to send; what is to be received has a limit of its own.
      this.on('timeout', (socket: Socket) => {
        if (socket.writableLength > 0) socket.destroy();
      });
    }

    override writeHead(...args: unknown[]): this {
      if (!this.req.complete || isDraining()) this.setHeader('connection', 'close');
      return (super.writeHead as (...all: unknown[]) => this).apply(this, args);
    }

    override end(...args: unknown[]): this {
      if (this.#waits) return this;
      if (this.req.complete || this.req.destroyed) return this.#finish(args);
      this.#waits = true;
      const [chunk] = args;
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk);
      this.flushHeaders();
      dropBody(this.req, limits.unwantedBody, () => this.#finish([]));
      return this;
    }

    #finish(args: unknown[]): this {
      (super.end as (...all: unknown[]) => unknown).apply(this, args);
      const { socket } = this;
      if (socket && socket.writableLength > 0) {
        const timer = setTimeout(() => socket.destroy(), limits.answerTimeout).unref();
        this.once('close', () => clearTimeout(timer));
      }
      return this;
    }
  };
}

/** Receives the rest of a body and keeps none of it. Calls `done` at its end, after `most` bytes, or when it breaks off. */
export function dropBody(incoming: IncomingMessage, most: number, done: () => void): void {
  // Whoever began to read it has given up, and would only hold it back.
  incoming.removeAllListeners('data').removeAllListeners('readable');
  let dropped = 0;
  const settle = () => {
    incoming.off('data', count).off('end', settle).off('close', settle);
    done();
  };
  const count = (chunk: Uint8Array) => {
    dropped += chunk.byteLength;
    if (dropped > most) settle();
  };
  incoming.on('data', count).on('end', settle).on('close', settle);
  incoming.resume();
}
