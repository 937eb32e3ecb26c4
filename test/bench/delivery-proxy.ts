import { type Server, type Socket, connect, createServer } from 'node:net';

/**
 * A TCP proxy to a port on loopback that makes it as far away as a round trip of `roundTrip` ms: every chunk is held
 * back for half of it each way, and a new connection carries nothing for the whole of it, as TCP's handshake takes that
 * long. Bandwidth is not limited, nothing is lost, names take no time.
 */
export function startProxy(host: string, target: number, roundTrip: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true, noDelay: true });
    const established = performance.now() + roundTrip;
    forward(near, far, () => Math.max(performance.now(), established) + roundTrip / 2);
    forward(far, near, () => performance.now() + roundTrip / 2);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => resolve(server));
  });
}

/** Hands on what arrives, in order, each at the time that `due` gives for it. */
function forward(from: Socket, to: Socket, due: () => number): void {
  const waiting: (() => void)[] = [];
  const later = (act: () => void) => {
    waiting.push(act);
    // Whichever timer fires first: what came first goes first.
    setTimeout(() => waiting.shift()?.(), due() - performance.now());
  };
  from.on('data', (chunk: Buffer) => later(() => to.write(chunk)));
  from.on('end', () => later(() => to.end()));
  from.on('close', () => later(() => to.destroy()));
  // A connection that breaks is closed; there is nobody to tell.
  from.on('error', () => {});
}
