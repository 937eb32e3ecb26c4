import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from './admission.ts';
import type { Held } from './shares.ts';
import type { Pace } from './pace.ts';

/** The longest part of a response that is handed to the system at once, in bytes. */
const pieceSize = 64 * 1024;

/** A response, with what its server knows of its request. */
export interface ServiceResponse extends ServerResponse {
  /** The id of its request, once that has one. */
  requestId?: string;
  /** What its request holds. */
  held?: Held | undefined;
  /** Whether its client has sent too many requests, so that little of this one's body is received. */
  isPastRate?: boolean;
  /** Ends the turns of the request when the headers are sent, and releases all that it holds when the response has ended. */
  releaseAtEnd: () => void;
}

interface ResponseOptions {
  readonly limits: Pick<HttpLimits, 'smallBody' | 'unwantedBody'>;
  readonly pace: Pace;
  /** Counts bytes of a body that are discarded until the returned function is called. Throws where that is too much. */
  readonly holdDiscarded: (incoming: IncomingMessage, bytes: number) => () => void;
  readonly isDraining: () => boolean;
}

/**
 * Makes the class of a server's responses. They differ from Node's in three ways:
 *
 * - The response to a request whose body has not arrived whole has `connection: close`. It is sent at once, but ends only when
 *   the rest of the body was received and discarded, as with the "lingering close" of other servers: many clients send their
 *   whole body before they read, and would lose the response if the connection were closed meanwhile. The connection is not
 *   kept, because some clients, Node's own among them, stop sending once they have a response.
 * - While the server drains, every response has `connection: close`.
 * - What the client does not take at once is counted for it, and a client that takes it too slowly loses its connection.
 */
export function responseClass({
  limits,
  pace,
  holdDiscarded,
  isDraining,
}: ResponseOptions): typeof ServerResponse<IncomingMessage> {
  return class extends ServerResponse implements ServiceResponse {
    requestId?: string;
    held?: Held | undefined;
    isPastRate?: boolean;
    #endsTurnsOnHead = false;
    /** Whether the whole response was sent, and only the rest of the request's body is awaited. */
    #isLingering = false;
    #isWatched = false;

    releaseAtEnd(): void {
      const { held } = this;
      if (!held) return;
      if (this.closed) return held.release();
      this.once('close', () => held.release());
      if (this.headersSent) held.endTurns();
      else this.#endsTurnsOnHead = true;
    }

    override writeHead(...args: unknown[]): this {
      if (this.#endsTurnsOnHead) this.held?.endTurns();
      if (!this.req.complete || isDraining()) this.setHeader('connection', 'close');
      return (super.writeHead as (...all: unknown[]) => this).apply(this, args);
    }

    override write(...args: unknown[]): boolean {
      const isTaken = (super.write as (...all: unknown[]) => boolean).apply(this, args);
      if (!isTaken && !this.#isWatched && !this.destroyed) {
        const stop = this.#watch();
        this.once('drain', stop);
      }
      return isTaken;
    }

    override end(...args: unknown[]): this {
      if (this.#isLingering) return this;
      if (this.req.complete || this.req.destroyed) return this.#finish(args);
      this.#isLingering = true;
      const [chunk] = args;
      if ((typeof chunk === 'string' || chunk instanceof Uint8Array) && !this.write(chunk)) {
        this.#hold(sizeOf(chunk), 'drain');
      }
      this.flushHeaders();
      this.#discard();
      return this;
    }

    #discard(): void {
      const declared = Number(this.req.headers['content-length'] ?? Infinity);
      let max = Math.min(declared, this.isPastRate ? limits.smallBody : limits.unwantedBody);
      let release: (() => void) | undefined;
      try {
        release = holdDiscarded(this.req, max);
      } catch {
        max = limits.smallBody;
      }
      discardBody(this.req, max, pace, () => {
        release?.();
        this.#finish([]);
      });
    }

    #finish(args: unknown[]): this {
      // What is registered for the event `close` from now on would never be released.
      if (this.destroyed) return this;
      const [chunk] = args;
      if (sizeOf(chunk) > pieceSize) return this.#sendInPieces(chunk as string | Uint8Array);
      (super.end as (...all: unknown[]) => unknown).apply(this, args);
      if (this.socket && this.socket.writableLength > 0) {
        this.#watch();
        this.#hold(sizeOf(chunk));
      }
      return this;
    }

    /** Sends a long body as the client takes it. Node would tell only when all of it was taken. */
    #sendInPieces(chunk: string | Uint8Array): this {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      const stop = this.#watch();
      this.once('close', stop);
      // Bytes that were not made for this response, such as those of a file, are in memory anyway.
      if (typeof chunk === 'string') this.#hold(bytes.byteLength);
      let sent = 0;
      const send = () => {
        for (;;) {
          const piece = bytes.subarray(sent, sent + pieceSize);
          const isLast = sent + piece.byteLength === bytes.byteLength;
          sent += piece.byteLength;
          if (isLast) return void super.end(piece);
          if (!super.write(piece)) return void this.once('drain', send);
        }
      };
      send();
      return this;
    }

    /** Counts bytes as unsent until the response is closed or, earlier, at an event that says that the client has taken them. */
    #hold(bytes: number, taken?: 'drain'): void {
      const release = this.held?.holdUnsent(bytes);
      if (!release) return;
      this.once('close', release);
      if (taken) this.once(taken, release);
    }

    /** Ends the connection of a client that takes the response too slowly, until the returned function is called. */
    #watch(): () => void {
      const { socket } = this;
      const unwatch = pace.watch({
        get moved() {
          return takenOf(socket);
        },
        end: () => this.destroy(),
      });
      const stop = () => {
        this.#isWatched = false;
        unwatch();
        this.off('close', stop);
      };
      this.#isWatched = true;
      this.once('close', stop);
      return stop;
    }
  };
}

/** How many bytes of what was written to a connection the system has taken. `bytesWritten` of a socket counts those that wait, too. */
function takenOf(socket: Socket | null): number {
  // oxlint-disable-next-line no-underscore-dangle -- Node has no other way to it
  const { bytesWritten = 0, writeQueueSize = 0 } = (socket as SocketWithHandle | null)?._handle ?? {};
  return bytesWritten - writeQueueSize;
}

interface SocketWithHandle {
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
}

/** Bytes; of a text at least its UTF-16 code units. */
function sizeOf(chunk: unknown): number {
  if (typeof chunk === 'string') return chunk.length;
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}

/** How many chunks of a discarded body may be shorter than this, in bytes, on average: each costs as much as a longer one. */
const [smallChunks, shortChunk] = [2000, 512];

/**
 * Receives the rest of a body and discards it. Calls `done` at its end, after `max` bytes or many small chunks, when it comes
 * too slowly, or when it breaks off.
 */
export function discardBody(incoming: IncomingMessage, max: number, pace: Pace, done: () => void): void {
  // Listeners of a reader that has given up would still pause the stream.
  incoming.removeAllListeners('data').removeAllListeners('readable');
  let chunks = 0;
  const settle = () => {
    incoming.off('data', count).off('end', settle).off('close', settle);
    unwatch();
    done();
  };
  const transfer = { moved: 0, end: settle };
  const unwatch = pace.watch(transfer);
  const count = (chunk: Uint8Array) => {
    transfer.moved += chunk.byteLength;
    chunks += 1;
    if (transfer.moved > max || (chunks - smallChunks) * shortChunk > transfer.moved) settle();
  };
  incoming.on('data', count).on('end', settle).on('close', settle);
  incoming.resume();
}
