import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool } from 'pg';
import type { ClientConfig, PoolClient } from 'pg';
import type { ConnectionUsage } from '../../operations/metrics.ts';
import { clientConfig, waitForEnd, TrackedClient, poolClient } from './client.ts';
import { isConflict, isDiskFull, isUnavailable } from './errors.ts';
import type { PostgresLimits } from './limits.ts';
import type { Monitor } from './monitor.ts';
import { isNameRefused, NamedStatements } from './named-statements.ts';
import { Turns } from '../turns.ts';
import { StorageUnavailableError } from '../errors.ts';
import { repeatWhile } from '../repeat.ts';

/** Whether a transaction can be done again at once. */
const canRepeat = (error: unknown) => isConflict(error) || isNameRefused(error);

/**
 * A pool of connections that are shared fairly, and for which a bounded number waits for a bounded time. While the database is
 * unavailable, it fails statements at once.
 */
export class BoundedPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #limits: PostgresLimits;
  readonly #monitor: Pick<Monitor, 'awayCause' | 'check'>;
  readonly #clients = new Set<TrackedClient>();
  readonly #turns: Turns;
  readonly #statements = new NamedStatements();

  constructor(url: string, limits: PostgresLimits, monitor: Pick<Monitor, 'awayCause' | 'check'>) {
    this.#limits = limits;
    this.#monitor = monitor;
    const { connections: slots, waiting, acquireTimeout: timeout } = limits;
    this.#turns = new Turns({ slots, waiting, timeout });
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
      // A node that hangs or was cut off must not keep its locks. Transactions wait for nothing but the database, so that one is
      // only idle while a result and the next statement are on their way.
      idle_in_transaction_session_timeout: 5000,
    });
    // An idle connection that breaks is removed from the pool. Without a listener, its error would end the process.
    this.#pool.on('error', () => monitor.check());
  }

  get options(): object {
    return this.#pool.options;
  }

  /** How many connections are in use and idle, and how many statements wait for one. */
  get usage(): ConnectionUsage {
    const { totalCount, idleCount } = this.#pool;
    return { used: totalCount - idleCount, idle: idleCount, waiting: this.#turns.waiting };
  }

  async connect(): Promise<PostgresPoolClient> {
    this.#requireDatabase();
    const endTurn = await this.#turns.acquire();
    try {
      this.#requireDatabase();
      return this.#bounded(await this.#pool.connect(), endTurn);
    } catch (error) {
      endTurn();
      if (error instanceof StorageUnavailableError) throw error;
      this.#monitor.check();
      throw new StorageUnavailableError(error);
    }
  }

  #requireDatabase(): void {
    if (this.#monitor.awayCause !== undefined) throw new StorageUnavailableError(this.#monitor.awayCause);
  }

  /** Destroys every connection, in use or not: those from before the database became unavailable are of no use any more. */
  dropAll(): void {
    for (const client of this.#clients) client.destroy();
  }

  /** Waits for unfinished statements, unless they take too long, and closes the pool. */
  async end(): Promise<void> {
    await waitForEnd(this.#pool.end(), this.#limits.closeTimeout);
    this.dropAll();
  }

  #bounded(client: PoolClient, endTurn: () => void): PostgresPoolClient {
    let brokenBy: unknown;
    const timer = setTimeout(() => {
      brokenBy = new Error(`a connection was held for longer than ${this.#limits.holdTimeout} ms`);
      // Every client of the pool is a `PoolMember`.
      if (client instanceof TrackedClient) client.destroy();
    }, this.#limits.holdTimeout);
    // The first statement of a connection is `begin`, or a transaction by itself.
    let isFirst = true;
    return poolClient(
      async (sql, parameters) => {
        if (brokenBy !== undefined) throw new StorageUnavailableError(brokenBy);
        const isTransaction = isFirst;
        isFirst = false;
        const query = () => this.#statements.query(sql, parameters, (statement) => client.query(statement));
        try {
          return await (isTransaction ? repeatWhile(canRepeat, query) : query());
        } catch (error) {
          if (!isUnavailable(error) && !isNameRefused(error)) throw error;
          const cause = brokenBy ?? error;
          // After an error of the server the connection may still work; the rollback that follows will show it.
          if (!('severity' in (error as object))) brokenBy = cause;
          this.#monitor.check();
          throw new StorageUnavailableError(cause, {
            isDiskFull: isDiskFull(cause),
            isConflict: canRepeat(cause),
          });
        }
      },
      (isBroken) => {
        clearTimeout(timer);
        client.release(isBroken || brokenBy !== undefined);
        endTurn();
      },
    );
  }
}
