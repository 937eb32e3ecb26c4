import { once } from 'node:events';
import { connect } from 'node:net';
import { argv } from 'node:process';

/*
 * Clients that connect to a port again and again; in a process of their own, so that they do so while a server starts. Sends how these
 * attempts ended, each way once.
 */

const endings = new Set<string>();

async function connectAgain(): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const socket = connect(Number(argv[2]), '127.0.0.1');
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed')));
    const connected = once(socket, 'connect').then(
      () => 'connected',
      (error: NodeJS.ErrnoException) => error.code ?? '',
    );
    endings.add(await Promise.race([connected, closed]));
    socket.destroy();
    await closed;
  }
}

await Promise.all(Array.from({ length: 4 }, connectAgain));
process.send?.([...endings].toSorted());
process.disconnect();
