import type { EngineName } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { ServiceProcess } from '../service/service-process.ts';
import { measureCrashes } from '../soak/crashes.ts';
import { measureCompression } from './compression.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';
import { timeInTurns } from './turns.ts';

const measures: Record<string, () => Promise<Figure[]>> = {
  latency: measureLatency,
  compression: measureCompression,
  kill: async () => [...(await measureCrashes('sqlite')), ...(await measureCrashes('postgres'))],
};

/** The names of the figures, each of which can be measured alone. */
export const storageFigures: readonly string[] = Object.keys(measures);

/** Measures what the service's databases cost and keep: all figures, or the ones named. */
export async function measureStorage(names: readonly string[] = storageFigures): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of names) {
    console.log(`\nstorage:${name}`);
    figures.push(...((await measures[name]?.()) ?? []));
  }
  return figures;
}

/** By HTTP over one connection, to a separate process of the service on each database, both on the same disk. */
async function measureLatency(): Promise<Figure[]> {
  const cleanUp: (() => unknown)[] = [];
  try {
    const [sqlite, postgres] = await Promise.all([startOn('sqlite', cleanUp), startOn('postgres', cleanUp)]);
    const figures: Figure[] = [];
    for (const [what, limit] of [
      ['save', 2],
      ['read', 3],
      ['pinned run', 1.1],
    ] as const) {
      const times = await timeInTurns({ sqlite: sqlite[what], postgres: postgres[what] }, 500, 100);
      const [a, b] = [median(times.postgres), median(times.sqlite)];
      figures.push({
        name: `${what} on PostgreSQL, against SQLite`,
        value: a / b,
        limit,
        unit: '×',
        note: `${a.toFixed(2)} ms against ${b.toFixed(2)} ms`,
      });
    }
    return figures;
  } finally {
    for (const one of cleanUp.toReversed()) await one();
  }
}

async function startOn(engine: EngineName, cleanUp: (() => unknown)[]) {
  const database = await createDurableDatabase(engine);
  cleanUp.push(database.remove);
  const service = await ServiceProcess.start({ after: (work) => cleanUp.push(work) }, database.address);
  cleanUp.push(() => service.kill());
  const token = await service.editorToken();
  const text = 'export function run(input) { return input + "!"; }\n';
  await service.build(token, text);
  await service.deploy(token);
  const checked = async (response: Promise<Response>) => {
    const { status, ok } = await response.then(async (one) => (await one.arrayBuffer(), one));
    if (!ok) throw new Error(`A request was answered with ${status}.`);
  };
  return {
    save: (i: number) => checked(service.save(token, { contents: `// ${i}\n`.padEnd(10_000, 'x') })),
    read: () => checked(service.read(token)),
    'pinned run': () => checked(service.run('v1.0.0')),
  };
}
