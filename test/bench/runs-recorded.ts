import { databaseUrl, engines } from '../service/storage/databases.ts';
import type { EngineName } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { startLoadProcess } from './executions/load.ts';
import type { LoadProcess, LoadRequest } from './executions/load.ts';
import { hello } from './executions/plugins.ts';
import { processorTimeOf } from './executions/processes.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  type Plugin,
  ServiceProcess,
} from './executions/service-process.ts';
import { installTools } from './executions/tools.ts';
import { type Figure, median } from './figures.ts';

const rounds = 7;
const roundSeconds = 3;
const warmUpSeconds = 2;
const connections = 16;

/** How many requests per second are left of "Hello" by version when its runs are recorded, on each kind of database. */
export async function measureRunsRecorded(): Promise<Figure[]> {
  await installTools();
  const figures: Figure[] = [];
  for (const engine of engines) {
    console.log(`\nruns-recorded: ${engine}`);
    figures.push(await measureOn(engine));
  }
  return figures;
}

async function measureOn(engine: EngineName): Promise<Figure> {
  using load = startLoadProcess();
  const measured = { recorded: [] as Measured[], unrecorded: [] as Measured[] };
  await using recorded = await startService(engine, 'on');
  await using unrecorded = await startService(engine, 'off');
  for (const one of [recorded, unrecorded]) await one.measure(load, warmUpSeconds);
  for (let i = 0; i < rounds; i++) {
    measured.recorded.push(await recorded.measure(load, roundSeconds));
    measured.unrecorded.push(await unrecorded.measure(load, roundSeconds));
  }
  const ratios = measured.recorded.map(({ rate }, i) => rate / (measured.unrecorded[i]?.rate ?? NaN));
  const describe = (all: Measured[]) =>
    `${median(all.map(({ rate }) => rate)).toFixed(0)}/s with ` +
    `${median(all.map(({ processorTime }) => processorTime)).toFixed(3)} ms of processor time each`;
  return {
    name: `"Hello" by version, recorded against not, ${engine}`,
    value: median(ratios),
    limit: 0.9,
    bound: 'at least',
    unit: '×',
    note:
      `${describe(measured.recorded)} against ${describe(measured.unrecorded)}; ` +
      `from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${rounds} rounds`,
  };
}

interface Measured {
  /** Requests per second. */
  readonly rate: number;
  /** Of the service's processes for each request, in ms. */
  readonly processorTime: number;
}

/** A service on a database of its own with "Hello" deployed. */
async function startService(engine: EngineName, recording: 'on' | 'off') {
  const cleanUp = new AsyncDisposableStack();
  const directory = cleanUp.use(createDataDirectory());
  const database = await createDurableDatabase(engine);
  cleanUp.defer(database.remove);
  const service = cleanUp.use(
    await ServiceProcess.start(directory.path, {
      BENCH_DATABASE_URL: databaseUrl(database.address),
      BENCH_RECORDING: recording,
    }),
  );
  const { contents, input, output } = hello('hello');
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  await service.deploy(plugin);
  const token = service.tokenFor(plugin.ident);
  const requests: LoadRequest[] = [{ path: executionPath(plugin), body: input, expected: output }];
  return {
    async measure(load: LoadProcess, seconds: number): Promise<Measured> {
      const { port, pid } = service;
      const before = processorTimeOf(pid);
      const { rate } = await load.send({ port, token, connections, requests, until: { seconds } });
      return { rate, processorTime: (processorTimeOf(pid) - before) / (rate * seconds) };
    },
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
