import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { storeBatch } from '../../service/src/runs/recording.ts';
import { toRecord } from '../../service/src/runs/to-record.ts';
import type { Storage } from '../../service/src/storage/storage.ts';
import { databaseWithSchema, openDuring, openForInspection } from '../service/storage/databases.ts';
import type { Cleanup, EngineName } from '../service/storage/databases.ts';
import { plugin } from '../service/storage/plugins.ts';
import { deployed, runOf } from '../service/runs/records.ts';
import { hello, order } from './executions/plugins.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';

/** Inputs and outputs of runs, how many of such runs a batch has, and what a record may cost, compressed against not. */
const { input, output } = order();
const cases = [
  { name: '"Hello"', ...hello('hello'), records: 500, limit: 1.1 },
  { name: '5 KB', input: input.slice(0, 2500), output: output.slice(0, 2500), records: 20, limit: 1.3 },
  { name: 'an order', input, output, records: 10, limit: 1 },
];

/** PostgreSQL compresses long texts by itself, though less. */
const sizeLimits = {
  sqlite: { order: 0.15, program: 0.6 },
  postgres: { order: 0.6, program: 1 },
};

const rounds = 40;

/** A program: this file. */
const program = readFileSync(import.meta.filename, 'utf8');

/** What compression saves of recorded payloads and of programs, and what it costs the thread that answers requests. */
export async function measureCompression(): Promise<Figure[]> {
  return [...(await measureOn('sqlite')), ...(await measureOn('postgres'))];
}

async function measureOn(engine: EngineName): Promise<Figure[]> {
  const cleanUp: (() => unknown)[] = [];
  const t: Cleanup = { after: (work) => cleanUp.push(work) };
  try {
    const packed = await prepare(t, engine, true);
    const plain = await prepare(t, engine, false);
    const figures: Figure[] = [];
    for (const one of cases) {
      const ratios: number[] = [];
      const times = { packed: [] as number[], plain: [] as number[] };
      for (let i = -5; i < rounds; i++) {
        const [ours, theirs] = [await packed.record(one), await plain.record(one)];
        if (i < 0) continue;
        ratios.push(ours / theirs);
        times.packed.push(ours);
        times.plain.push(theirs);
      }
      figures.push({
        name: `recording the payloads of ${one.name}, compressed ÷ not, ${engine}`,
        value: median(ratios),
        limit: one.limit,
        unit: '×',
        note: `${median(times.packed).toFixed(0)} µs of the thread, against ${median(times.plain).toFixed(0)} µs`,
      });
    }
    const [ours, theirs] = [await packed.sizes(), await plain.sizes()];
    for (const [name, what] of [
      ["an order's payloads", 'order'],
      ['a program of 5 KB', 'program'],
    ] as const)
      figures.push({
        name: `bytes that the database has of ${name}, compressed ÷ not, ${engine}`,
        value: ours[what] / theirs[what],
        limit: sizeLimits[engine][what],
        unit: '×',
        note: `${ours[what]}, against ${theirs[what]}`,
      });
    return figures;
  } finally {
    for (const one of cleanUp.toReversed()) await one();
  }
}

/** A database in which texts are compressed, or not, as while an older program may use it. */
async function prepare(t: Cleanup, engine: EngineName, isPacked: boolean) {
  const address = await databaseWithSchema(t, engine);
  // Makes the schema, where that is not there yet.
  await (await openDuring(t, address)).check();
  const db = await openForInspection(t, address);
  if (!isPacked) await db.updateTable('schema_requirements').set({ oldest_program: 1 }).execute();
  const storage = await openDuring(t, address);
  const version = await deployed(storage, plugin, program);
  const length = (column: string) =>
    engine === 'postgres'
      ? sql`coalesce(pg_column_size(${sql.ref(column)}), 0)`
      : sql`coalesce(octet_length(${sql.ref(column)}), 0)`;
  const longest = async (table: string, text: string, short: string): Promise<number> => {
    const { rows } = await sql<{ size: number }>`
      select ${length(text)} + ${length(short)} as size from ${sql.table(table)} order by size desc limit 1`.execute(
      db,
    );
    return Number(rows[0]?.size);
  };
  return {
    record: (one: (typeof cases)[number]) => timeToRecord(storage, version, one),
    sizes: async () => ({
      order: await longest('runs', 'details', 'packed_details'),
      program: await longest('programs', 'program', 'packed'),
    }),
  };
}

/** The processor time of this thread for a record, in µs. */
async function timeToRecord(
  storage: Storage,
  version: Awaited<ReturnType<typeof deployed>>,
  { records: count, ...run }: (typeof cases)[number],
): Promise<number> {
  const outcome = { result: run.output, logs: [] };
  const records = Array.from({ length: count }, () =>
    toRecord(runOf(version, { input: run.input, outcome }), 'payloads'),
  );
  const before = process.threadCpuUsage();
  await storeBatch(storage, { records, usage: [] });
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / count;
}
