import { once } from 'node:events';
import { connect } from 'node:net';
import { argv } from 'node:process';

/*
 * Clients that connect to a port until a message comes, and send a request each time; in a process of their own, so that they do so
 * while a server starts. Sends how these ended, each way once.
 */

const endings = new Set<string>();
const ending = new AbortController();
process.once('message', () => ending.abort());

async function connectAgain(): Promise<void> {
  while (!ending.signal.aborted) {
    const socket = connect(Number(argv[2]), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed')));
    const answered = once(socket, 'data').then(
      () => 'answered',
      (error: NodeJS.ErrnoException) => error.code ?? '',
    );
    endings.add(await Promise.race([answered, closed]));
    await closed;
  }
}

process.send?.('begun');
await Promise.all(Array.from({ length: 4 }, connectAgain));
process.send?.([...endings].toSorted());
