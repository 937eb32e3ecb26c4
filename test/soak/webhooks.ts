import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { BuilderClient, parseIdent } from '../../src/client.ts';
import { EnvironmentClient } from '../../src/server.ts';
import type { Figure } from '../bench/figures.ts';
import { Cluster } from '../postgres/cluster.ts';
import { createEnvironmentToken, NodeProcess } from '../support/node-process.ts';
import { until } from '../support/until.ts';

export interface WebhookOptions {
  /** For how long a node or the database is killed, and how often, in seconds. */
  seconds: number;
  killEvery: number;
  /** How long the receiver fails, and then answers, in seconds. */
  span: number;
}

const environment = 'com.acme';
const plugins = ['a', 'b', 'c', 'd'].map((tenant) => ({
  identifier: `${environment}.${tenant}`,
  pluginName: 'plugin',
}));

/** How long the database is away each time, in ms. */
const databaseAway = 2000;

/** Within what every event has to be delivered after the last fault, in ms. */
const deliveryLimit = 10 * 60_000;

/** How often the receiver fails an event: after one more the next try would come later than within `deliveryLimit`. */
const failuresOfEvent = 7;

/** What a receiver was told, which fails in alternate spans until it is mended. */
export class Receiver {
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  /** The sequence numbers that it has taken, and by plugin those of first tries, in the order in which they came. */
  readonly taken = new Set<number>();
  readonly firstTries = new Map<string, number[]>();
  tries = 0;
  forged = 0;
  isMended = false;
  secret = '';
  readonly #began = performance.now();
  readonly #span: number;
  /** How often each event came. */
  readonly #triesOf = new Map<string, number>();

  constructor(span: number) {
    this.#span = span * 1000;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.tries += 1;
    try {
      new Webhook(this.secret).verify(body, request.headers as Record<string, string>);
    } catch {
      this.forged += 1;
    }
    const { data } = JSON.parse(body) as { data: { ident: string; actor: string } };
    const id = String(request.headers['webhook-id']);
    const tries = (this.#triesOf.get(id) ?? 0) + 1;
    this.#triesOf.set(id, tries);
    if (tries === 1) {
      this.firstTries.set(data.ident, [...(this.firstTries.get(data.ident) ?? []), Number(data.actor)]);
    }
    const isDown = Math.floor((performance.now() - this.#began) / this.#span) % 2 === 0;
    const fails = !this.isMended && isDown && tries <= failuresOfEvent;
    if (!fails) this.taken.add(Number(data.actor));
    response.writeHead(fails ? 500 : 204).end();
  }
}

/**
 * Two nodes on one PostgreSQL send events to a receiver that fails in alternate spans, while a node or the database is killed. Every
 * event of an acknowledged change arrives, and those of one plugin are tried first in their order.
 */
export async function measureWebhooks(
  options: WebhookOptions = { seconds: 120, killEvery: 10, span: 10 },
): Promise<Figure[]> {
  const database = await Cluster.create({ durable: true });
  const receiver = new Receiver(options.span);
  const url = await receiver.start();
  const settings = { OUTBOUND_ALLOW: url, SECRETS_KEY: randomBytes(32).toString('base64') };
  const nodes: NodeProcess[] = [];
  try {
    await database.start();
    for (let i = 0; i < 2; i++) nodes.push(new NodeProcess(database.url, settings));
    const environmentToken = await createEnvironmentToken(database.url);
    for (const node of nodes) await node.start();
    for (const node of nodes) await until('a node that is ready', () => node.isReady());
    const clients = nodes.map(
      ({ origin }) =>
        new EnvironmentClient({ builderUrl: origin, environmentToken, timeout: 15_000, retry: 0 }),
    );
    for (const plugin of plugins) await deployTwice(clients[0], nodes[0], plugin);
    const webhook = await clients[0]?.createWebhook({ environment }, { url, events: ['plugin.live'] });
    receiver.secret = webhook?.secret ?? '';

    const ended = new AbortController();
    const acknowledged = new Set<number>();
    const changing = plugins.map((plugin, i) => change(clients, plugin, i, acknowledged, ended.signal));
    await injectFaults(nodes, database, options);
    ended.abort();
    await Promise.all(changing);
    receiver.isMended = true;
    const began = performance.now();
    const isLate = () => performance.now() - began > deliveryLimit;
    const missing = () => [...acknowledged].filter((one) => !receiver.taken.has(one)).length;
    while (missing() && !isLate()) await setTimeout(100);
    const tried = [...receiver.firstTries.values()];
    const outOfOrder = tried.flatMap((all) => all.filter((one, i) => one < (all[i - 1] ?? 0)));
    return [
      {
        name: `events lost with faults for ${options.seconds} s`,
        value: missing(),
        limit: 0,
        unit: '',
        note: `${acknowledged.size} acknowledged, ${receiver.taken.size} delivered by ${receiver.tries} tries`,
      },
      { name: 'first tries out of order', value: outOfOrder.length, limit: 0, unit: '' },
      { name: 'messages that the official library refuses', value: receiver.forged, limit: 0, unit: '' },
      {
        name: 'time until all are delivered after the last fault',
        value: (performance.now() - began) / 1000,
        limit: deliveryLimit / 1000,
        unit: 's',
      },
    ];
  } finally {
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await database.remove();
    receiver.close();
  }
}

/** Deploys two versions of a plugin, between which what is live is changed. */
async function deployTwice(
  client: EnvironmentClient | undefined,
  node: NodeProcess | undefined,
  { identifier, pluginName }: (typeof plugins)[number],
): Promise<void> {
  const session = await client?.createSession({ identifier }, { scope: 'plugin', fn: pluginName });
  const builder = new BuilderClient({ baseUrl: node?.origin ?? '', token: session?.token });
  const { tenant } = parseIdent(identifier);
  const location = { environment, userID: tenant, pluginName };
  for (const output of ['one', 'two']) {
    await builder.build({ ...location, language: 'javascript' }, `export const run = () => '${output}';`);
    await builder.deploy(location);
  }
}

/** Changes what is live again and again, by one node and then the other. The actor of each change is a number that only grows. */
async function change(
  clients: readonly EnvironmentClient[],
  plugin: (typeof plugins)[number],
  index: number,
  acknowledged: Set<number>,
  signal: AbortSignal,
): Promise<void> {
  for (let i = 1; !signal.aborted; i++) {
    const number = i * plugins.length + index;
    try {
      await clients[i % clients.length]?.setLive(plugin, i % 2 ? 'v1.0.0' : 'v1.0.1', { actor: `${number}` });
      acknowledged.add(number);
    } catch {
      // It was killed: the change was made or not.
    }
    await setTimeout(200);
  }
}

/** Kills one node, the other, and the database in turn. Ends with all of them running. */
async function injectFaults(
  nodes: readonly NodeProcess[],
  database: Cluster,
  { seconds, killEvery }: WebhookOptions,
): Promise<void> {
  const reviving = new Map<NodeProcess, Promise<void>>();
  for (let i = 0; i < Math.max(1, Math.floor(seconds / killEvery)); i++) {
    await setTimeout(killEvery * 1000);
    const node = nodes[i % (nodes.length + 1)];
    if (node) {
      // A busy machine may not have started it yet.
      await reviving.get(node);
      await node.end('SIGKILL');
      reviving.set(node, revive(node));
    } else {
      await database.crash();
      await setTimeout(databaseAway);
      await database.start();
    }
  }
  await Promise.all(reviving.values());
  for (const node of nodes) await until('a node that is ready', () => node.isReady());
}

/** Starts a node, again and again while the database is away. */
async function revive(node: NodeProcess): Promise<void> {
  for (;;) {
    try {
      return await node.start();
    } catch {
      await setTimeout(500);
    }
  }
}
