import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { DatabaseAddress } from '../../service/src/storage/database-url.ts';
import type { Schema } from '../../service/src/storage/schema.ts';
import { openEngine } from '../../service/src/storage/storage.ts';

/** Digests of deployed versions by plugin and number, as they were seen before. */
export type SeenVersions = Map<string, string>;

/** What is wrong with the service's database, in words; and with versions that are not as they were `seen` before. */
export async function databaseFaults(
  address: DatabaseAddress,
  seen: SeenVersions = new Map(),
): Promise<string[]> {
  const engine = await openEngine(address);
  const { db } = engine;
  try {
    const own = address.engine === 'sqlite' ? await fileFaults(db) : [];
    return [...own, ...(await programFaults(db)), ...(await versionFaults(db, seen))];
  } finally {
    await engine.close();
  }
}

async function fileFaults(db: Kysely<Schema>): Promise<string[]> {
  const { rows: integrity } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db);
  const { rows: references } = await sql<object>`pragma foreign_key_check`.execute(db);
  return [
    ...integrity
      .map((row) => row.integrity_check)
      .filter((one) => one !== 'ok')
      .map((one) => `integrity_check: ${one}`),
    ...references.map((row) => `foreign_key_check: ${JSON.stringify(row)}`),
  ];
}

/** Programs that nothing refers to would fill the database, and nothing would ever remove them. */
async function programFaults(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{
    hash: string;
  }>`select hash from programs where hash not in (select program_hash from builds)
    and hash not in (select program_hash from versions)`.execute(db);
  return rows.map(({ hash }) => `program ${hash}: nothing refers to it`);
}

async function versionFaults(db: Kysely<Schema>, seen: SeenVersions): Promise<string[]> {
  const faults: string[] = [];
  const found = new Set<string>();
  const next = new Map<string, number>();
  const rows = await db
    .selectFrom('versions')
    .innerJoin('programs', 'programs.hash', 'versions.program_hash')
    .innerJoin('plugins', 'plugins.id', 'versions.plugin_id')
    .innerJoin('tenants', 'tenants.id', 'plugins.tenant_id')
    .select([
      'tenants.environment',
      'tenants.name as tenant',
      'plugins.namespace',
      'plugins.name as plugin',
      'patch',
      'record',
      'program',
    ])
    .orderBy('patch')
    .execute();
  for (const { environment, tenant, namespace, plugin, patch, record, program } of rows) {
    const path = `${environment}.${tenant}/${namespace}/${plugin}`;
    const name = `${path} v1.0.${patch}`;
    if (patch !== (next.get(path) ?? 0)) faults.push(`${name}: the versions before it are not consecutive`);
    next.set(path, patch + 1);
    const digest = createHash('sha256')
      .update(JSON.stringify([record, program]))
      .digest('base64url');
    if ((seen.get(name) ?? digest) !== digest) faults.push(`${name}: it changed after it was deployed`);
    seen.set(name, digest);
    found.add(name);
  }
  for (const name of seen.keys()) if (!found.has(name)) faults.push(`${name}: it is gone`);
  return faults;
}
