import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { defaultPermissions } from '../../../service/src/plugins/permissions.ts';
import type { PluginKey } from '../../../service/src/plugins/plugin-key.ts';
import type { PluginSource } from '../../../service/src/plugins/records.ts';
import { noDigests, versionDigestOf } from '../../../service/src/storage/tables/digest.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { lockPlugin, lockTenant } from '../../../service/src/storage/db.ts';
import type { Db, Transaction } from '../../../service/src/storage/db.ts';
import { addEnvironment, setEnvironmentToken } from '../../../service/src/storage/tables/environments.ts';
import { addFirstTenant } from '../../../service/src/storage/tables/tenants.ts';
import {
  createDraft,
  lockDraftState,
  overwriteDraft,
  readDraftState,
} from '../../../service/src/storage/tables/drafts.ts';
import { findBuild, saveBuild } from '../../../service/src/storage/tables/builds.ts';
import { packProgram } from '../../../service/src/storage/tables/programs.ts';
import { addVersion } from '../../../service/src/storage/tables/versions.ts';

export const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'x' };
export const otherPlugin = { ...plugin, pluginName: 'y' };
export const sourceOf = (contents: string) => ({ lang: 'javascript', contents });
export const digestOf = (contents: string) =>
  createHash('sha256')
    .update(JSON.stringify(['javascript', contents]))
    .digest('base64url');
export const programOf = (code: string) => ({ kind: 'script', code, file: 'plugin.js' }) as const;

export const packedProgramOf = (db: Db, code: string) => packProgram(db, programOf(code));

/** Makes an environment known, with the tenant that plugins are of here. */
export async function seedTenant({ db }: Storage, environment = plugin.environment) {
  await addEnvironment(db, environment, 0);
  await addFirstTenant(db, { environment, tenant: plugin.tenant }, 0);
}

/** Saves a draft, as the service does it. `etag`: what it has to be for the save to happen. */
export async function save(storage: Storage, contents: string, of = plugin, etag?: string) {
  if (etag === undefined) return saveSource(storage, sourceOf(contents), of);
  const current = await readDraftState(storage.db, of);
  if (current?.etag !== etag) return undefined;
  return overwriteDraft(storage.db, of, sourceOf(contents), { now: 0 }, current);
}

/** Saves a draft whose tenant is there, whatever it was before. */
export async function saveSource(storage: Storage, source: PluginSource, of = plugin, now = 0) {
  return (
    (await overwriteDraft(storage.db, of, source, { now })) ??
    storage.transaction(async (inTransaction) => {
      await lockTenant(inTransaction, of);
      return saveWithin(inTransaction, source, of, now);
    })
  );
}

async function saveWithin(db: Transaction, source: PluginSource, of: PluginKey, now = 0) {
  const saved =
    (await overwriteDraft(db, of, source, { now })) ?? (await createDraft(db, of, source, { now }));
  assert.ok(saved, 'There is no such tenant.');
  return saved;
}

/** Saves a draft with this text and a build of it. */
export const build = (storage: Storage, contents: string, of = plugin) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    await lockTenant(db, of);
    await addEnvironment(db, of.environment, 0);
    await addFirstTenant(db, of, 0);
    await saveWithin(db, sourceOf(contents), of);
    await saveBuild(db, of, {
      program: await packedProgramOf(db, contents),
      digest: digestOf(contents),
      now: 0,
    });
  });

/** Deploys what a text was built to. */
export const deploy = (storage: Storage, contents: string, of = plugin) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    const program = await findBuild(db, of, digestOf(contents));
    const draft = await lockDraftState(db, of);
    assert.ok(program && draft);
    return addVersion(db, of, {
      program: program.hash,
      digest: versionDigestOf(draft.digest, noDigests),
      now: 0,
    });
  });

export const setToken = (storage: Storage, token: string, environment = plugin.environment) =>
  storage.transaction(async (db) => {
    await addEnvironment(db, environment, 0);
    await setEnvironmentToken(db, environment, { holder: 'owner', token }, 0);
  });

/** Rows of editor tokens of a tenant, which nobody has. */
export const manyTokens = (tenantId: number, count: number, actor: string | null = null) =>
  Array.from({ length: count }, () => ({
    token_hash: randomBytes(32),
    tenant_id: tenantId,
    permissions: 'read',
    actor,
    expires_at: 100,
  }));

/** What an editor token of one plugin is, unless something else was asked for. */
export const tokenFor = (scope: PluginKey) => ({ scope, permissions: defaultPermissions });

/** The environment that a run with this token would be of. */
export const environmentOfToken = async ({ runs }: Pick<Storage, 'runs'>, token: string) =>
  (await runs.environmentToken(token, 0))?.environment;

/** A text with all that texts in JavaScript can hold and texts in databases cannot. */
export const oddText = 'NUL \0, high \ud800, low \udc00, pair \u{1f600}, line \u2028, BOM \ufeff, end';

/** A name of a tenant or plugin whose JSON, also compressed, is longer than an index of PostgreSQL takes. */
export const longName = Array.from(
  createHash('shake256', { outputLength: 1900 }).update('name').digest(),
  // Every other one is a control character, which has six in JSON.
  (byte) => String.fromCharCode(byte % 2 ? 1 + (byte % 31) : byte / 2),
)
  .join('')
  .replaceAll(/[.\0]/g, '-');
