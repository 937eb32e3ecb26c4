import type { EngineName } from '../service/storage/databases.ts';
import { startLoadProcess } from './executions/load.ts';
import { startMeasuredService } from './executions/measured-service.ts';
import { compare, measureInRounds } from './executions/throughput.ts';
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
  await using recorded = await startMeasuredService(engine, connections);
  await using unrecorded = await startMeasuredService(engine, connections, { RUN_RETENTION: '0' });
  for (const one of [recorded, unrecorded]) await one.measure(load, warmUpSeconds);
  const measured = await measureInRounds(rounds, {
    recorded: () => recorded.measure(load, roundSeconds),
    unrecorded: () => unrecorded.measure(load, roundSeconds),
  });
  return {
    name: `"Hello" by version, recorded against not, ${engine}`,
    limit: 0.9,
    bound: 'at least',
    unit: '×',
    ...compare(measured.recorded, measured.unrecorded),
  };
}
