import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { v7 as createUuid } from 'uuid';
import type { PluginSource } from '../../plugins/records.ts';
import { buildDigestOf, sourceDigestOf, tagOf } from '../tables/digest.ts';

/**
 * The schema of files from before there were migrations. The first n steps make version n, which is in the file's `user_version`.
 * The first migration applies the remaining steps, and copies the rows into its own tables.
 */
export const formerSteps: readonly string[] = [
  `
  CREATE TABLE environments (
    name TEXT PRIMARY KEY,
    owner_email TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;

  -- One token per environment and holder: a new one takes the old one's place.
  CREATE TABLE environment_tokens (
    environment TEXT NOT NULL REFERENCES environments (name),
    holder TEXT NOT NULL CHECK (holder IN ('owner', 'demo')),
    token_hash BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (environment, holder)
  ) STRICT;

  CREATE TABLE editor_tokens (
    token_hash BLOB PRIMARY KEY,
    environment TEXT NOT NULL REFERENCES environments (name),
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX editor_tokens_by_expiry ON editor_tokens (expires_at);

  -- The record is JSON because JSON holds every JavaScript text, lone surrogates included; SQLite's text does not.
  CREATE TABLE drafts (
    id INTEGER PRIMARY KEY,
    environment TEXT NOT NULL REFERENCES environments (name),
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    record TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (environment, tenant, namespace, plugin)
  ) STRICT;

  CREATE TABLE verification_codes (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL,
    environment TEXT NOT NULL,
    salt BLOB NOT NULL,
    code_hash BLOB NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    used INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX verification_codes_by_email ON verification_codes (email, created_at);
  `,
  `
  -- The last successful build of each draft. The digest is of what was built: language and text.
  CREATE TABLE builds (
    environment TEXT NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    digest TEXT NOT NULL,
    program TEXT NOT NULL,
    built_at INTEGER NOT NULL,
    PRIMARY KEY (environment, tenant, namespace, plugin),
    FOREIGN KEY (environment, tenant, namespace, plugin)
      REFERENCES drafts (environment, tenant, namespace, plugin)
  ) STRICT;

  -- Version v1.0.<patch> of a plugin: what it runs, and the source that this was built from.
  CREATE TABLE versions (
    environment TEXT NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    patch INTEGER NOT NULL,
    record TEXT NOT NULL,
    program TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (environment, tenant, namespace, plugin, patch),
    FOREIGN KEY (environment, tenant, namespace, plugin)
      REFERENCES drafts (environment, tenant, namespace, plugin)
  ) STRICT;
  CREATE TRIGGER versions_stay_as_they_are BEFORE UPDATE ON versions
    BEGIN SELECT RAISE(ABORT, 'a version is never changed'); END;
  CREATE TRIGGER versions_stay BEFORE DELETE ON versions
    BEGIN SELECT RAISE(ABORT, 'a version is never removed'); END;
  `,
  `
  -- Programs are stored once, by the SHA-256 of their JSON in hex: builds and versions of the same text share one.
  CREATE TABLE programs (
    hash TEXT PRIMARY KEY,
    program TEXT NOT NULL
  ) STRICT;
  INSERT OR IGNORE INTO programs SELECT program_hash(program), program FROM builds;
  INSERT OR IGNORE INTO programs SELECT program_hash(program), program FROM versions;

  -- SQLite adds no column that refers to another table and is never null, so both tables are made anew.
  CREATE TABLE new_builds (
    environment TEXT NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    digest TEXT NOT NULL,
    program_hash TEXT NOT NULL REFERENCES programs (hash),
    built_at INTEGER NOT NULL,
    PRIMARY KEY (environment, tenant, namespace, plugin),
    FOREIGN KEY (environment, tenant, namespace, plugin)
      REFERENCES drafts (environment, tenant, namespace, plugin)
  ) STRICT;
  INSERT INTO new_builds
    SELECT environment, tenant, namespace, plugin, digest, program_hash(program), built_at FROM builds;
  DROP TABLE builds;
  ALTER TABLE new_builds RENAME TO builds;

  CREATE TABLE new_versions (
    environment TEXT NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    patch INTEGER NOT NULL,
    record TEXT NOT NULL,
    program_hash TEXT NOT NULL REFERENCES programs (hash),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (environment, tenant, namespace, plugin, patch),
    FOREIGN KEY (environment, tenant, namespace, plugin)
      REFERENCES drafts (environment, tenant, namespace, plugin)
  ) STRICT;
  INSERT INTO new_versions
    SELECT environment, tenant, namespace, plugin, patch, record, program_hash(program), created_at FROM versions;
  DROP TABLE versions;
  ALTER TABLE new_versions RENAME TO versions;
  -- What runs in production must never change under its name; no operation updates a version, so this costs nothing.
  -- Removing one is not forbidden: a plugin that is deleted takes its versions along.
  CREATE TRIGGER versions_stay_as_they_are BEFORE UPDATE ON versions
    BEGIN SELECT RAISE(ABORT, 'a version is never changed'); END;

  -- What of a draft a build depends on, so that nothing has to read a large draft to know whether it is built.
  ALTER TABLE drafts ADD COLUMN digest TEXT NOT NULL DEFAULT '';
  UPDATE drafts SET digest = source_digest(record);

  -- For finding out whether a program is still referred to.
  CREATE INDEX builds_by_program ON builds (program_hash);
  CREATE INDEX versions_by_program ON versions (program_hash);
  `,
];

/** The `user_version` from the first migration on. Older releases refuse a version that they do not know. */
export const migratedVersion = formerSteps.length + 1;

/** The tables that are renamed, because the first migration needs their names. Those that refer to others come first. */
const formerTables = [
  'builds',
  'versions',
  'programs',
  'drafts',
  'editor_tokens',
  'environment_tokens',
  'verification_codes',
  'environments',
] as const;

const formerIndexes = [
  'editor_tokens_by_expiry',
  'verification_codes_by_email',
  'builds_by_program',
  'versions_by_program',
] as const;

/**
 * Brings the tables of an older release to their last version, and renames them. Returns `undefined` when the file has none. Runs
 * in the transaction of the first migration, which calls `copyFormerRows` once it has created its own tables.
 */
export function renameFormerTables(db: DatabaseSync): { copyFormerRows: () => void } | undefined {
  const version = userVersion(db);
  if (version > migratedVersion) {
    throw new Error(
      `its schema is version ${version}, and this program knows versions up to ${migratedVersion}`,
    );
  }
  const isFormer = version > 0 && version < migratedVersion;
  if (isFormer) {
    // SQLite has no SHA-256 of its own.
    db.function('program_hash', { deterministic: true }, (json) =>
      createHash('sha256').update(String(json)).digest('hex'),
    );
    db.function('source_digest', { deterministic: true }, (record) => buildDigestOf(readRecord(record)));
    for (const step of formerSteps.slice(version)) db.exec(step);
    for (const index of formerIndexes) db.exec(`DROP INDEX ${index}`);
    db.exec('DROP TRIGGER versions_stay_as_they_are');
    for (const table of formerTables) db.exec(`ALTER TABLE ${table} RENAME TO former_${table}`);
  }
  db.exec(`PRAGMA user_version = ${migratedVersion}`);
  return isFormer ? { copyFormerRows: () => copyFormerRows(db) } : undefined;
}

function copyFormerRows(db: DatabaseSync): void {
  db.function('new_uuid', () => createUuid());
  db.function('record_lang', { deterministic: true }, (record) => readRecord(record).lang);
  db.function('record_tag', { deterministic: true }, (record) => tagOf(String(record)));
  db.function('version_digest', { deterministic: true }, (record) => sourceDigestOf(readRecord(record)));
  db.exec(copySteps);
  for (const table of formerTables) db.exec(`DROP TABLE former_${table}`);
}

const copySteps = `
  INSERT INTO environments SELECT name, owner_email, created_at FROM former_environments;
  INSERT INTO environment_tokens (id, environment, holder, token_hash, created_at)
    SELECT new_uuid(), environment, holder, token_hash, created_at FROM former_environment_tokens;
  INSERT INTO verification_codes SELECT * FROM former_verification_codes;
  INSERT INTO programs SELECT hash, program FROM former_programs;

  -- A tenant is there from its first draft or token on. When that was is known of drafts alone.
  INSERT INTO tenants (environment, name, created_at)
    SELECT environment, tenant, min(created_at) FROM (
      SELECT environment, tenant, created_at FROM former_drafts
      UNION ALL
      SELECT t.environment, t.tenant, e.created_at FROM former_editor_tokens t
        JOIN former_environments e ON e.name = t.environment
        WHERE NOT EXISTS (
          SELECT 1 FROM former_drafts d WHERE d.environment = t.environment AND d.tenant = t.tenant
        )
    ) GROUP BY environment, tenant ORDER BY 3;
  INSERT INTO editor_tokens (token_hash, tenant_id, namespace, plugin_name, permissions, expires_at)
    SELECT f.token_hash, t.id, f.namespace, f.plugin, 'read,write,deploy', f.expires_at
    FROM former_editor_tokens f JOIN tenants t ON t.environment = f.environment AND t.name = f.tenant;

  -- A plugin keeps the number that its draft had.
  INSERT INTO plugins (id, tenant_id, namespace, name, created_at, last_patch)
    SELECT d.id, t.id, d.namespace, d.plugin, d.created_at, coalesce((
      SELECT max(v.patch) FROM former_versions v WHERE v.environment = d.environment AND v.tenant = d.tenant
        AND v.namespace = d.namespace AND v.plugin = d.plugin
    ), -1)
    FROM former_drafts d JOIN tenants t ON t.environment = d.environment AND t.name = d.tenant;
  INSERT INTO drafts (plugin_id, record, lang, tag, build_digest, source_digest, revision, updated_at)
    SELECT id, record, record_lang(record), record_tag(record), digest, version_digest(record), revision, updated_at
    FROM former_drafts;
  INSERT INTO builds (plugin_id, digest, program_hash, built_at)
    SELECT d.id, b.digest, b.program_hash, b.built_at
    FROM former_builds b JOIN former_drafts d ON d.environment = b.environment AND d.tenant = b.tenant
      AND d.namespace = b.namespace AND d.plugin = b.plugin;
  INSERT INTO versions (plugin_id, patch, record, lang, digest, program_hash, created_at)
    SELECT d.id, v.patch, v.record, record_lang(v.record), version_digest(v.record), v.program_hash, v.created_at
    FROM former_versions v JOIN former_drafts d ON d.environment = v.environment AND d.tenant = v.tenant
      AND d.namespace = v.namespace AND d.plugin = v.plugin;
`;

const readRecord = (record: unknown) => JSON.parse(String(record)) as PluginSource;

const userVersion = (db: DatabaseSync): number =>
  Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
