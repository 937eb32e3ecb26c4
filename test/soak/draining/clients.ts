import { Connection, type Sent } from '../../support/connection.ts';

/** What a client sends. */
export interface ClientRequest extends Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** What some clients saw, over all of their requests. */
export interface ClientReport {
  /** How many requests were answered with 200. */
  answered: number;
  /** How many of the responses since the signal said that their connection will be closed. */
  closing: number;
  /** What else became of a request, but for the connections that were refused at the end. */
  readonly failures: string[];
}

/** More than a service has sockets that listen at an address. */
const mostResets = 64;

/**
 * Clients that keep their connections and send one request after the other until connections are refused.
 * @param next the request that a client sends as its n-th
 */
export class DrainedClients {
  readonly report: ClientReport = { answered: 0, closing: 0, failures: [] };
  readonly #base: string;
  readonly #next: (client: number, n: number) => ClientRequest;
  #isSignalSent = false;

  constructor(base: string, next: (client: number, n: number) => ClientRequest) {
    this.#base = base;
    this.#next = next;
  }

  /** From now on connections may be refused. To be called before the signal is sent. */
  expectRefusals(): void {
    this.#isSignalSent = true;
  }

  /** Resolves when each of them was refused, or has failed in a way that would repeat itself. */
  async run(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, i) => this.#runClient(i)));
  }

  async #runClient(client: number): Promise<void> {
    const connection = new Connection(this.#base);
    // The system makes connections before the service hears of them, and takes back those of a socket that is closed. A client that
    // tries again may meet another socket of the service, which is closed a moment later. Such resets count as refusals where no
    // answer follows. A client that is still writing gets EPIPE.
    const resets: string[] = [];
    for (let n = 0; ; n++) {
      const { method, path, ...sent } = this.#next(client, n);
      const what = `${method} ${path}`;
      try {
        const { status, headers } = await connection.send(method, path, sent);
        this.report.failures.push(...resets.splice(0));
        if (status === 200) this.report.answered += 1;
        else this.report.failures.push(`${what}: ${status}`);
        if (this.#isSignalSent && headers.connection === 'close') this.report.closing += 1;
      } catch (error) {
        const { code, syscall } = error as NodeJS.ErrnoException;
        if (this.#isSignalSent && syscall === 'connect') break;
        const failure = `${what}: ${String(error)}`;
        const isReset = this.#isSignalSent && (code === 'ECONNRESET' || code === 'EPIPE');
        (isReset ? resets : this.report.failures).push(failure);
        // Without the service there would be no end of it.
        if (syscall === 'connect' || resets.length > mostResets) break;
      }
    }
    if (resets.length > mostResets) this.report.failures.push(...resets);
    connection.close();
  }
}
