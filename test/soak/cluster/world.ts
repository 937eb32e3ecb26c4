import { Cluster } from '../../postgres/cluster.ts';
import { Connection } from '../../support/connection.ts';
import { HttpProxy } from '../../support/http-proxy.ts';
import { createEnvironmentToken, NodeProcess } from '../../support/node-process.ts';
import { until } from '../../support/until.ts';
import type { Tally } from '../tally.ts';
import { ClusterUser } from './user.ts';

/** Several nodes on one PostgreSQL, behind a proxy that spreads requests over them. */
export class ClusterWorld {
  readonly database: Cluster;
  readonly nodes: readonly NodeProcess[];
  readonly #proxy: HttpProxy;
  readonly #environmentToken: string;
  readonly #connections: Connection[] = [];

  private constructor(database: Cluster, nodes: readonly NodeProcess[], proxy: HttpProxy, token: string) {
    this.database = database;
    this.nodes = nodes;
    this.#proxy = proxy;
    this.#environmentToken = token;
  }

  static async start(nodeCount = 3): Promise<ClusterWorld> {
    const database = await Cluster.create({ durable: true });
    const nodes: NodeProcess[] = [];
    try {
      await database.start();
      for (let i = 0; i < nodeCount; i++) nodes.push(new NodeProcess(database.url));
      const token = await createEnvironmentToken(database.url);
      for (const node of nodes) await node.start();
      for (const node of nodes) await until('a node that is ready', () => node.isReady());
      const proxy = await HttpProxy.start(nodes.map(({ port }) => port));
      return new ClusterWorld(database, nodes, proxy, token);
    } catch (error) {
      for (const node of nodes) await node[Symbol.asyncDispose]();
      await database.remove();
      throw error;
    }
  }

  /** A user with a separate connection and plugin, two to a tenant, who is not signed in yet. */
  addUser(name: string | number, tally: Tally): ClusterUser {
    const connection = new Connection(this.#proxy.origin);
    this.#connections.push(connection);
    const tenant = typeof name === 'number' ? `tenant-${name >> 1}` : name;
    const path = `com.acme.${tenant}/default/plugin-${name}`;
    return new ClusterUser(path, connection, this.#environmentToken, tally);
  }

  async remove(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.#proxy.close();
    for (const node of this.nodes) await node[Symbol.asyncDispose]();
    await this.database.remove();
  }
}
