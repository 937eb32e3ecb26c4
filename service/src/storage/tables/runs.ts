import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import { selectPluginId } from './names.ts';
import { bytesToUuid, firstBytesAt, timeOfUuid, uuidToBytes } from './uuids.ts';
import { versionName, versionPatch } from './versions.ts';
import type { Db, Transaction } from '../db.ts';
import { packText, unpackText } from '../packed-text.ts';
import type { PackedText } from '../packed-text.ts';
import type { Schema } from '../schema.ts';

/** A call of a run, as far as it is recorded. */
export interface RecordedCall {
  /** The name of the connection; empty where none permits the call. */
  readonly connection: string;
  readonly method: string;
  /** Without query. */
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  /** What the plugin was told; only with payloads. */
  readonly errorMessage?: string;
  /** In ms. */
  readonly took: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** The content types and bodies; only with payloads. A body that is no text is left out. */
  readonly requestType?: string;
  readonly requestBody?: string;
  readonly responseType?: string;
  readonly responseBody?: string;
  /** Whether a body was cut or left out. */
  readonly truncated?: boolean;
  /** A keyed digest of the whole address and the whole body of the request; only with payloads. */
  readonly digest?: string;
}

/** The texts of a run, as far as they are recorded. */
export interface RunDetails {
  /** How long it waited, in ms; only of a run that may make calls. Recorded at every level. */
  readonly waited?: number;
  /** The trace that its request belongs to. Recorded at every level. */
  readonly traceparent?: string;
  readonly calls?: readonly RecordedCall[];
  /** The error's message. */
  readonly message?: string;
  /** A JSON Pointer to the part of the input or output that did not fit. */
  readonly path?: string;
  readonly logs?: readonly string[];
  readonly input?: string;
  readonly output?: string;
  /** Whether one of these was truncated. */
  readonly truncated?: boolean;
}

/** A run to be recorded. */
export interface RunRecord {
  /** The id of its request, a UUIDv7, which holds the time of the request. */
  readonly id: string;
  readonly pluginId: number;
  readonly environment: string;
  readonly tenant: string;
  readonly namespace: string;
  readonly pluginName: string;
  /** Such as `v1.0.0`. */
  readonly version: string;
  /** The error code; `undefined` for a run with an output. */
  readonly code: string | undefined;
  /** Milliseconds. */
  readonly took: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** {@link RunDetails} as JSON; `undefined` for none. */
  readonly details: string | undefined;
}

/** A run to be recorded, with long details as they are stored. */
export interface PackedRun extends RunRecord {
  readonly packed?: PackedText;
}

/** A recorded run. */
export interface StoredRun extends Pick<
  RunRecord,
  'id' | 'version' | 'code' | 'took' | 'inputBytes' | 'outputBytes'
> {
  readonly details: RunDetails;
}

export interface RunFilter {
  readonly version?: string | undefined;
  readonly success?: boolean | undefined;
}

/** The successes, or the failures, of one plugin. Each group has the same limit of records that are kept. */
export interface RunGroup {
  readonly pluginId: number;
  readonly success: boolean;
}

/** The columns of a {@link StoredRun}. */
const storedColumns = [
  'id',
  'patch',
  'error_code',
  'microseconds',
  'input_bytes',
  'output_bytes',
  'details',
  'packed_details',
  'details_bytes',
] as const;
const columns = sql.join(storedColumns.map((name) => sql.ref(name)));
type StoredRow = Pick<Selectable<Schema['runs']>, (typeof storedColumns)[number]>;

/** How many rows are deleted at once: few, so that others do not wait for long. */
const deletedAtOnce = 200;

/** From how many characters on details are compressed. Those of most runs are shorter, and cost nothing. */
const shortestPacked = 4096;

/** Compresses long details. Call it before the transaction that adds the records: others get a turn every millisecond. */
export async function packRuns(db: Db, records: readonly RunRecord[]): Promise<PackedRun[]> {
  const all: PackedRun[] = [];
  let turn = performance.now();
  for (const record of records) {
    const { details = '' } = record;
    if (details.length < shortestPacked) {
      all.push(record);
      continue;
    }
    all.push({ ...record, packed: await packText(db, details, shortestPacked) });
    if (performance.now() - turn < 1) continue;
    await yieldToOthers();
    turn = performance.now();
  }
  return all;
}

/**
 * Adds records in one statement, and returns the ids of those that were added. Records of deleted plugins are left out, and so
 * are those that exist already, for instance because a commit succeeded although its result was lost.
 */
export async function addRuns(db: Db, records: readonly PackedRun[]): Promise<Set<string>> {
  if (!records.length) return new Set();
  const rows = records.map(
    ({ id, pluginId, version, code, took, inputBytes, outputBytes, details, packed }) => ({
      id: id.replaceAll('-', ''),
      plugin_id: pluginId,
      patch: versionPatch(version),
      success: code === undefined ? 1 : 0,
      error_code: code ?? null,
      microseconds: Math.round(took * 1000),
      input_bytes: inputBytes,
      output_bytes: outputBytes,
      details: packed?.text ?? details ?? null,
      // Left out, they are null.
      ...(packed?.packed && {
        packed_details: Buffer.from(packed.packed).toString('hex'),
        details_bytes: packed.bytes,
      }),
    }),
  );
  const given = db.engine.jsonRows(JSON.stringify(rows), {
    id: 'text',
    plugin_id: 'integer',
    patch: 'integer',
    success: 'integer',
    error_code: 'text',
    microseconds: 'integer',
    input_bytes: 'integer',
    output_bytes: 'integer',
    details: 'text',
    packed_details: 'text',
    details_bytes: 'integer',
  });
  const added = await db.query
    .insertInto('runs')
    .columns(['plugin_id', 'success', ...storedColumns])
    .expression(
      sql`select given.plugin_id, success, ${db.engine.fromHex('given.id')}, patch, error_code, microseconds,
          input_bytes, output_bytes, details, ${db.engine.fromHex('packed_details')}, details_bytes
        from ${given} as given
        join plugins on plugins.id = given.plugin_id and plugins.deleted_at is null
        join tenants on tenants.id = plugins.tenant_id and tenants.deleted_at is null
        where true ${db.engine.forKeyShare('plugins')}`,
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .modifyEnd(db.engine.named)
    .execute();
  // Mostly all were added, and the bytes need not be converted.
  if (added.length === records.length) return new Set(records.map(({ id }) => id));
  return new Set(added.map(({ id }) => bytesToUuid(id)));
}

/** Which of these ids have records, those of deleted plugins included. */
export async function storedIds(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (!ids.length) return new Set();
  const stored = await db.query
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', ids.map(uuidToBytes))
    .execute();
  return new Set(stored.map(({ id }) => bytesToUuid(id)));
}

/**
 * Lists the newest runs of a plugin, before the run with the id `before` if that is given. The list ends early with the run whose
 * details make it longer than `maxBytes`; `isCut` says that this left runs out.
 */
export async function listRuns(
  db: Db,
  plugin: PluginKey,
  { version, success }: RunFilter,
  {
    limit,
    before,
    maxBytes,
  }: { readonly limit: number; readonly before?: string | undefined; readonly maxBytes?: number },
): Promise<{ readonly runs: readonly StoredRun[]; readonly isCut: boolean }> {
  const patch = version === undefined ? undefined : versionPatch(version);
  if (version !== undefined && patch === undefined) return { runs: [], isCut: false };
  // Successes and failures are each a range of one index. Reading both in one range would need another index.
  const newestWhere = (isSuccess: boolean) =>
    sql<StoredRow>`select * from (
      select ${db.engine.readsTextsLater ? columns : sql.ref('id')} from runs
      where plugin_id = (${selectPluginId(db, plugin)}) and success = ${isSuccess ? 1 : 0}
      ${patch === undefined ? sql`` : sql`and patch = ${patch}`}
      ${before === undefined ? sql`` : sql`and id < ${uuidToBytes(before)}`}
      order by id desc limit ${limit}) as newest`;
  const newest =
    success === undefined ? sql`${newestWhere(true)} union all ${newestWhere(false)}` : newestWhere(success);
  // Databases know the length of a text without reading it.
  const size = sql`coalesce(details_bytes, octet_length(details), 0)`;
  const sizes = sql`sum(${size}) over (order by id desc) - ${size} as bytes_before, cast(count(*) over () as integer) as counted`;
  const isOnPage = maxBytes === undefined ? sql`true` : sql`bytes_before < ${maxBytes}`;
  const { rows } = await (
    db.engine.readsTextsLater
      ? sql<StoredRow & { counted: number }>`select ${columns}, counted from (
          select ${columns}, ${sizes} from (${newest}) as newest order by id desc limit ${limit}
        ) as sized where ${isOnPage} order by id desc ${db.engine.named}`
      : // Otherwise the texts of all rows would be read that are sorted, and not only of those on the page.
        sql<StoredRow & { counted: number }>`select ${columns}, counted from runs join (
          select id as sized_id, ${sizes} from runs where id in (${newest}) order by id desc limit ${limit}
        ) as sized on sized_id = id where ${isOnPage} order by id desc`
  ).execute(db.query);
  const isCut = rows.length < Math.min(limit, rows[0]?.counted ?? 0);
  return { runs: await Promise.all(rows.map(toStoredRun)), isCut };
}

/** Finds a run of an environment, with its plugin; `undefined` when there is none, or its plugin was deleted. */
export async function findRun(
  db: Db,
  id: string,
  environment: string,
): Promise<{ plugin: PluginKey; run: StoredRun } | undefined> {
  const row = await db.query
    .selectFrom('runs')
    .innerJoin('plugins', 'plugins.id', 'runs.plugin_id')
    .innerJoin('tenants', 'tenants.id', 'plugins.tenant_id')
    .select(storedColumns.map((name) => `runs.${name}` as const))
    .select(['tenants.name as tenant', 'plugins.namespace', 'plugins.name as pluginName'])
    .where('runs.id', '=', uuidToBytes(id))
    .where('tenants.environment', '=', environment)
    .where('plugins.deleted_at', 'is', null)
    .where('tenants.deleted_at', 'is', null)
    .modifyEnd(db.engine.named)
    .executeTakeFirst();
  if (!row) return undefined;
  const { tenant, namespace, pluginName } = row;
  return { plugin: { environment, tenant, namespace, pluginName }, run: await toStoredRun(row) };
}

/** The groups of the newest records, which a node that was killed may have left untrimmed. */
export async function listNewestGroups(db: Db, maxRecords: number): Promise<RunGroup[]> {
  const rows = await db.query
    .selectFrom(
      db.query
        .selectFrom('runs')
        .select(['plugin_id', 'success'])
        .orderBy('id', 'desc')
        .limit(maxRecords)
        .as('newest'),
    )
    .select(['plugin_id', 'success'])
    .distinct()
    .execute();
  return rows.map(({ plugin_id: pluginId, success }) => ({ pluginId, success: success === 1 }));
}

/** Deletes a batch of a group's records, except for the newest `kept`. Resolves with whether it was a whole batch. */
export async function trimRuns(db: Db, { pluginId, success }: RunGroup, kept: number): Promise<boolean> {
  const inGroup = sql`plugin_id = ${pluginId} and success = ${success ? 1 : 0}`;
  // Skips locked rows, because two nodes that delete the same rows in different orders would deadlock. The rows to delete are in the
  // group, too, so that a database that reads more than these to find them reads no others.
  return deleteSome(
    db,
    sql`delete from runs where ${inGroup} and id in (
      select id from runs where ${inGroup}
      and id <= (select id from runs where ${inGroup} order by id desc limit 1 offset ${sql.lit(kept)})
      order by id limit ${sql.lit(deletedAtOnce)} ${db.engine.skipLocked})`,
  );
}

/**
 * Deletes a batch of records from before a time, in ms since the epoch, from the table whose records are deleted row by row.
 * Resolves with whether it was a whole batch.
 */
export async function deleteRunsBefore(db: Db, time: number, from = db.engine.agedRuns): Promise<boolean> {
  const table = sql.table(from);
  return deleteSome(
    db,
    sql`delete from ${table} where id in (
      select id from ${table} where id < ${firstBytesAt(time)}
      order by id limit ${sql.lit(deletedAtOnce)} ${db.engine.skipLocked})`,
  );
}

/**
 * Removes the oldest details of a tenant's runs until those that are left take no more than `allowed` bytes. Call it in a
 * transaction that does nothing else. Resolves with whether there may be more to remove.
 */
export async function dropOldestDetails(
  db: Transaction,
  tenantId: number,
  allowed: number,
  now: number,
): Promise<boolean> {
  const counter = await db.query
    .selectFrom('tenant_records')
    .select('bytes')
    .where('tenant_id', '=', tenantId)
    // Keeps other nodes from doing the same.
    .modifyEnd(db.engine.forUpdate)
    .executeTakeFirst();
  let excess = (counter?.bytes ?? 0) - allowed;
  if (excess <= 0) return false;
  const { rows: oldest } = await sql<{ id: Uint8Array }>`
    with oldest as materialized (
      select (
        select id from runs where plugin_id = plugins.id and details is not null order by id limit 1
      ) as id from plugins where tenant_id = ${tenantId} and deleted_at is null
    ) select id from oldest where id is not null order by id limit 1`.execute(db.query);
  const [first] = oldest;
  if (!first) return false;
  // Only of a part of the time, so that not all of the tenant's runs have to be sorted.
  const time = timeOfUuid(bytesToUuid(first.id));
  const until = firstBytesAt(time + Math.max(1000, (now - time) / 64));
  // Skips locked rows, because what deletes records locks them before it locks the counter.
  const { rows } = await sql<{ id: Uint8Array; size: number }>`
    select id, coalesce(details_bytes, octet_length(details)) as size from runs
    where plugin_id in (select id from plugins where tenant_id = ${tenantId} and deleted_at is null)
      and details is not null and id < ${until}
    order by id limit ${sql.lit(deletedAtOnce)} ${db.engine.skipLocked}`.execute(db.query);
  if (rows.length === 0) return false;
  const end = rows.findIndex(({ size }) => (excess -= size) <= 0);
  const ids = rows.slice(0, end < 0 ? undefined : end + 1).map(({ id }) => id);
  await db.query
    .updateTable('runs')
    .set({ details: null, packed_details: null, details_bytes: null })
    .where('id', 'in', ids)
    .execute();
  return end < 0;
}

async function deleteSome(db: Db, statement: RawBuilder<unknown>): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`${statement} ${db.engine.named}`.execute(db.query);
  return numAffectedRows >= deletedAtOnce;
}

async function toStoredRun(row: StoredRow): Promise<StoredRun> {
  const { details: text, packed_details: packed, details_bytes: bytes } = row;
  return {
    id: bytesToUuid(row.id),
    version: versionName(row.patch),
    code: row.error_code ?? undefined,
    took: row.microseconds / 1000,
    inputBytes: row.input_bytes,
    outputBytes: row.output_bytes,
    details: text === null ? {} : (JSON.parse(await unpackText({ text, packed, bytes })) as RunDetails),
  };
}
