import type { ColumnType, Generated } from 'kysely';

// The tables as the newest migration leaves them. All times are milliseconds since the epoch.

type PluginColumns = {
  environment: string;
  tenant: string;
  namespace: string;
  plugin: string;
};

/** A column that no statement changes once its row is there. */
type Fixed<T> = ColumnType<T, T, never>;

export interface Schema {
  environments: {
    name: Fixed<string>;
    owner_email: string | null;
    created_at: Fixed<number>;
  };
  /** The newest token of each holder, which has no end: a new one takes its place. */
  environment_tokens: {
    environment: Fixed<string>;
    holder: Fixed<string>;
    token_hash: Uint8Array;
    created_at: number;
  };
  /** Tokens that were replaced and are still good, until `ends_at`. */
  former_environment_tokens: {
    token_hash: Fixed<Uint8Array>;
    environment: Fixed<string>;
    holder: Fixed<string>;
    created_at: Fixed<number>;
    ends_at: number;
  };
  editor_tokens: PluginColumns & {
    token_hash: Uint8Array;
    expires_at: number;
  };
  drafts: PluginColumns & {
    id: Generated<number>;
    /** JSON, because JSON holds every JavaScript text, U+0000 and lone surrogates included; the text of databases does not. */
    record: string;
    /** Of what a build of it depends on, so that nothing has to read a large draft to know whether it is built. */
    digest: string;
    revision: number;
    created_at: Fixed<number>;
    updated_at: number;
  };
  /** The last successful build of each draft. */
  builds: PluginColumns & {
    /** Of what was built: language and text. */
    digest: string;
    program_hash: string;
    built_at: number;
  };
  /** Version v1.0.<patch> of a plugin: what it runs, and the draft that it was made of. The database refuses to change one. */
  versions: PluginColumns & {
    patch: number;
    record: string;
    program_hash: string;
    created_at: number;
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
