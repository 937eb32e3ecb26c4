import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../support/connection.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { databaseUrl } from '../service/storage/databases.ts';
import type { EngineName } from '../service/storage/databases.ts';
import { type Example, hello } from './executions/plugins.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
} from './executions/service-process.ts';
import type { Plugin } from './executions/service-process.ts';
import { median, type Figure } from './figures.ts';
import type { Position } from './neighbours/attack.ts';
import { known, variations } from './neighbours/attacks.ts';

/** How long the victim is measured, in seconds. */
const aloneSeconds = 5;
const attackSeconds = 15;
const allSeconds = 30;
/** The heap that Node takes on a machine of 2 GB. */
const heap = 1024;
/** How often the victim sends a request, in ms. */
const callInterval = 50;
/** When a request of the victim counts as failed, in ms. */
const patience = 30_000;

const attacks = { ...known, ...variations };

/** The attacks that can be measured alone, and those once found `all` at once. */
export const neighbourFigures: readonly string[] = [...Object.keys(attacks), 'all'];

/** What another environment's "Hello" waits for, beside each of the attacks and beside all of them at once. */
export async function measureNeighbours(names = neighbourFigures): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of names) {
    const chosen = name === 'all' ? Object.keys(known) : [name];
    const engine = chosen.some((one) => attacks[one]?.engine === 'postgres') ? 'postgres' : 'sqlite';
    const seconds = name === 'all' ? allSeconds : attackSeconds;
    const title = name === 'all' ? 'all at once' : `${name}, ${attacks[name]?.title}`;
    console.log(`\nneighbours:${name} (${engine}): ${title}`);
    const measured = await measureBeside(chosen, engine, seconds);
    console.log(`  ${describe(measured)}`);
    figures.push(...toFigures(name, measured));
  }
  return figures;
}

interface Measured {
  readonly alone: Latencies;
  readonly attacked: Latencies;
  /** Of the main process, in MB. */
  readonly peakMemory: number;
  readonly hasEnded: boolean;
  readonly tally: string;
}

function toFigures(name: string, { alone, attacked, peakMemory, hasEnded }: Measured): Figure[] {
  const times = `${attacked.median.toFixed(1)} ms against ${alone.median.toFixed(1)} ms`;
  return [
    {
      name: `beside ${name}: median ÷ alone`,
      value: attacked.median / alone.median,
      limit: 3,
      unit: '×',
      note: times,
    },
    { name: `beside ${name}: worst`, value: Math.round(attacked.worst), limit: 2000, unit: 'ms' },
    {
      name: `beside ${name}: failures`,
      value: attacked.failed,
      limit: 0,
      unit: `of ${attacked.count}`,
      note: failuresOf(attacked),
    },
    {
      name: `beside ${name}: memory of the main process`,
      value: hasEnded ? Infinity : Math.round(peakMemory),
      limit: 1200,
      unit: 'MB',
      ...(hasEnded && { note: 'the service has ended' }),
    },
  ];
}

const failuresOf = ({ failures }: Latencies) =>
  Object.entries(failures)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ');

const describe = ({ alone, attacked, peakMemory, hasEnded, tally }: Measured) =>
  `median ${alone.median.toFixed(1)} → ${attacked.median.toFixed(1)} ms, worst ${alone.worst.toFixed(0)} → ` +
  `${attacked.worst.toFixed(0)} ms, ${attacked.failed} of ${attacked.count} failed (${failuresOf(attacked)}), ` +
  `${hasEnded ? 'the service has ended' : `${peakMemory.toFixed(0)} MB`}; the attack got ${tally}`;

async function measureBeside(names: string[], engine: EngineName, seconds: number): Promise<Measured> {
  using data = createDataDirectory();
  await using stack = new AsyncDisposableStack();
  const variables: Record<string, string> = {};
  if (engine === 'postgres') {
    const database = await createDurableDatabase(engine);
    stack.defer(database.remove);
    variables['DATABASE_URL'] = databaseUrl(database.address);
  }
  const environmentOf = (name: string) => `com.attacker-${name.toLowerCase()}`;
  const environments = [environment, ...names.map(environmentOf)];
  const service = stack.use(await ServiceProcess.start(data.path, { variables, heap, environments }));
  const example = hello('victim');
  const { contents } = example;
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'victim', lang: 'javascript', contents };
  await service.deploy(plugin);
  const attackers = names.map((name, i) => {
    const position: Position = {
      port: service.port,
      address: `127.0.0.${10 + i}`,
      environment: environmentOf(name),
      environmentToken: service.tokenFor(`${environmentOf(name)}.t1`),
    };
    return stack.use(new AttackerProcess(name, position));
  });
  for (const attacker of attackers) await attacker.prepared;
  const victim = stack.use(new Victim(service, plugin, example));
  await victim.call(2);
  const alone = await victim.call(aloneSeconds);
  resetPeakMemory(service.pid);
  for (const attacker of attackers) attacker.attack();
  const attacked = await victim.call(seconds);
  const { hasEnded } = service;
  const peakMemory = hasEnded ? NaN : peakMemoryOf(service.pid);
  const tallies = await Promise.all(attackers.map((attacker) => attacker.stop()));
  const tally = names.map((name, i) => `${names.length > 1 ? `${name}: ` : ''}${tallies[i]}`).join('; ');
  return { alone, attacked, peakMemory, hasEnded, tally };
}

/** An attack that runs beside this process. */
class AttackerProcess implements Disposable {
  readonly prepared: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(name: string, position: Position) {
    this.#child = fork(new URL('neighbours/attacker-process.ts', import.meta.url), [
      name,
      JSON.stringify(position),
    ]);
    this.#ended = once(this.#child, 'exit').then(() => {
      throw new Error(`The process that attacks with ${name} has ended; what it printed is above.`);
    });
    this.#ended.catch(() => {});
    this.prepared = Promise.race([once(this.#child, 'message'), this.#ended]);
  }

  attack(): void {
    this.#child.send('attack');
  }

  /** Ends it. Resolves with what it got. */
  async stop(): Promise<string> {
    const told = once(this.#child, 'message') as Promise<[Record<string, number>]>;
    this.#child.send('stop');
    const [tally] = await Promise.race([told, this.#ended]);
    return Object.entries(tally)
      .map(([what, count]) => `${count} × ${what}`)
      .join(', ');
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}

/** In ms. */
interface Latencies {
  readonly count: number;
  readonly median: number;
  readonly worst: number;
  readonly failed: number;
  readonly failures: Record<string, number>;
}

/** A back end that runs "Hello" at a steady rate, whatever the answers take, on a few connections. */
class Victim implements Disposable {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #request: { token: string; body: string };
  readonly #output: string;

  constructor(service: ServiceProcess, plugin: Plugin, { input, output }: Example) {
    this.#connection = new Connection(`http://127.0.0.1:${service.port}`, { maxSockets: 16 });
    this.#path = executionPath(plugin);
    this.#request = { token: service.tokenFor(plugin.ident), body: input };
    this.#output = output;
  }

  async call(seconds: number): Promise<Latencies> {
    const times: number[] = [];
    const failures: Record<string, number> = {};
    const call = async (due: number) => {
      const outcome = await this.#run(AbortSignal.timeout(patience));
      times.push(performance.now() - due);
      if (outcome !== this.#output) failures[outcome] = (failures[outcome] ?? 0) + 1;
    };
    const calls: Promise<void>[] = [];
    const start = performance.now();
    for (let due = start; due < start + seconds * 1000; due += callInterval) {
      await sleep(Math.max(0, due - performance.now()));
      calls.push(call(due));
    }
    await Promise.all(calls);
    const failed = Object.values(failures).reduce((sum, one) => sum + one, 0);
    return { count: times.length, median: median(times), worst: Math.max(...times), failed, failures };
  }

  /** The output, or what there was instead. */
  async #run(signal: AbortSignal): Promise<string> {
    try {
      const { status, body } = await this.#connection.send('POST', this.#path, { ...this.#request, signal });
      return status === 200 ? body : `status ${status}`;
    } catch (error) {
      return signal.aborted ? `no answer in ${patience / 1000} s` : (error as Error).message;
    }
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

/** From here on the peak of a process's memory is measured. */
const resetPeakMemory = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** The most memory that a process has had, in MB (10⁶ bytes). */
const peakMemoryOf = (pid: number) =>
  (Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6;
