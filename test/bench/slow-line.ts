import { type Server, type Socket, connect, createServer } from 'node:net';

/** What fits into one packet, and what its headers add to it on the line, in bytes. */
const SEGMENT = 1460;
const HEADERS = 40;

/** What TCP sends on a new connection before it hears anything, in bytes: ten packets (RFC 6928). */
const INITIAL_WINDOW = 10 * SEGMENT;

export interface Line {
  /** How long a packet and its answer take, in ms. */
  roundTrip: number;
  /** In each direction, in bit/s; without a limit, nothing starts slowly, either. */
  bandwidth: number;
}

/**
 * A user's slow line, which all connections share: TCP proxies to ports on loopback, behind which everything is as far away
 * as a round trip and comes no faster than the line carries it. A new connection carries nothing for a round trip, as TCP's
 * handshake takes that long, and what comes down on it starts with ten packets and doubles with each round trip, as TCP's
 * slow start does. Nothing is lost, and names take no time.
 */
export class SlowLine {
  readonly #line: Line;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #down = { free: 0 };
  readonly #up = { free: 0 };

  constructor(line: Line) {
    this.#line = line;
  }

  /** Opens a port that leads to another through this line; resolves with it. */
  async lead(target: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true, noDelay: true });
      const established = performance.now() + this.#line.roundTrip;
      this.#carry(near, far, this.#up, Infinity, established);
      const window = this.#line.bandwidth === Infinity ? Infinity : INITIAL_WINDOW;
      this.#carry(far, near, this.#down, window, 0);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    this.#servers.push(server);
    return (server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  /** Hands on what arrives, in order; `window` is how much may be on its way, and nothing leaves before `earliest`. */
  #carry(from: Socket, to: Socket, direction: { free: number }, window: number, earliest: number): void {
    const { roundTrip, bandwidth } = this.#line;
    const waiting: { size: number; act: () => void }[] = [];
    const arriving: (() => void)[] = [];
    let onItsWay = 0;
    const send = () => {
      for (;;) {
        const next = waiting[0];
        if (!next || (onItsWay > 0 && onItsWay + next.size > window)) return;
        waiting.shift();
        onItsWay += next.size;
        const start = Math.max(performance.now(), earliest, direction.free);
        direction.free = start + (next.size ? ((next.size + HEADERS) * 8000) / bandwidth : 0);
        const arrival = direction.free + roundTrip / 2;
        arriving.push(next.act);
        // Whichever timer fires first: what was sent first arrives first.
        setTimeout(() => arriving.shift()?.(), arrival - performance.now());
        setTimeout(
          () => {
            onItsWay -= next.size;
            window += next.size;
            send();
          },
          arrival + roundTrip / 2 - performance.now(),
        );
      }
    };
    const later = (size: number, act: () => void) => {
      waiting.push({ size, act });
      send();
    };
    from.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += SEGMENT) {
        const part = chunk.subarray(at, at + SEGMENT);
        later(part.length, () => to.write(part));
      }
    });
    from.on('end', () => later(0, () => to.end()));
    from.on('close', () => {
      this.#sockets.delete(from);
      later(0, () => to.destroy());
    });
    // A connection that breaks is closed by `close`.
    from.on('error', () => {});
    this.#sockets.add(from);
  }
}
