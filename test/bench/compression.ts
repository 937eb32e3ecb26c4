import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { requireProgram } from '../../service/src/storage/migrations/migrate.ts';
import type { Schema } from '../../service/src/storage/schema.ts';
import { migrateDatabase, openEngine } from '../../service/src/storage/storage.ts';
import { databaseUrl } from '../service/storage/databases.ts';
import type { EngineName } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { startLoadProcess } from './executions/load.ts';
import type { LoadProcess } from './executions/load.ts';
import { hello, order } from './executions/plugins.ts';
import type { Example } from './executions/plugins.ts';
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

const examples: Readonly<Record<string, Example>> = { hello: hello('hello'), order: order() };

/** A plugin as long as this file, whose text is like that of any program. */
const long = `${examples['hello']?.contents}/*${readFileSync(import.meta.filename, 'utf8').replaceAll('*/', '')}*/`;

/** What compressing programs and the recorded inputs and outputs of runs saves, and what it costs a run. */
export async function measureCompression(): Promise<Figure[]> {
  await installTools();
  const figures: Figure[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) figures.push(...(await measureOn(engine)));
  return figures;
}

async function measureOn(engine: EngineName): Promise<Figure[]> {
  using load = startLoadProcess();
  await using packed = await startService(engine, true);
  await using plain = await startService(engine, false);
  const figures: Figure[] = [];
  for (const [name, limit] of [
    ['hello', 1.05],
    ['order', 1.1],
  ] as const) {
    for (const one of [packed, plain]) await one.measure(load, name, 1);
    const measured = await measureInRounds(rounds, {
      packed: () => packed.measure(load, name, roundSeconds),
      plain: () => plain.measure(load, name, roundSeconds),
    });
    figures.push({
      name: `processor time of "${name}", payloads compressed ÷ not, ${engine}`,
      limit,
      unit: '×',
      ...compare(measured.packed, measured.plain, 'processorTime'),
    });
  }
  for (const [what, limit] of [
    ['records', 0.35],
    ['programs', 0.6],
  ] as const) {
    const [ours, theirs] = [await packed.sizes(), await plain.sizes()];
    figures.push({
      name: `bytes of ${what}, compressed ÷ not, ${engine}`,
      value: ours[what] / theirs[what],
      limit,
      unit: '×',
      note: `${ours[what].toFixed(0)} each, against ${theirs[what].toFixed(0)}`,
    });
  }
  return figures;
}

/** A service that records payloads in a database of its own, compressed or not, with the plugins of the examples. */
async function startService(engine: EngineName, isPacked: boolean) {
  const cleanUp = new AsyncDisposableStack();
  const { path } = cleanUp.use(createDataDirectory());
  const database = await createDurableDatabase(engine);
  cleanUp.defer(database.remove);
  await migrateDatabase(database.address);
  const inspected = await openEngine(database.address);
  cleanUp.defer(() => inspected.close());
  const { db } = inspected;
  if (isPacked) await requireProgram(db);
  else await db.updateTable('schema_requirements').set({ oldest_program: 1 }).execute();
  const variables = {
    DATABASE_URL: databaseUrl(database.address),
    RUN_RECORDS: 'payloads',
    TENANT_RECORDS_MB: '1000000',
    RUN_RETENTION: '1000000',
    TOKEN_REQUESTS_PER_MINUTE: '0',
  };
  const service = cleanUp.use(await ServiceProcess.start(path, { variables }));
  const plugins = Object.entries(examples).map(([name, { contents }]): Plugin => ({
    ident: `${environment}.t1`,
    name,
    lang: 'javascript',
    contents,
  }));
  await service.deployAll([
    ...plugins,
    { ident: `${environment}.t1`, name: 'long', lang: 'javascript', contents: long },
  ]);
  return {
    measure: (measuring: LoadProcess, name: keyof typeof examples, seconds: number) => {
      const { input = '', output = '' } = examples[name] ?? {};
      const token = service.tokenFor(`${environment}.t1`);
      const requests = [
        { path: executionPath({ ident: `${environment}.t1`, name }), body: input, expected: output },
      ];
      return measureThroughput(measuring, service, { token, connections: 4, requests, seconds });
    },
    sizes: () => sizesIn(db, engine),
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

/** How many bytes the long columns have for each record of an order, and for each program of more than 1 KB. */
async function sizesIn(
  db: Kysely<Schema>,
  engine: EngineName,
): Promise<{ records: number; programs: number }> {
  // PostgreSQL compresses long texts by itself.
  const size = (column: string) =>
    engine === 'postgres'
      ? sql`coalesce(pg_column_size(${sql.ref(column)}), 0)`
      : sql`coalesce(octet_length(${sql.ref(column)}), 0)`;
  const average = async (table: string, text: string, packed: string, bytes: string) => {
    const { rows } = await sql<{ size: number }>`
      select avg(${size(text)} + ${size(packed)}) as size from ${sql.table(table)}
      where coalesce(${sql.ref(bytes)}, octet_length(${sql.ref(text)})) > 1024`.execute(db);
    return Number(rows[0]?.size);
  };
  return {
    records: await average('runs', 'details', 'packed_details', 'details_bytes'),
    programs: await average('programs', 'program', 'packed', 'bytes'),
  };
}
