import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { v7 as createUuid } from 'uuid';
import type { PluginKey } from '../../../service/src/plugins/plugin-key.ts';
import type { CompletedRun } from '../../../service/src/runs/to-record.ts';
import { toRecord } from '../../../service/src/runs/to-record.ts';
import { listRuns } from '../../../service/src/storage/tables/runs.ts';
import type { RunRecord } from '../../../service/src/storage/tables/runs.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { build, deploy, plugin } from '../storage/plugins.ts';
import { openForInspection } from '../storage/databases.ts';
import type { Cleanup } from '../storage/databases.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { findNewestVersion } from '../../../service/src/storage/tables/versions.ts';

/** A version of a plugin that is deployed. */
export async function deployed(storage: Storage, of = plugin, code = 'one') {
  await build(storage, code, of);
  await deploy(storage, code, of);
  const version = await findNewestVersion(storage.db, of);
  if (!version) throw new Error('Nothing was deployed.');
  return version;
}

/** A version that no database knows, for runs that are only recorded. */
export const unknownVersion: CompletedRun['version'] = {
  version: 'v1.0.0',
  pluginId: 1,
  hash: '',
  isTyped: false,
  load: () => Promise.reject(new Error('This version has no program.')),
};

let sequence = 0;

/** A run of a version as it ends; by default one that succeeded now. */
export function runOf(
  version: CompletedRun['version'],
  changes: Partial<CompletedRun> = {},
  at = Date.now(),
): CompletedRun {
  return {
    id: createUuid({ msecs: at, seq: sequence++, random: randomBytes(16) }),
    plugin,
    version,
    input: 'input',
    outcome: { result: 'output', logs: [] },
    took: 1.25,
    ...changes,
  };
}

export const failed = (code = 'plugin-error', message = 'It failed.', logs: readonly string[] = []) => ({
  outcome: { error: { code, message }, logs },
});

export const recordOf = (
  version: CompletedRun['version'],
  changes: Partial<CompletedRun> = {},
  at?: number,
): RunRecord => toRecord(runOf(version, changes, at), 'logs');

/** Makes the database refuse records of runs with an input of `bytes` bytes. */
export async function refuseInputsOf(t: Cleanup, address: DatabaseAddress, bytes: number): Promise<void> {
  const db = await openForInspection(t, address);
  if (address.engine === 'sqlite') {
    await sql`create trigger refuse before insert on runs when new.input_bytes = ${sql.lit(bytes)}
      begin select raise(abort, 'refused'); end`.execute(db);
    return;
  }
  await sql`alter table runs add constraint refused check (input_bytes <> ${sql.lit(bytes)})`.execute(db);
}

/** All that is recorded of a plugin, the newest first. */
export const recordedRuns = async ({ db }: Storage, of: PluginKey) =>
  (await listRuns(db, of, {}, { limit: 5000 })).runs;
