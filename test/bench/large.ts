import type { DatabaseAddress } from '../../service/src/storage/database-url.ts';
import { databaseUrl } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { ServiceProcess } from '../service/service-process.ts';
import { untilErased } from './deletion.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';
import { busyPlugin, busyTenant, environment, fillDatabase, otherTenant } from './large/data.ts';
import type { Size } from './large/data.ts';
import { timeInTurns } from './turns.ts';

const small: Size = {
  tenants: 50,
  plugins: 100,
  runs: 1000,
  // Full pages, as there are with very many.
  busyTenant: { plugins: 50, runs: 100 },
  busyPlugin: { versions: 100, runs: 700 },
};

const large: Size = {
  tenants: 50_000,
  plugins: 100_000,
  runs: 5_000_000,
  busyTenant: { plugins: 1000, runs: 100_000 },
  busyPlugin: { versions: 1000, runs: 2000 },
};

/** A trial of the bench itself, in seconds: what it measures is worth nothing. */
const trial: Size = {
  ...large,
  tenants: 500,
  plugins: 2000,
  runs: 50_000,
  busyTenant: { plugins: 100, runs: 5000 },
};

const requests = 200;
const warmUp = 20;

/** How much slower a service is with very many customers, on PostgreSQL; and what deleting a large one costs the others. */
export async function measureLarge(): Promise<Figure[]> {
  const size = process.env['BENCH_LARGE_TRIAL'] ? trial : large;
  await using little = await World.create(small);
  await using much = await World.create(size);
  const figures: Figure[] = [];
  const targets = { little: await little.targets(), much: await much.targets() };
  for (const [name, path] of targets.little) {
    const other = targets.much.get(name);
    if (path === undefined || other === undefined) {
      console.log(`  ${name}: not there`);
      continue;
    }
    const times = await timeInTurns(
      { little: () => little.request(path), much: () => much.request(other) },
      requests,
      warmUp,
    );
    const [a, b] = [median(times.much), median(times.little)];
    figures.push({
      name: `${name}, very many against few`,
      value: a / b,
      limit: 2,
      unit: '×',
      note: `${a.toFixed(2)} ms against ${b.toFixed(2)} ms`,
    });
  }
  figures.push(...(await much.measureDeletion()));
  return figures;
}

/** What is asked for: a method, a path and a body. */
interface Target {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** A service on a separate PostgreSQL with so much in it. */
class World implements AsyncDisposable {
  readonly #service: ServiceProcess;
  readonly #address: DatabaseAddress;
  readonly #cleanUp: (() => unknown)[];

  private constructor(service: ServiceProcess, address: DatabaseAddress, cleanUp: (() => unknown)[]) {
    this.#service = service;
    this.#address = address;
    this.#cleanUp = cleanUp;
  }

  static async create(size: Size): Promise<World> {
    console.log(`\nlarge: ${size.tenants} tenants, ${size.plugins} plugins, ${size.runs} records of runs`);
    const cleanUp: (() => unknown)[] = [];
    const database = await createDurableDatabase('postgres');
    cleanUp.push(database.remove);
    const service = await ServiceProcess.start({ after: (work) => cleanUp.push(work) }, database.address);
    cleanUp.push(() => service.kill());
    await fillDatabase(databaseUrl(database.address), size);
    return new World(service, database.address, cleanUp);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#cleanUp.toReversed()) await one();
  }

  async request({ method, path, body }: Target): Promise<unknown> {
    const response = await this.#send({ method, path, ...(body && { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  /** What is measured, by name; `undefined` where the service has no such operation. */
  async targets(): Promise<Map<string, Target | undefined>> {
    const found = new Map<string, Target | undefined>();
    const plugin = `${environment}.${otherTenant}/default/${busyPlugin}`;
    const lists = {
      tenants: `/api/v1/environment/${environment}?limit=50`,
      'plugins of a tenant': `/api/v1/tenant/${environment}.${busyTenant}/plugins?limit=50`,
      versions: `/api/v1/plugin/${plugin}/versions?limit=50`,
      runs: `/api/v1/plugin/${plugin}/runs?limit=50`,
      'runs of a version': `/api/v1/plugin/${plugin}/runs?version=v1.0.1&limit=50`,
      'runs that failed': `/api/v1/plugin/${plugin}/runs?success=false&limit=50`,
      usage: `/api/v1/environment/${environment}/usage?limit=50`,
      functions: `/api/v2/functions/${environment}.${busyTenant}/default?limit=50`,
      'usage of a tenant': `/api/v1/environment/${environment}/usage?tenant=${otherTenant}&limit=50`,
    };
    for (const [name, path] of Object.entries(lists)) {
      const [first, last] = await this.#pages(path);
      found.set(`${name}, first page`, first);
      found.set(`${name}, last page`, last);
    }
    const one = async (name: string, target: Target) =>
      found.set(name, (await this.#isThere(target)) ? target : undefined);
    await one('results of a version', { method: 'GET', path: `/api/v2/results/by-fqmn/${plugin}/v1.0.1` });
    await one('one plugin', { method: 'GET', path: `/api/v1/plugin/${plugin}` });
    await one('one version', { method: 'GET', path: `/api/v1/plugin/${plugin}/versions/v1.0.1` });
    await one('live', { method: 'PUT', path: `/api/v1/plugin/${plugin}/live`, body: { version: 'v1.0.1' } });
    const { runs } = (await this.request({ method: 'GET', path: lists.runs })) as {
      runs: { uuid: string }[];
    };
    await one('one run', { method: 'GET', path: `/api/v1/run/${runs[0]?.uuid}` });
    return found;
  }

  /** Deletes the tenant that has most, while others go on. */
  async measureDeletion(): Promise<Figure[]> {
    const target = { method: 'DELETE', path: `/api/v1/tenant/${environment}.${busyTenant}` };
    const asOthers = [
      {
        method: 'GET',
        path: `/api/v1/plugin/${environment}.${otherTenant}/default/${busyPlugin}/runs?limit=50`,
      },
      { method: 'POST', path: `/exec/${environment}.${otherTenant}/default/${busyPlugin}/v1.0.0` },
    ];
    const erased = new AbortController();
    const others = asOthers.map(async (one) => {
      const usual = median((await timeInTurns({ one: () => this.#ok(one) }, 50, 10)).one);
      let slowest = 0;
      while (!erased.signal.aborted) {
        const began = performance.now();
        await this.#ok(one);
        slowest = Math.max(slowest, performance.now() - began - usual);
      }
      return slowest;
    });
    try {
      const began = performance.now();
      const { status } = await this.#send(target);
      const answered = performance.now() - began;
      if (status !== 204) {
        console.log(`  deleting a tenant was answered with ${status}: not measured`);
        return [];
      }
      await untilErased(this.#address, busyTenant);
      const time = performance.now() - began;
      erased.abort();
      return [
        { name: 'deleting a large tenant: until 204', value: answered, limit: 500, unit: 'ms' },
        { name: 'deleting a large tenant: until it is erased', value: time / 1000, limit: 60, unit: 's' },
        {
          name: 'deleting a large tenant: delay of another tenant',
          value: Math.max(...(await Promise.all(others))),
          limit: 200,
          unit: 'ms',
        },
      ];
    } finally {
      erased.abort();
      await Promise.allSettled(others);
    }
  }

  /** The first and the last page of a list. */
  async #pages(path: string): Promise<[Target | undefined, Target | undefined]> {
    const first = { method: 'GET', path };
    if (!(await this.#isThere(first))) return [undefined, undefined];
    let last = first;
    for (let next: string | undefined = ''; next !== undefined;) {
      last = next === '' ? first : { method: 'GET', path: `${path}&after=${next}` };
      ({ next } = (await this.request(last)) as { next?: string });
    }
    return [first, last];
  }

  /** Whether the service has the operation. */
  async #isThere(target: Target): Promise<boolean> {
    const { status } = await this.#send(target);
    return status !== 404 && status !== 405;
  }

  async #ok(target: Target): Promise<void> {
    const response = await this.#send(target);
    if (!response.ok)
      throw new Error(`${target.path} was answered with ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }

  #send({ method, path, body }: Target): Promise<Response> {
    const { environmentToken } = this.#service;
    const headers = { 'content-type': body ? 'application/json' : 'text/plain' };
    const text = body ? JSON.stringify(body) : method === 'POST' ? 'x' : undefined;
    return this.#service.request(method, path, environmentToken, text, headers);
  }
}
