import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/**
 * How files were made before there were migrations for two databases: version n, which the file says in its `user_version`,
 * is what the first n steps make. The first migration makes on SQLite what the last of these steps leaves.
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

/** What `user_version` is from the first migration on: a program from before refuses a version that it does not know. */
export const migratedVersion = formerSteps.length + 1;

/** Brings the tables of an older program to the last of its versions. False when the file has none. Runs in a transaction. */
export function adoptFormerSchema(db: DatabaseSync): boolean {
  const version = userVersion(db);
  if (version > migratedVersion) {
    throw new Error(
      `its schema is version ${version}, and this program knows versions up to ${migratedVersion}`,
    );
  }
  if (version > 0 && version < migratedVersion) {
    // For the step that takes programs out of builds and versions; SQLite has no SHA-256 of its own.
    db.function('program_hash', { deterministic: true }, (json) =>
      createHash('sha256').update(String(json)).digest('hex'),
    );
    db.function('source_digest', { deterministic: true }, (record) => {
      const { lang, contents } = JSON.parse(String(record)) as Record<string, unknown>;
      return createHash('sha256')
        .update(JSON.stringify([lang, contents]))
        .digest('base64url');
    });
    for (const step of formerSteps.slice(version)) db.exec(step);
  }
  db.exec(`PRAGMA user_version = ${migratedVersion}`);
  return version > 0 && version < migratedVersion;
}

const userVersion = (db: DatabaseSync): number =>
  Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
