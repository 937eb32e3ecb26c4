import { BuilderClient, parseIdent } from '../../../src/client.ts';
import { EnvironmentClient, ExecutionClient } from '../../../src/server.ts';
import { callingPlugin } from '../../bench/connections/calling-plugin.ts';
import { UpstreamProcess } from '../../bench/connections/upstream.ts';
import { createDurableDatabase } from '../../service/storage/durable-database.ts';
import { until } from '../../support/until.ts';
import { program } from '../programs.ts';
import { KilledService } from '../service.ts';
import { Receiver } from '../webhooks.ts';

export const environment = 'com.acme';

/** How long editor tokens live, in seconds, so that editors renew them often. */
const tokenLife = 120;

/** How long the receiver of webhooks fails, and then answers, in seconds. */
const receiverSpan = 20;

/** How many recorded runs are read, and replayed, at once. */
export const recorded = 20;

export interface PluginPlace {
  readonly identifier: string;
  readonly namespace?: string;
  readonly pluginName: string;
}

const place = (tenant: string, namespace?: string): PluginPlace => ({
  identifier: `${environment}.${tenant}`,
  pluginName: tenant,
  ...(namespace && { namespace }),
});

/** The plugins that are there from the beginning, each with what its versions are made of. */
export const plugins = {
  hello: place('hello'),
  calls: place('calls', 'calling'),
  rollout: place('rollout'),
  stopping: place('stopping'),
  live: place('live'),
  python: place('python'),
  failing: place('failing'),
  looping: place('looping'),
  hungry: place('hungry'),
};

const returning = (text: string) => `export const run = (input) => '${text}:' + input;`;

/** A node as it is deployed, what its plugins call, and who receives its webhooks. */
export class World implements AsyncDisposable {
  readonly service: KilledService;
  readonly upstream: UpstreamProcess;
  readonly receiver: Receiver;
  readonly environments: EnvironmentClient;
  readonly executions: ExecutionClient;
  webhook = '';
  readonly #stack: AsyncDisposableStack;

  private constructor(
    stack: AsyncDisposableStack,
    service: KilledService,
    upstream: UpstreamProcess,
    receiver: Receiver,
  ) {
    this.#stack = stack;
    this.service = service;
    this.upstream = upstream;
    this.receiver = receiver;
    const { origin } = service.node;
    const { environmentToken } = service;
    this.environments = new EnvironmentClient({ builderUrl: origin, environmentToken, timeout: 60_000 });
    this.executions = new ExecutionClient({ executionUrl: `${origin}/exec`, environmentToken });
  }

  static async start(): Promise<World> {
    await using stack = new AsyncDisposableStack();
    const upstream = stack.use(await UpstreamProcess.start());
    const receiver = new Receiver(receiverSpan);
    const url = await receiver.start();
    stack.defer(() => receiver.close());
    const database = await createDurableDatabase('sqlite');
    stack.defer(database.remove);
    const service = stack.use(
      await KilledService.start(database, {
        OUTBOUND_ALLOW: `${upstream.origin} ${url}`,
        SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
        EDITOR_TOKEN_TTL: String(tokenLife),
        RUN_RECORDS: 'payloads',
        RUN_TIMEOUT_MS: '5000',
      }),
    );
    const world = new World(stack.move(), service, upstream, receiver);
    try {
      await world.#deployAll(url);
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  /** A client for the author of a plugin. */
  async builder({ identifier, namespace, pluginName }: PluginPlace): Promise<BuilderClient> {
    const { token } = await this.environments.createSession(
      { identifier },
      { scope: 'plugin', fn: pluginName, ...(namespace && { namespace }) },
    );
    return new BuilderClient({ baseUrl: this.service.node.origin, token });
  }

  async #deployAll(receiverUrl: string): Promise<void> {
    const { origin } = this.upstream;
    await this.environments.setNamespace(
      { environment, namespace: 'calling' },
      { connections: [{ name: 'upstream', origin }] },
    );
    await this.#deploy(plugins.hello, 'javascript', [returning('hello')]);
    await this.#deploy(plugins.calls, 'javascript', [
      callingPlugin(plugins.calls.identifier, this.upstream).contents,
    ]);
    const failing = `export function run() { throw new Error('as it should'); }`;
    await this.#deploy(plugins.rollout, 'javascript', [returning('old'), returning('new')]);
    await this.#deploy(plugins.stopping, 'javascript', [returning('old'), failing]);
    await this.#deploy(plugins.live, 'javascript', [returning('one'), returning('two')]);
    await this.#deploy(plugins.python, 'python', [program('python', 'python', 0).contents]);
    await this.#deploy(plugins.failing, 'python', ['def run(input):\n    raise ValueError(input)\n']);
    await this.#deploy(plugins.looping, 'javascript', ['export function run() { for (;;); }']);
    await this.#deploy(plugins.hungry, 'javascript', [
      `export function run() { const all = []; for (;;) all.push('x'.repeat(1e6)); }`,
    ]);
    await this.environments.setLive(plugins.rollout, 'v1.0.0');
    await this.environments.setLive(plugins.stopping, 'v1.0.0');
    const { id, secret } = await this.environments.createWebhook(
      { environment },
      { url: receiverUrl, events: ['plugin.live'] },
    );
    this.webhook = id;
    this.receiver.secret = secret;
    // So that there are records to read and to replay.
    for (let i = 0; i < recorded; i++) await this.executions.run(plugins.hello, `${i}`);
    await until('records', async () => {
      const { runs } = await this.environments.listRuns(plugins.hello, { limit: recorded });
      return runs.length === recorded;
    });
  }

  async #deploy(plugin: PluginPlace, language: string, versions: readonly string[]): Promise<void> {
    const builder = await this.builder(plugin);
    const { identifier, ...names } = plugin;
    const location = { environment, userID: parseIdent(identifier).tenant, ...names };
    for (const contents of versions) {
      const { succeeded, outputLog } = await builder.build({ ...location, language }, contents);
      if (!succeeded) throw new Error(`${plugin.pluginName} was not built: ${outputLog}`);
      await builder.deploy(location);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
