import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool } from 'pg';
import type { ClientConfig, PoolClient } from 'pg';
import type { ConnectionUsage } from '../../operations/metrics.ts';
import { clientConfig, endsWithin, TrackedClient } from './client.ts';
import { isUnavailable } from './errors.ts';
import type { PostgresLimits } from './limits.ts';
import type { Monitor } from './monitor.ts';
import { poolClient } from './pool-client.ts';
import { StorageUnavailableError } from '../unavailable.ts';

/** What waits for connections, and for how long, has bounds; and while the database is away, nothing waits for it at all. */
export class BoundedPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #limits: PostgresLimits;
  readonly #monitor: Pick<Monitor, 'awayCause' | 'check'>;
  readonly #clients = new Set<TrackedClient>();

  constructor(url: string, limits: PostgresLimits, monitor: Pick<Monitor, 'awayCause' | 'check'>) {
    this.#limits = limits;
    this.#monitor = monitor;
    const clients = this.#clients;
    class PoolMember extends TrackedClient {
      constructor(config?: ClientConfig) {
        super(config);
        clients.add(this);
        this.once('end', () => clients.delete(this));
      }
    }
    this.#pool = new Pool({
      ...clientConfig(url),
      Client: PoolMember,
      max: limits.connections,
      connectionTimeoutMillis: limits.acquireTimeout,
      statement_timeout: limits.statementTimeout,
      // A node that was cut off, or hangs, must not keep its locks from the others. Transactions wait for nothing else
      // than the database, so that one is idle only for as long as an answer and the next statement travel.
      idle_in_transaction_session_timeout: 5000,
    });
    // An idle connection that breaks leaves the pool by itself. Without a listener the error would end the process.
    this.#pool.on('error', () => monitor.check());
  }

  get options(): object {
    return this.#pool.options;
  }

  /** How many connections are in use and at rest, and how many wait for one. */
  get usage(): ConnectionUsage {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#monitor.awayCause !== undefined) throw new StorageUnavailableError(this.#monitor.awayCause);
    if (this.#pool.waitingCount >= this.#limits.waiting) {
      throw new StorageUnavailableError(new Error(`${this.#limits.waiting} wait for a connection already`));
    }
    try {
      return this.#bounded(await this.#pool.connect());
    } catch (error) {
      this.#monitor.check();
      throw new StorageUnavailableError(error);
    }
  }

  /** Ends every connection, in use or not: nothing can be expected of those that were made before the database went away. */
  dropAll(): void {
    for (const client of this.#clients) client.destroy();
  }

  /** Lets what is under way end first, unless that takes long. */
  async end(): Promise<void> {
    await endsWithin(this.#pool.end(), this.#limits.closeTimeout);
    this.dropAll();
  }

  #bounded(client: PoolClient): PostgresPoolClient {
    let brokenBy: unknown;
    const timer = setTimeout(() => {
      brokenBy = new Error(`a connection was held for longer than ${this.#limits.holdTimeout} ms`);
      (client as unknown as TrackedClient).destroy();
    }, this.#limits.holdTimeout);
    return poolClient(
      async (sql, parameters) => {
        if (brokenBy !== undefined) throw new StorageUnavailableError(brokenBy);
        try {
          return await client.query(sql, [...parameters]);
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          const cause = brokenBy ?? error;
          // Of the server's own errors some leave the connection as it was; the rollback that follows shows it.
          if (!('severity' in (error as object))) brokenBy = cause;
          this.#monitor.check();
          throw new StorageUnavailableError(cause);
        }
      },
      (isBroken) => {
        clearTimeout(timer);
        client.release(isBroken || brokenBy !== undefined);
      },
    );
  }
}
