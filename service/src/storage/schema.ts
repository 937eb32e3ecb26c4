import type { ColumnType, Generated } from 'kysely';

// The tables as the newest migration leaves them. All times are milliseconds since the epoch.

/** A column that no statement changes once its row is there. */
type Fixed<T> = ColumnType<T, T, never>;

/** A column that a new row may leave out, and then is null. */
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;

/** The same for one that is never changed. */
type FixedNullable<T> = ColumnType<T | null, T | null | undefined, never>;

export interface Schema {
  environments: {
    name: Fixed<string>;
    owner_email: string | null;
    created_at: Fixed<number>;
  };
  environment_tokens: {
    /** A UUIDv7: in the order in which they were made, and nobody can guess another's. */
    id: Fixed<string>;
    environment: Fixed<string>;
    holder: Fixed<string>;
    token_hash: Fixed<Uint8Array>;
    created_at: Fixed<number>;
    /** Null for a token that nothing has replaced. */
    ends_at: Nullable<number>;
  };
  /**
   * A tenant that was deleted stays as a row that says so, so that no token makes it anew. One that is created anew is a new
   * row, and starts with nothing while what the old one had is still being erased.
   */
  tenants: {
    id: Generated<number>;
    environment: Fixed<string>;
    name: Fixed<string>;
    description: Nullable<string>;
    suspended: ColumnType<0 | 1, 0 | 1 | undefined, 0 | 1>;
    /** How many plugins it may have; null for what the settings say. */
    most_plugins: Nullable<number>;
    /** How many runs a minute it may have, 0 for any number; null for what the settings say. */
    runs_per_minute: Nullable<number>;
    created_at: Fixed<number>;
    deleted_at: Nullable<number>;
    /** When the last that it had was erased. */
    erased_at: Nullable<number>;
  };
  /** A plugin that was deleted stays as a row with its last version, from which one of that name goes on. */
  plugins: {
    id: Generated<number>;
    tenant_id: Fixed<number>;
    namespace: Fixed<string>;
    name: Fixed<string>;
    created_at: Fixed<number>;
    deleted_at: Nullable<number>;
    erased_at: Nullable<number>;
    /** The last version that it ever had is v1.0.<last_patch>; -1 before the first. */
    last_patch: number;
    /** The version that is live in place of the newest; the three are null where none is pinned. */
    pinned_patch: Nullable<number>;
    pinned_at: Nullable<number>;
    pinned_by: Nullable<string>;
  };
  editor_tokens: {
    token_hash: Fixed<Uint8Array>;
    tenant_id: Fixed<number>;
    /** Null for all of the tenant. */
    namespace: FixedNullable<string>;
    /** Null for all of the namespace. A name and no id, as a plugin that is yet to be made can be opened by a token. */
    plugin_name: FixedNullable<string>;
    /** Separated by commas. */
    permissions: Fixed<string>;
    actor: FixedNullable<string>;
    expires_at: Fixed<number>;
  };
  drafts: {
    plugin_id: Fixed<number>;
    /** JSON, because JSON holds every JavaScript text, U+0000 and lone surrogates included; the text of databases does not. */
    record: string;
    lang: string;
    /** Names the record among all that had the same revision; the two are the entity tag. See `drafts.ts`. */
    tag: string;
    /** Of what a build of it depends on, so that nothing has to read a large draft to know whether it is built. */
    build_digest: string;
    /** Of all that a version of it would be made of; see `digest.ts`. */
    source_digest: string;
    revision: number;
    updated_at: number;
    actor: Nullable<string>;
  };
  /** The last successful build of each draft. */
  builds: {
    plugin_id: Fixed<number>;
    /** Of what was built: language and text. */
    digest: string;
    program_hash: string;
    built_at: number;
    /** Of the schemas that it was made with; empty without. See `digest.ts`. */
    schemas_digest: ColumnType<string, string | undefined, string>;
  };
  /** Version v1.0.<patch> of a plugin: what it runs, and the draft that it was made of. The database refuses to change one. */
  versions: {
    plugin_id: Fixed<number>;
    patch: Fixed<number>;
    record: Fixed<string>;
    lang: Fixed<string>;
    /** Of its source; see `digest.ts`. */
    digest: Fixed<string>;
    program_hash: Fixed<string>;
    /** As that of its build. */
    schemas_digest: ColumnType<string, string | undefined, never>;
    created_at: Fixed<number>;
    actor: FixedNullable<string>;
    message: FixedNullable<string>;
  };
  /** What was said of the namespaces of environments. */
  namespaces: {
    environment: Fixed<string>;
    name: Fixed<string>;
    /** JSON: what was said, as it was said. */
    record: string;
    /** How long that is, in UTF-16 code units, so that a page of a list can be bounded without reading it. */
    record_size: number;
    /** Of its schemas; empty without. See `digest.ts`. */
    schemas_digest: string;
    /** JSON: what the service made of the schemas; null without. */
    compiled: Nullable<string>;
    /** The types in TypeScript; empty without schemas. */
    declarations: string;
    updated_at: number;
  };
  /** Programs are stored once, by the SHA-256 of their JSON in hex: builds and versions of the same text share one. */
  programs: {
    hash: string;
    program: string;
  };
  verification_codes: {
    id: Generated<number>;
    email: string;
    environment: string;
    salt: Uint8Array;
    code_hash: Uint8Array;
    tries: Generated<number>;
    used: Generated<0 | 1>;
    created_at: number;
    expires_at: number;
  };
  /** What all nodes together have taken of a rate in the minute that ends then, and in the one before. */
  rate_counters: {
    key: Fixed<string>;
    quota: number;
    used: number;
    /** What the last lease was given. */
    granted: number;
    ends_at: number;
    previous_used: number;
    previous_ends_at: number;
  };
  /** The records of runs. */
  runs: {
    /** A UUIDv7, as its bytes: they sort by when the run was asked for. */
    id: Fixed<Uint8Array>;
    plugin_id: Fixed<number>;
    /** Of version v1.0.<patch>. */
    patch: Fixed<number>;
    success: Fixed<0 | 1>;
    error_code: Fixed<string | null>;
    /** What the run alone took. */
    microseconds: Fixed<number>;
    input_bytes: Fixed<number>;
    output_bytes: Fixed<number>;
    /** JSON: messages, logs, input and output, as far as records hold them. */
    details: Fixed<string | null>;
  };
  /** What tenants used, by name: it stays when they are deleted. */
  usage_days: {
    environment: Fixed<string>;
    /** By UTC, as `YYYY-MM-DD`. */
    day: Fixed<string>;
    tenant: Fixed<string>;
    runs: number;
    failures: number;
    microseconds: number;
    builds: number;
  };
  /** One row: the number of the last change in `changes`. Its lock makes the order of numbers the order of commits. */
  change_counter: {
    id: number;
    last: number;
  };
  /** What other nodes must read anew, for an hour. */
  changes: {
    id: number;
    kind: string;
    key: string;
    created_at: number;
  };
  /** One row: the oldest program that may use the database, as the number of migrations that it knows. */
  schema_requirements: {
    id: number;
    oldest_program: number;
  };
}
