import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request and its response, as Node's objects. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** How much of what has arrived is parsed in one go, in bytes: at most 800 chunks of a body. */
const sliceSize = 4096;

/** How long one connection may be parsed before the others have their turn, in ms. */
const parseTime = 0.5;

/** A body in very short chunks waits for this many times as long as it was parsed, so that all such have a quarter of the thread. */
const restFactor = 3;

/** How many requests of one network start in a turn of the event loop, so that those of others wait for a few, not for all. */
const networkShare = 4;

/**
 * A connection to an HTTP server, which handles one request at a time.
 *
 * Node parses everything that has arrived at once and starts each request that it finds. Here it gets the bytes in slices
 * that end with a request. It gets no further one before that request has ended or while a body waits for its reader, and other
 * connections have their turn after {@link parseTime}. What has not been parsed stays in the socket's buffer, so that the client
 * has to wait. In a turn of the event loop, the connections of one network start {@link networkShare} requests.
 */
export class Connection {
  readonly socket: Socket;
  /** The network that the connection counts for; see `ConnectionShares`. */
  network = '';
  /** Whether its peer is a trusted proxy. */
  isProxied = false;
  readonly #handle: (exchange: Exchange) => void;
  readonly #onIdle: () => void;
  /** The request that is handled, and those that were sent ahead of their turn. */
  #current: Exchange | undefined;
  readonly #waiting: Exchange[] = [];
  #isYielding = false;
  /** How much of the present request's body has not been parsed; 0 behind its end, and where it does not declare its length. */
  #bodyLeft = 0;
  /** The last 3 bytes that were parsed, because a blank line may begin in one packet and end in the next. */
  #tail = '';

  /**
   * @param handle called for each request at its turn
   * @param onIdle called when a request has ended
   */
  constructor(socket: Socket, handle: (exchange: Exchange) => void, onIdle: () => void) {
    this.socket = socket;
    this.#handle = handle;
    this.#onIdle = onIdle;
    const parsers = socket.listeners('data') as ((data: Buffer) => void)[];
    const [parse] = parsers;
    if (!parse || parsers.length > 1)
      throw new Error(
        'This version of Node does not parse HTTP in the one listener for "data" of a connection.',
      );
    socket.off('data', parse);
    socket.on('data', (data: Buffer) => this.#parse(data, parse));
  }

  /** The request that arrived last and has not ended. */
  get latest(): Exchange | undefined {
    return this.#waiting.at(-1) ?? this.#current;
  }

  get isIdle(): boolean {
    return this.#current === undefined;
  }

  /** Whether the next step is the client's: to send a request or the rest of one, or to take a response. */
  get awaitsClient(): boolean {
    if (!this.#current) return true;
    const { incoming, outgoing } = this.#current;
    return !incoming.complete || outgoing.writableEnded || outgoing.writableNeedDrain;
  }

  /** Handles a request, or keeps it until the ones before have ended. */
  add(exchange: Exchange): void {
    this.#bodyLeft = Number(exchange.incoming.headers['content-length'] ?? 0);
    if (this.#current) this.#waiting.push(exchange);
    else this.#start(exchange);
  }

  #start(exchange: Exchange): void {
    this.#current = exchange;
    exchange.outgoing.once('close', () => {
      this.#current = undefined;
      this.#onIdle();
      // After a response that ends the connection, nothing that was sent behind its request is handled.
      if (!this.socket.writable) return;
      // Otherwise one connection would have all requests that were sent ahead handled before the event loop goes on.
      if (this.#waiting.length > 0 || this.socket.readableLength > 0) this.#yield();
      else this.socket.resume();
    });
    turns.take(this.network, () => {
      // It may have ended while it waited for its turn.
      if (this.#current === exchange) this.#handle(exchange);
    });
  }

  #parse(data: Buffer, parse: (data: Buffer) => void): void {
    if (!this.socket.writable) return;
    const began = performance.now();
    for (let start = 0; start < data.length;) {
      // Node pauses, too.
      if (this.#mustWait || (start > 0 && this.socket.isPaused())) return this.#keep(data.subarray(start));
      const end = this.#sliceEnd(data, start);
      if (this.#bodyLeft > 0) this.#bodyLeft -= end - start;
      this.#tail = (this.#tail + data.toString('latin1', Math.max(start, end - 3), end)).slice(-3);
      parse(end - start === data.length ? data : data.subarray(start, end));
      if (this.socket.destroyed) return;
      start = end;
      if (start === data.length) return;
      const took = performance.now() - began;
      if (start >= sliceSize && took > parseTime) {
        slices.rest(took * restFactor);
        this.#yield(slices);
        return this.#keep(data.subarray(start));
      }
    }
  }

  /** Where the next slice ends: at the end of a request's headers, of its body, or of enough chunks. */
  #sliceEnd(data: Buffer, start: number): number {
    if (this.#bodyLeft > 0) return Math.min(data.length, start + this.#bodyLeft);
    const split = (this.#tail + data.toString('latin1', start, start + 3)).indexOf('\r\n\r\n');
    if (split >= 0) return start + split + 4 - this.#tail.length;
    const end = Math.min(data.length, start + sliceSize);
    const blankLine = data.subarray(start, end + 3).indexOf('\r\n\r\n', 0, 'latin1');
    return blankLine < 0 ? end : start + blankLine + 4;
  }

  get #mustWait(): boolean {
    if (this.#isYielding || this.#waiting.length > 0) return true;
    if (!this.#current) return false;
    const { complete, readableLength, readableFlowing } = this.#current.incoming;
    // Reading the body resumes the socket.
    return complete || (readableLength > 0 && readableFlowing === null);
  }

  #keep(data: Buffer): void {
    this.socket.pause();
    this.socket.unshift(data);
  }

  #yield(to: Turns | Slices = turns): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    to.wait(this.network, () => {
      this.#isYielding = false;
      if (!this.socket.writable) return;
      const next = this.#current ? undefined : this.#waiting.shift();
      if (next) this.#start(next);
      else if (!this.#mustWait) this.socket.resume();
    });
  }
}

/** What one network does in the present turn of the event loop, and what it waits to do in later ones. */
interface NetworkTurn {
  used: number;
  readonly waiting: { readonly share: number; readonly callback: () => void }[];
}

/** Shares the turns of the event loop between networks. */
class Turns {
  readonly #networks = new Map<string, NetworkTurn>();

  /** Calls back now, or in a later turn where the network has had its share of this one. */
  take(network: string, callback: () => void): void {
    const turn = this.#of(network);
    if (turn.used >= networkShare) return void turn.waiting.push({ share: 1, callback });
    turn.used += 1;
    callback();
  }

  /** Calls back in a later turn, of which that takes the network's whole share. */
  wait(network: string, callback: () => void): void {
    this.#of(network).waiting.push({ share: networkShare, callback });
  }

  #of(network: string): NetworkTurn {
    const known = this.#networks.get(network);
    if (known) return known;
    const turn = { used: 0, waiting: [] };
    if (this.#networks.size === 0) setImmediate(() => this.#next());
    this.#networks.set(network, turn);
    return turn;
  }

  #next(): void {
    for (const [network, turn] of this.#networks) {
      if (turn.waiting.length === 0) {
        this.#networks.delete(network);
        continue;
      }
      turn.used = 0;
      while (turn.used < networkShare) {
        const first = turn.waiting.shift();
        if (!first) break;
        turn.used += first.share;
        first.callback();
      }
    }
    if (this.#networks.size > 0) setImmediate(() => this.#next());
  }
}

/** What has been parsed for long enough goes on here: a network after the other, with rests between. */
class Slices {
  readonly #networks = new Map<string, (() => void)[]>();
  #restsUntil = 0;

  /** Nothing goes on for `time` ms. */
  rest(time: number): void {
    this.#restsUntil = Math.max(this.#restsUntil, performance.now()) + time;
  }

  wait(network: string, callback: () => void): void {
    const waiting = this.#networks.get(network);
    if (waiting) return void waiting.push(callback);
    if (this.#networks.size === 0) setImmediate(() => this.#next());
    this.#networks.set(network, [callback]);
  }

  #next(): void {
    const left = this.#restsUntil - performance.now();
    if (left > 0) return void setTimeout(() => this.#next(), left);
    const [first] = this.#networks;
    if (!first) return;
    const [network, waiting] = first;
    this.#networks.delete(network);
    const callback = waiting.shift();
    // Behind all others.
    if (waiting.length > 0) this.#networks.set(network, waiting);
    callback?.();
    if (this.#networks.size > 0) setImmediate(() => this.#next());
  }
}

const turns = new Turns();
const slices = new Slices();
