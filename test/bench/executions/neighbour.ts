import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, median } from '../figures.ts';
import { startLoadProcess } from './load.ts';
import { hello, worst } from './plugins.ts';
import {
  BuildError,
  createDataDirectory,
  environment,
  executionPath,
  otherEnvironment,
  type Plugin,
  ServiceProcess,
} from './service-process.ts';

const rounds = 5;
/** How long each of the two is measured in a round, in seconds. */
const roundSeconds = 3;
const attackers = 40;

/** How long a response takes to an environment that does nothing wrong while a tenant of another does its worst. */
export async function measureNeighbour(): Promise<Figure[]> {
  using data = createDataDirectory();
  using load = startLoadProcess();
  const { contents, input, output } = hello('measured');
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  const attacks: Plugin[] = [];
  {
    await using builder = await ServiceProcess.start(data.path);
    await builder.deploy(plugin);
    for (const attack of worst) {
      const one = { ...attack, ident: `${otherEnvironment}.worst` };
      try {
        await builder.deploy(one);
        attacks.push(one);
      } catch (error) {
        // A plugin that cannot be built is not going to harm anybody.
        if (!(error instanceof BuildError)) throw error;
        console.log(`  ${one.name} cannot be built, and takes no part: ${error.message.split('\n').at(-2)}`);
      }
    }
  }

  const measured: { alone: Latency; attacked: Latency }[] = [];
  const tally = new Tally();
  for (let i = 0; i < rounds; i++) {
    // A new one each time: an attack may take long to be over after the last of its requests.
    await using service = await ServiceProcess.start(data.path);
    const measure = async (seconds: number) =>
      latencyOf(
        await load.send({
          port: service.port,
          token: service.tokenFor(plugin.ident),
          connections: 1,
          requests: [{ path: executionPath(plugin), body: input, expected: output }],
          until: { seconds },
        }),
      );
    await measure(1);
    const alone = await measure(roundSeconds);
    const stopAttack = await startAttack(service, attacks, tally);
    try {
      measured.push({ alone, attacked: await measure(roundSeconds) });
    } finally {
      await stopAttack();
    }
  }
  const figure = (name: string, of: keyof Latency, limit: number): Figure => ({
    name: `beside a tenant that does its worst: ${name}, against alone`,
    value: median(measured.map(({ alone, attacked }) => attacked[of] / alone[of])),
    limit,
    unit: '×',
    note: `${median(measured.map(({ attacked }) => attacked[of])).toFixed(2)} ms against ${median(measured.map(({ alone }) => alone[of])).toFixed(2)} ms; the attack got ${tally.toString()}`,
  });
  return [figure('median', 'median', 3), figure('99th percentile', 'worst', 20)];
}

/** In ms. */
interface Latency {
  median: number;
  /** The 99th percentile. */
  worst: number;
}

function latencyOf({ latencies }: { latencies: Float64Array }): Latency {
  const sorted = latencies.toSorted();
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Infinity;
  return { median: at(0.5), worst: at(0.99) };
}

/** How often each status was answered. */
class Tally {
  readonly #counts = new Map<number, number>();

  add(status: number): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }

  toString(): string {
    return [...this.#counts].map(([status, count]) => `${count} × ${status}`).join(', ') || 'no answer';
  }
}

/** Calls all the bad plugins, many at a time. Resolves with what ends that, once the first answer is there. */
async function startAttack(
  service: ServiceProcess,
  attacks: readonly Plugin[],
  tally: Tally,
): Promise<() => Promise<void>> {
  const abort = new AbortController();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const attack = async (i: number): Promise<void> => {
    for (let turn = i; !abort.signal.aborted; turn++) {
      const plugin = attacks[turn % attacks.length];
      if (!plugin) throw new Error('There is no plugin to attack with.');
      const response = await fetch(`http://127.0.0.1:${service.port}${executionPath(plugin)}`, {
        method: 'POST',
        body: 'x',
        headers: { authorization: `Bearer ${service.tokenFor(plugin.ident)}`, 'content-type': 'text/plain' },
        signal: abort.signal,
      });
      await response.text();
      tally.add(response.status);
      begin();
      // It is a vendor's back end that sends, and does as it is told, whatever the tenant's plugins do.
      const seconds = Number(response.headers.get('retry-after') ?? 0);
      if (seconds) await sleep(seconds * 1000, undefined, { signal: abort.signal });
    }
  };
  const all = Array.from({ length: attackers }, (_, i) =>
    attack(i).catch((error: unknown) => {
      if (!abort.signal.aborted) throw error;
    }),
  );
  await Promise.race([begun, Promise.all(all)]);
  return async () => {
    abort.abort();
    await Promise.all(all);
  };
}
