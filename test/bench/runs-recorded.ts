import { databaseUrl } from '../service/storage/databases.ts';
import type { EngineName } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { startLoadProcess } from './executions/load.ts';
import type { LoadProcess } from './executions/load.ts';
import { hello } from './executions/plugins.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
} from './executions/service-process.ts';
import type { Plugin } from './executions/service-process.ts';
import { compare, measureInRounds, measureThroughput } from './executions/throughput.ts';
import { installTools } from './executions/tools.ts';
import type { Figure } from './figures.ts';

const rounds = 7;
const roundSeconds = 3;
const warmUpSeconds = 2;
const connections = 16;

/** How many requests per second are left of "Hello" by version when its runs are recorded, on each kind of database. */
export async function measureRunsRecorded(): Promise<Figure[]> {
  await installTools();
  const figures: Figure[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) {
    console.log(`\nruns-recorded: ${engine}`);
    figures.push(await measureOn(engine));
  }
  return figures;
}

async function measureOn(engine: EngineName): Promise<Figure> {
  using load = startLoadProcess();
  await using recorded = await startService(engine, {});
  await using unrecorded = await startService(engine, { RUN_RETENTION: '0' });
  for (const one of [recorded, unrecorded]) await one.measure(load, warmUpSeconds);
  const measured = await measureInRounds(rounds, {
    recorded: () => recorded.measure(load, roundSeconds),
    unrecorded: () => unrecorded.measure(load, roundSeconds),
  });
  return {
    name: `"Hello" by version, recorded against not, ${engine}`,
    limit: 0.6,
    bound: 'at least',
    unit: '×',
    ...compare(measured.recorded, measured.unrecorded),
  };
}

/** A service on its own database with "Hello" deployed. */
async function startService(engine: EngineName, variables: Record<string, string>) {
  const cleanUp = new AsyncDisposableStack();
  const directory = cleanUp.use(createDataDirectory());
  const database = await createDurableDatabase(engine);
  cleanUp.defer(database.remove);
  const DATABASE_URL = databaseUrl(database.address);
  const service = cleanUp.use(
    await ServiceProcess.start(directory.path, { variables: { DATABASE_URL, ...variables } }),
  );
  const { contents, input, output } = hello('hello');
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  await service.deploy(plugin);
  const token = service.tokenFor(plugin.ident);
  const requests = [{ path: executionPath(plugin), body: input, expected: output }];
  return {
    measure: (load: LoadProcess, seconds: number) =>
      measureThroughput(load, service, { token, connections, requests, seconds }),
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
