import type { PostgresPool } from 'kysely';
import { isFull, isUnavailable } from './errors.ts';
import { clientConfig, waitForEnd, TrackedClient, poolClient } from './client.ts';
import type { PostgresLimits } from './limits.ts';
import { StorageUnavailableError } from '../errors.ts';

export const changeChannel = 'plugin_service_changes';

export interface MonitorEvents {
  /** Another node may have committed changes. Also called for each new connection, because earlier notifications were missed. */
  readonly onChange: () => void;
  /** The database became unavailable, with the cause; or, with `undefined`, available again. */
  readonly onAvailability: (cause: unknown) => void;
}

/**
 * Knows whether the database is available, by a connection outside of the pool. It listens for commits and reads the
 * changes. When the connection breaks and no new one can be made, the database counts as unavailable until one can.
 */
export class Monitor {
  readonly #url: string;
  readonly #limits: PostgresLimits;
  #events: MonitorEvents | undefined;
  #client: TrackedClient | undefined;
  /** The connections that are being established. */
  readonly #attempts = new Set<TrackedClient>();
  #awayCause: unknown;
  #reconnecting: NodeJS.Timeout | undefined;
  #isChecking = false;
  #isClosed = false;

  constructor(url: string, limits: PostgresLimits) {
    this.#url = url;
    this.#limits = limits;
  }

  /** Why the database is unavailable; `undefined` while it is available. */
  get awayCause(): unknown {
    return this.#awayCause;
  }

  /** Connects. Rejects when that fails. */
  async start(events: MonitorEvents): Promise<void> {
    this.#events = events;
    await this.#connect();
  }

  /** A pool for Kysely, whose statements all use the monitor's connection, one after the other. Not for transactions. */
  readonly pool: PostgresPool = {
    options: {},
    connect: async () => {
      const client = this.#client;
      if (!client)
        throw new StorageUnavailableError(this.#awayCause ?? new Error('it is being connected to'));
      return poolClient(
        (sql, parameters) => this.#query(client, sql, parameters),
        () => {},
      );
    },
    end: async () => {},
  };

  /** Checks now whether the database is available, after a failure that may mean that it is not. */
  check(): void {
    const client = this.#client;
    if (!client || this.#isChecking) return;
    this.#isChecking = true;
    void this.#query(client, 'select 1')
      .catch(() => {})
      .finally(() => (this.#isChecking = false));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#reconnecting);
    for (const attempt of this.#attempts) attempt.destroy();
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    await waitForEnd(client.end(), this.#limits.closeTimeout);
    client.destroy();
  }

  async #query(client: TrackedClient, sql: string, parameters: readonly unknown[] = []) {
    try {
      return await client.query(sql, [...parameters]);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#handleLoss(client);
      throw new StorageUnavailableError(error);
    }
  }

  /** Makes a connection the monitor's, unless another attempt was faster. Rejects when it cannot connect. */
  async #connect(): Promise<void> {
    const client = new TrackedClient({
      ...clientConfig(this.#url),
      application_name: 'plugin-editor-service changes',
      connectionTimeoutMillis: this.#limits.monitorConnectTimeout,
      query_timeout: this.#limits.monitorTimeout,
    });
    this.#attempts.add(client);
    client.on('notification', () => this.#events?.onChange());
    client.on('error', () => this.#handleLoss(client));
    client.on('end', () => this.#handleLoss(client));
    try {
      await client.connect();
      await client.query(`listen ${changeChannel}`);
      const { rows } = await client.query<{ value: string }>(
        `select current_setting('transaction_read_only') as value`,
      );
      if (rows[0]?.value === 'on') throw new Error('it takes no writes, as a standby does');
    } catch (error) {
      client.destroy();
      throw error;
    } finally {
      this.#attempts.delete(client);
    }
    if (this.#client || this.#isClosed) return client.destroy();
    this.#client = client;
    this.#handleReturn();
  }

  #handleReturn(): void {
    clearInterval(this.#reconnecting);
    this.#reconnecting = undefined;
    if (this.#awayCause !== undefined) {
      this.#awayCause = undefined;
      this.#events?.onAvailability(undefined);
    }
    this.#events?.onChange();
  }

  #handleLoss(client: TrackedClient): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    client.destroy();
    this.#reconnect();
  }

  /**
   * Tries to connect now, and then at intervals. An attempt does not wait for the one before, which may hang for long if it began
   * while the network was down.
   */
  #reconnect(): void {
    if (this.#isClosed || this.#reconnecting) return;
    const attempt = () => {
      this.#connect().catch((error: unknown) => {
        // A server that has too many connections is available to the pool.
        if (this.#client || this.#isClosed || isFull(error) || this.#awayCause !== undefined) return;
        this.#awayCause = error;
        this.#events?.onAvailability(error);
      });
    };
    this.#reconnecting = setInterval(attempt, this.#limits.reconnectInterval).unref();
    attempt();
  }
}
