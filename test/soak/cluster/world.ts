import { issueOwnerToken } from '../../../service/src/accounts/environment-token.ts';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';
import { Cluster } from '../../postgres/cluster.ts';
import { HttpProxy } from '../../support/http-proxy.ts';
import { Connection } from '../connection.ts';
import { ENVIRONMENT } from '../service.ts';
import type { Tally } from '../tally.ts';
import { ClusterNode } from './node.ts';
import { ClusterUser } from './user.ts';

/** Several nodes on one PostgreSQL, behind a proxy that spreads requests over them. */
export class ClusterWorld {
  readonly database: Cluster;
  readonly nodes: readonly ClusterNode[];
  readonly #proxy: HttpProxy;
  readonly #environmentToken: string;
  readonly #connections: Connection[] = [];

  private constructor(database: Cluster, nodes: readonly ClusterNode[], proxy: HttpProxy, token: string) {
    this.database = database;
    this.nodes = nodes;
    this.#proxy = proxy;
    this.#environmentToken = token;
  }

  static async start(nodeCount = 3): Promise<ClusterWorld> {
    const database = await Cluster.create({ durable: true });
    const nodes: ClusterNode[] = [];
    try {
      await database.start();
      const storage = await openStorage(parseDatabaseUrl(database.url));
      const token = await storage.transaction((tables) =>
        issueOwnerToken(tables, ENVIRONMENT, 'owner@example.com', Date.now()),
      );
      await storage.close();
      for (let i = 0; i < nodeCount; i++) nodes.push(await ClusterNode.start(database.url));
      const proxy = await HttpProxy.start(nodes.map(({ port }) => port));
      return new ClusterWorld(database, nodes, proxy, token ?? '');
    } catch (error) {
      for (const node of nodes) await node.remove();
      await database.remove();
      throw error;
    }
  }

  /** A user with a connection and a plugin of their own, two to a tenant, who is not signed in yet. */
  addUser(name: string | number, tally: Tally): ClusterUser {
    const connection = new Connection(this.#proxy.origin);
    this.#connections.push(connection);
    const tenant = typeof name === 'number' ? `tenant-${name >> 1}` : name;
    const path = `${ENVIRONMENT}.${tenant}/default/plugin-${name}`;
    return new ClusterUser(path, connection, this.#environmentToken, tally);
  }

  async remove(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.#proxy.close();
    for (const node of this.nodes) await node.remove();
    await this.database.remove();
  }
}
