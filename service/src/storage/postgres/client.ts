import { Socket } from 'node:net';
import { Client, types } from 'pg';
import type { ClientConfig } from 'pg';

/** A client whose connection can be ended at once, whatever it waits for. */
export class TrackedClient extends Client {
  readonly #socket: Socket;

  constructor(config: ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // Without a listener, the loss of a connection that is in use would end the process. Whoever uses it is told by the
    // statement that fails.
    this.on('error', () => {});
  }

  /** Everything that is under way fails. The server may not learn of it, as nothing waits for its goodbye. */
  destroy(): void {
    this.#socket.destroy();
  }
}

// All whole numbers of the schema are below 2^53; by default `pg` gives those of 64 bits as text.
const int8: number = types.builtins.INT8;
const getTypeParser: typeof types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === int8 ? Number : types.getTypeParser(id, format);

/** What all connections of the service have in common. */
export const clientConfig = (connectionString: string): ClientConfig => ({
  connectionString,
  application_name: 'plugin-editor-service',
  keepAlive: true,
  types: { getTypeParser },
});

/** Waits for the end of what says goodbye to the server, for so many ms at the most: one that is away does not answer. */
export async function endsWithin(ending: Promise<unknown>, timeout: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeout);
  try {
    await Promise.race([ending, promise]);
  } catch {
    // It has ended, too.
  } finally {
    clearTimeout(timer);
  }
}
