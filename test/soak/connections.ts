import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Caller,
  callingPlugin,
  callingSettings,
  grantUpstream,
} from '../bench/connections/calling-plugin.ts';
import { UpstreamProcess } from '../bench/connections/upstream.ts';
import { memoryOf, processTree } from '../bench/executions/processes.ts';
import { createDataDirectory, environment, ServiceProcess } from '../bench/executions/service-process.ts';
import type { Plugin } from '../bench/executions/service-process.ts';
import type { Figure } from '../bench/figures.ts';
import { databaseUrl } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { random } from './random.ts';
import { Tally } from './tally.ts';

export interface ConnectionsOptions {
  /** How long runs are made. */
  seconds: number;
  /** How many runs there are at once, on both nodes together. */
  clients: number;
  /** How often the second node is killed, the runners of both, and the upstream, by turns, in seconds. */
  killEvery: number;
}

/** What the upstream does, how often, and what a plugin may get of it. */
export const behaviours: readonly (readonly [what: string, share: number, outcome: RegExp])[] = [
  ['good', 12, /^(?:run-\d+|error unreachable)$/],
  ['hang', 1, /^error (?:call-timeout|unreachable)$/],
  ['cut', 1, /^error unreachable$/],
  ['too-long', 1, /^error unreachable$/],
  ['too-short', 1, /^(?:HT|error unreachable)$/],
  ['two-lengths', 1, /^error unreachable$/],
  ['garbage', 1, /^error unreachable$/],
  ['bad-gzip', 1, /^error (?:unreachable|response-refused)$/],
  ['endless', 1, /^error (?:response-limit|unreachable)$/],
  ['drip', 1, /^error (?:call-timeout|unreachable)$/],
];
const lots = behaviours.flatMap((one) => Array.from({ length: one[1] }, () => one));

/** What a run may end with because runners are killed, or the machine has too much to do. */
const expectedStatus = /^status (?:5\d\d runner-crashed|503 (?:busy|cancelled)|504 wait-limit)$/;

/** How long calls and runs may take in these services, in ms, and what a run takes at most until its outcome is there. */
const callTimeout = 8000;
const runWait = 12_000;
const patience = 40_000;

const waitingRuns = 500;
const plugins = ['t1', 't2', 't3'].map((tenant) => `${environment}.${tenant}`);

/**
 * Two nodes on one PostgreSQL whose plugins call an upstream that hangs, cuts, lies about lengths and dies, while runners and a
 * node are killed: each run has an outcome, and nothing is left of it.
 */
export async function measureConnections(
  options: ConnectionsOptions = {
    seconds: Number(process.env['SOAK_SECONDS'] ?? 600),
    clients: 60,
    killEvery: 15,
  },
): Promise<Figure[]> {
  const tally = new Tally();
  await using world = await World.start();
  const survived = await killRunnersOfWaiting(world, tally);
  const warmUp = Math.min(60, Math.round(options.seconds / 3));
  const ended = new AbortController();
  const working = Array.from({ length: options.clients }, (_, i) => work(world, i, tally, ended.signal));
  const faults = injectFaults(world, options, tally, ended.signal);
  await sleep(warmUp * 1000);
  const before = memoryOf(world.first.pid).proportional;
  await sleep((options.seconds - warmUp) * 1000);
  const after = memoryOf(world.first.pid).proportional;
  ended.abort();
  await Promise.all([...working, faults]);
  const socketsLeft = await world.socketsLeft();
  const outcomes = [...tally.counts].map(([what, number]) => `${number} ${what}`).join(', ');
  console.log(`  ${outcomes}`);
  return [
    survived,
    {
      name: `runs without an outcome, and wrong ones, in ${options.seconds} s`,
      value: tally.faults.length,
      limit: 0,
      unit: '',
      note: outcomes,
    },
    {
      name: `memory of the node that lives, more than after ${warmUp} s`,
      value: Math.max(0, Math.round(after - before)),
      limit: 100,
      unit: 'MB',
      note: `${before.toFixed(0)} MB, then ${after.toFixed(0)} MB`,
    },
    { name: 'sockets that stay open afterwards', value: socketsLeft, limit: 0, unit: '' },
  ];
}

/** 500 runs wait, and all runners are killed: each has its output. */
async function killRunnersOfWaiting(world: World, tally: Tally): Promise<Figure> {
  // So that all runners are up.
  await Promise.all(
    plugins.map((_, i) =>
      Promise.all(Array.from({ length: 20 }, () => world.run(world.first, i, '/good/0/up'))),
    ),
  );
  const runs = Array.from({ length: waitingRuns }, (_, i) =>
    sleep(i * 4).then(() => world.run(world.first, i, `/good/6000/run-${i}`)),
  );
  // A run that is in a runner has made its call, and ends with it. The first response comes after 6 s.
  const began = performance.now();
  let waiting = 0;
  while (waiting < waitingRuns && performance.now() - began < 5500) {
    await sleep(50);
    waiting = await world.waiting();
  }
  const killed = world.killRunners(world.first);
  const outputs = await Promise.all(runs);
  const lost = outputs.filter((output, i) => output !== `run-${i}`);
  if (!killed) tally.fault('There was no runner to kill.');
  return {
    name: `of ${waitingRuns} waiting runs lost with their runners`,
    value: lost.length,
    limit: 0,
    unit: '',
    note: [`${waiting} waited`, `${killed} processes killed`, ...new Set(lost)].join(', '),
  };
}

async function work(world: World, client: number, tally: Tally, signal: AbortSignal): Promise<void> {
  const chance = random(client + 1);
  for (let i = 0; !signal.aborted; i++) {
    const [what, , expected] = lots[Math.floor(chance() * lots.length)] ?? ['', 0, /^$/];
    const node = chance() < 0.5 ? world.first : world.second;
    const deaths = world.deaths;
    const text = `run-${client * 1e6 + i}`;
    const output = await world.run(node, client, `/${what}/${Math.floor(chance() * 300)}/${text}`);
    const isRight = expected.test(output) && (!output.startsWith('run-') || output === text);
    if (isRight) tally.count(what);
    else if (expectedStatus.test(output)) tally.count(output);
    // An odd number of deaths: it was away when the run was asked for.
    else if (node !== world.first && (world.deaths !== deaths || deaths % 2 === 1))
      tally.count('cut off with their node');
    else tally.fault(`${what}: ${output.slice(0, 200)}`);
    // A node that is away refuses at once.
    if (output.startsWith('broken')) await sleep(200);
  }
}

async function injectFaults(
  world: World,
  { seconds, killEvery }: ConnectionsOptions,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const faults = [
    () => void world.killRunners(world.first),
    () => world.upstream.restart(),
    () => world.killSecond(),
    () => void world.killRunners(world.second),
  ];
  for (let i = 0; i < Math.floor(seconds / killEvery) && !signal.aborted; i++) {
    await sleep(killEvery * 1000, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await faults[i % faults.length]?.();
    tally.count('kills');
  }
}

type StartNode = (settings: Record<string, string>) => Promise<ServiceProcess>;

/** A node that stays and one that is killed, on one database, with callers of the same plugins. */
class World implements AsyncDisposable {
  readonly upstream: UpstreamProcess;
  readonly first: ServiceProcess;
  second: ServiceProcess;
  /** How often the second node died, or came back. */
  deaths = 0;
  readonly #stack: AsyncDisposableStack;
  readonly #startNode: StartNode;
  readonly #secondPort: string;
  readonly #metricsPort: number;
  readonly #callers = new Map<string, Caller>();

  private constructor(
    stack: AsyncDisposableStack,
    upstream: UpstreamProcess,
    nodes: readonly [ServiceProcess, ServiceProcess],
    metricsPort: number,
    startNode: StartNode,
  ) {
    this.#stack = stack;
    this.upstream = upstream;
    [this.first, this.second] = nodes;
    this.#secondPort = String(this.second.port);
    this.#metricsPort = metricsPort;
    this.#startNode = startNode;
  }

  static async start(): Promise<World> {
    await using stack = new AsyncDisposableStack();
    const database = await createDurableDatabase('postgres');
    stack.defer(database.remove);
    const upstream = stack.use(await UpstreamProcess.start());
    const data = stack.use(createDataDirectory());
    let count = 0;
    const settings = {
      ...callingSettings(upstream),
      DATABASE_URL: databaseUrl(database.address),
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      CALL_TIMEOUT_MS: String(callTimeout),
      RUN_WAIT_MS: String(runWait),
      RUN_TIMEOUT_MS: '20000',
      WAITING_RUNS: '4000',
    };
    const start = (environments: readonly string[], more: Record<string, string> = {}) =>
      ServiceProcess.start(data.path, {
        variables: { ...settings, ...more },
        environments,
        log: `node-${count++}.log`,
      });
    const metricsPort = await freePort();
    const first = stack.use(await start([environment], { METRICS_PORT: String(metricsPort) }));
    await grantUpstream(first, environment, upstream);
    await first.deployAll(plugins.map((ident) => callingPlugin(ident, upstream)));
    // A token that another one is made beside would end.
    const second = await start([], { SERVICE_PORT: String(await freePort()) });
    const owned = stack.move();
    return new World(owned, upstream, [first, second], metricsPort, (more) => start([], more));
  }

  /** The output, or what there was instead; `broken` where the connection was. */
  async run(node: ServiceProcess, client: number, input: string): Promise<string> {
    const ident = plugins[client % plugins.length] ?? '';
    const key = `${node.pid} ${ident}`;
    const caller = this.#callers.get(key) ?? new Caller(node.port, callOf(ident), this.#token, waitingRuns);
    this.#callers.set(key, caller);
    const patient = AbortSignal.timeout(patience);
    return caller
      .run(input, patient)
      .catch((error: unknown) => (patient.aborted ? 'no outcome' : `broken: ${String(error)}`));
  }

  /** How many runs of the first node wait outside of the runners. */
  async waiting(): Promise<number> {
    const metrics = await (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text();
    return Number(/^plugin_service_waiting\{queue="calls"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  }

  /** Kills all that a node has started. Returns how many there were. */
  killRunners({ pid }: ServiceProcess): number {
    const [, ...started] = processTree(pid);
    for (const one of started) kill(one);
    return started.length;
  }

  async killSecond(): Promise<void> {
    this.deaths += 1;
    await this.second[Symbol.asyncDispose]();
    this.second = await this.#startNode({ SERVICE_PORT: this.#secondPort });
    this.deaths += 1;
  }

  /** How many connections to the upstream are not closed although it has ended. */
  async socketsLeft(): Promise<number> {
    for (const caller of this.#callers.values()) caller[Symbol.dispose]();
    await this.upstream[Symbol.asyncDispose]();
    await sleep(2000);
    const port = this.upstream.port.toString(16).toUpperCase().padStart(4, '0');
    const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
    // Established, or closed only by the other side.
    return lines.filter((line) => new RegExp(`^ *\\d+: \\S+:\\S+ \\S+:${port} 0[18] `).test(line)).length;
  }

  get #token(): string {
    return this.first.tokenFor(plugins[0] ?? '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const caller of this.#callers.values()) caller[Symbol.dispose]();
    await this.second[Symbol.asyncDispose]();
    await this.#stack.disposeAsync();
  }
}

const callOf = (ident: string): Pick<Plugin, 'ident' | 'name'> => ({ ident, name: 'calls' });

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
