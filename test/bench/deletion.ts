import { openEngine, openStorage } from '../../service/src/storage/storage.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import type { EngineName } from '../service/storage/databases.ts';
import { build, deploy, plugin } from '../service/storage/plugins.ts';
import { recordOf } from '../service/runs/records.ts';
import { ServiceProcess } from '../service/service-process.ts';
import { until } from '../support/until.ts';
import type { Figure } from './figures.ts';
import { findNewestVersion } from '../../service/src/storage/tables/versions.ts';
import { addRuns, packRuns } from '../../service/src/storage/tables/runs.ts';

const manyPlugins = 1000;
/** Records of runs of each, and what they hold. */
const runsOfEach = 100;
const logged = { outcome: { result: 'output', logs: ['some text that it logs'] } };

/**
 * Deletes a tenant with many plugins and records of their runs on each database, while another tenant saves, reads and runs as
 * fast as it can.
 */
export async function measureDeletion(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) figures.push(...(await measureOn(engine)));
  return figures;
}

async function measureOn(engine: EngineName): Promise<Figure[]> {
  const cleanUp: (() => unknown)[] = [];
  try {
    const database = await createDurableDatabase(engine);
    cleanUp.push(database.remove);
    await fill(database.address);
    const service = await ServiceProcess.start({ after: (work) => cleanUp.push(work) }, database.address);
    cleanUp.push(() => service.kill());
    const { environmentToken } = service;
    const token = await service.editorToken();
    await service.build(token, 'export function run(input) { return input; }');
    await service.deploy(token);
    const neighbour = startNeighbour(service, token);
    await neighbour.warmUp;
    const began = performance.now();
    const { status } = await service.request('DELETE', '/api/v1/tenant/com.acme.leaving', environmentToken);
    const answered = performance.now() - began;
    if (status !== 204) throw new Error(`The deletion was answered with ${status}.`);
    await untilErased(database.address, 'leaving');
    const erased = (performance.now() - began) / 1000;
    const slowest = await neighbour.stop();
    const note = `${manyPlugins} plugins with ${manyPlugins * runsOfEach} records of runs`;
    return [
      { name: `${engine}: deleting a tenant is answered`, value: answered, limit: 500, unit: 'ms', note },
      { name: `${engine}: a deleted tenant is erased`, value: erased, limit: 60, unit: 's', note },
      {
        name: `${engine}: slowest request of another tenant meanwhile`,
        value: slowest,
        limit: 200,
        unit: 'ms',
        note,
      },
    ];
  } finally {
    for (const one of cleanUp.toReversed()) await one();
  }
}

type Address = Parameters<typeof openStorage>[0];

/**
 * Makes the tenant that is to be deleted: each plugin with a draft, a build, two versions with different programs, and
 * records of runs.
 */
async function fill(address: Address): Promise<void> {
  const storage = await openStorage(address);
  for (let i = 0; i < manyPlugins; i++) {
    const one = { ...plugin, tenant: 'leaving', pluginName: `plugin-${i}` };
    for (const version of ['a', 'b']) {
      const contents = `// ${i} ${version}\n`.padEnd(10_000, 'x');
      await build(storage, contents, one);
      await deploy(storage, contents, one);
    }
    const version = await findNewestVersion(storage.db, one);
    if (!version) throw new Error('The version that was deployed is not there.');
    const records = Array.from({ length: runsOfEach }, () => recordOf(version, { plugin: one, ...logged }));
    const added = await addRuns(storage.db, await packRuns(storage.db, records));
    if (added.size !== runsOfEach) throw new Error(`Only ${added.size} runs were recorded.`);
  }
  await storage.close();
}

/** Saves, reads and runs in turns; `stop` says how long the slowest took, in ms. */
function startNeighbour(service: ServiceProcess, token: string) {
  const stopped = new AbortController();
  const { promise: warmUp, resolve: endWarmUp } = Promise.withResolvers<void>();
  const work = (i: number) => {
    if (i % 3 === 0) return service.read(token);
    return i % 3 === 1 ? service.save(token, { contents: `// ${i}` }) : service.run();
  };
  const running = (async () => {
    let slowest = 0;
    for (let i = 0; !stopped.signal.aborted; i++) {
      const began = performance.now();
      const response = await work(i);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`The neighbour was answered with ${response.status}.`);
      // The first requests pay for connections and for the compiler of JavaScript.
      if (i >= 200) slowest = Math.max(slowest, performance.now() - began);
      if (i === 200) endWarmUp();
    }
    return slowest;
  })();
  return { warmUp, stop: () => (stopped.abort(), running) };
}

/** Waits until nothing is left of a deleted tenant. */
export async function untilErased(address: Address, tenant: string): Promise<void> {
  const engine = await openEngine(address);
  try {
    await until('the tenant is erased', async () => {
      const row = await engine.db
        .selectFrom('tenants')
        .select('erased_at')
        .where('name', '=', tenant)
        .executeTakeFirst();
      return row?.erased_at != null;
    });
  } finally {
    await engine.close();
  }
}
