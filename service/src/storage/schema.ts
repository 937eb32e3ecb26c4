import type { ColumnType, Generated } from 'kysely';

// The tables as the newest migration leaves them. All times are milliseconds since the epoch.

/** A column that no statement changes once its row is there. */
type Fixed<T> = ColumnType<T, T, never>;

/** A column that a new row may leave out, and then is null. */
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;

/** A column that a new row may leave out, and then is null, and that no statement changes later. */
type FixedNullable<T> = ColumnType<T | null, T | null | undefined, never>;

export interface Schema {
  environments: {
    name: Fixed<string>;
    owner_email: string | null;
    created_at: Fixed<number>;
  };
  environment_tokens: {
    /** A UUIDv7: ids sort by the time at which they were made, and cannot be guessed. */
    id: Fixed<string>;
    environment: Fixed<string>;
    holder: Fixed<string>;
    token_hash: Fixed<Uint8Array>;
    created_at: Fixed<number>;
    /** Null for a token that nothing has replaced. */
    ends_at: Nullable<number>;
    /** What it permits, separated by commas; null for everything. */
    scopes: FixedNullable<string>;
  };
  /**
   * A deleted tenant stays as a row with `deleted_at`, so that making a token for it does not create it again. A tenant that is
   * created again is a new row, which has no data while that of the old one is still being erased.
   */
  tenants: {
    id: Generated<number>;
    environment: Fixed<string>;
    name: Fixed<string>;
    description: Nullable<string>;
    suspended: ColumnType<0 | 1, 0 | 1 | undefined, 0 | 1>;
    /** How many plugins it may have; null for the limit of the settings. */
    most_plugins: Nullable<number>;
    /** How many runs a minute it may have, 0 for any number; null for the limit of the settings. */
    runs_per_minute: Nullable<number>;
    /** These, too, are null for what the settings say. */
    storage_mb: Nullable<number>;
    calls_per_minute: Nullable<number>;
    run_timeout_ms: Nullable<number>;
    run_memory_mb: Nullable<number>;
    record_level: Nullable<string>;
    /** The actor who created or changed it last. */
    changed_by: Nullable<string>;
    created_at: Fixed<number>;
    deleted_at: Nullable<number>;
    /** When its last rows in other tables were erased. */
    erased_at: Nullable<number>;
  };
  /** A deleted plugin stays as a row, for `last_patch`: the versions of a new plugin of its name are numbered on from it. */
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
    /** The version that is live instead of the newest; the three are null where none is pinned. */
    pinned_patch: Nullable<number>;
    pinned_at: Nullable<number>;
    pinned_by: Nullable<string>;
  };
  /** The last rollout of each plugin that had one. */
  rollouts: {
    plugin_id: Fixed<number>;
    /** Counts the rollouts of the plugin. */
    number: number;
    /** The version that some of the runs get. */
    patch: number;
    /** The version that the others get: the pin that it began with. It has ended where the pin is another one. */
    live_patch: number;
    pinned_at: number;
    percent: number;
    /** JSON: when it ends by itself; null for never. */
    stop: Nullable<string>;
    started_at: number;
    actor: Nullable<string>;
    ended_at: Nullable<number>;
    end_reason: Nullable<string>;
  };
  /** How many runs of each side of a rollout there were. */
  rollout_counts: {
    plugin_id: Fixed<number>;
    number: Fixed<number>;
    /** 1 for the version that is rolled out, 0 for the live one. */
    is_candidate: Fixed<0 | 1>;
    runs: number;
    failures: number;
  };
  editor_tokens: {
    token_hash: Fixed<Uint8Array>;
    tenant_id: Fixed<number>;
    /** Null for all of the tenant. */
    namespace: FixedNullable<string>;
    /** Null for all of the namespace. A name and no id, because a token can be for a plugin that does not exist yet. */
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
    /** Distinguishes records that have the same revision; the two make the entity tag. See `drafts.ts`. */
    tag: string;
    /** The digest of what a build of it depends on, so that a large draft need not be read to know whether it is built. */
    build_digest: string;
    /** The digest of all that a version of it would be made of, without the schemas; see `digest.ts`. */
    source_digest: string;
    revision: number;
    updated_at: number;
    actor: Nullable<string>;
  };
  /** The last successful build of each draft. */
  builds: {
    plugin_id: Fixed<number>;
    /** The digest of what was built: language and text. */
    digest: string;
    program_hash: string;
    built_at: number;
    /** The digest of the schemas that it was made with; empty without schemas. See `digest.ts`. */
    schemas_digest: ColumnType<string, string | undefined, string>;
    /** The digest of the libraries that its namespace had; empty without libraries. See `digest.ts`. */
    libraries_digest: ColumnType<string, string | undefined, string>;
  };
  /** Version v1.0.<patch> of a plugin: what it runs, and the draft that it was made of. The database refuses to change one. */
  versions: {
    plugin_id: Fixed<number>;
    patch: Fixed<number>;
    record: Fixed<string>;
    lang: Fixed<string>;
    /** The digest of its source and schemas; see `digest.ts`. */
    digest: Fixed<string>;
    program_hash: Fixed<string>;
    /** The digest of the schemas that its build used; empty without schemas. */
    schemas_digest: ColumnType<string, string | undefined, never>;
    /** The digest of the libraries that its namespace had at its build; empty without libraries. */
    libraries_digest: ColumnType<string, string | undefined, never>;
    created_at: Fixed<number>;
    actor: FixedNullable<string>;
    message: FixedNullable<string>;
  };
  /** The types of namespaces, with samples and templates, as vendors set them. */
  namespaces: {
    environment: Fixed<string>;
    name: Fixed<string>;
    /** JSON: the record as the vendor set it. */
    record: string;
    /** The length of `record` in UTF-16 code units. The release before bounds the pages of lists by it. */
    record_size: number;
    /** The digest of its schemas; empty without schemas. See `digest.ts`. */
    schemas_digest: string;
    /** JSON: the checks that the schemas were compiled to; null without schemas. */
    compiled: Nullable<string>;
    /** The types in TypeScript; empty without schemas. */
    declarations: string;
    /** JSON: the versions of its libraries, by their names; null without libraries. It is no part of `record`. */
    libraries: Nullable<string>;
    /** The digest of its libraries; empty without libraries. See `digest.ts`. */
    libraries_digest: ColumnType<string, string | undefined, string>;
    updated_at: number;
  };
  /** ES modules that vendors publish for plugins. A deleted one stays as a row, so that it can only come back as it was. */
  libraries: {
    environment: Fixed<string>;
    name: Fixed<string>;
    version: Fixed<string>;
    /** The digest of all that was published; see `digest.ts`. */
    digest: Fixed<string>;
    /** JSON: the source; null once it is deleted. */
    contents: string | null;
    /** JSON: what it exports, its declarations in TypeScript, and its description; null once it is deleted. */
    details: string | null;
    /** Of the source, in UTF-8. */
    bytes: Fixed<number>;
    created_at: number;
    deleted_at: Nullable<number>;
  };
  /** Encrypted values for connections, and the origins that tenants have for those with a wildcard. */
  connection_values: {
    environment: Fixed<string>;
    /** 0 for the value of the environment, which tenants without one have. */
    tenant_id: Fixed<number>;
    namespace: Fixed<string>;
    connection: Fixed<string>;
    /** Encrypted: see `outbound/secrets.ts`. */
    sealed: Nullable<string>;
    origin: Nullable<string>;
    updated_at: number;
  };
  /** The keys that sign the identities of plugins. Each signs until the next one does. */
  identity_keys: {
    /** The `kid` of its tokens. */
    id: Fixed<string>;
    /** A JSON Web Key. */
    public_key: Fixed<string>;
    /** The private key, encrypted: see `outbound/secrets.ts`. */
    sealed: string;
    signs_from: Fixed<number>;
  };
  /** Programs are stored once, by the SHA-256 of their JSON in hex: builds and versions of the same text share one. */
  programs: {
    hash: string;
    /** Empty where `packed` has it. */
    program: string;
    /** As `bytes`, see `packed-text.ts`. */
    packed: FixedNullable<Uint8Array>;
    bytes: FixedNullable<number>;
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
  /** How much of a rate all nodes together have used in the minute that ends at `ends_at`, and in the one before. */
  rate_counters: {
    key: Fixed<string>;
    quota: number;
    used: number;
    /** How much the last lease granted. */
    granted: number;
    ends_at: number;
    previous_used: number;
    previous_ends_at: number;
  };
  /** The records of runs. On PostgreSQL they are in partitions: see `postgres/run-days.ts`. */
  runs: {
    /** A UUIDv7, as its bytes: they sort by when the run was requested. */
    id: Fixed<Uint8Array>;
    plugin_id: Fixed<number>;
    /** The number of the version that ran, v1.0.<patch>. */
    patch: Fixed<number>;
    success: Fixed<0 | 1>;
    error_code: Fixed<string | null>;
    /** How long the run took, without waiting. */
    microseconds: Fixed<number>;
    input_bytes: Fixed<number>;
    output_bytes: Fixed<number>;
    /** JSON: messages, logs, input and output, as far as records hold them. Empty where `packed_details` has it. */
    details: string | null;
    /** As `details_bytes`, see `packed-text.ts`. */
    packed_details: Uint8Array | null;
    details_bytes: number | null;
  };
  /** What drafts, versions and programs of a tenant take, in bytes of UTF-8. Triggers count it: see `0005-tenant-storage.ts`. */
  tenant_storage: {
    tenant_id: Fixed<number>;
    bytes: number;
    /** 1 for a tenant that has been above its quota since before there were quotas, and is therefore not refused yet. */
    is_exempt: ColumnType<0 | 1, 0 | 1 | undefined, 0 | 1>;
  };
  /** What the details in the records of a tenant's runs take, in bytes of UTF-8; counted as `tenant_storage`. */
  tenant_records: {
    tenant_id: Fixed<number>;
    bytes: number;
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
  /** What plugins used, by name. */
  usage_plugin_days: {
    environment: Fixed<string>;
    /** By UTC, as `YYYY-MM-DD`. */
    day: Fixed<string>;
    tenant: Fixed<string>;
    namespace: Fixed<string>;
    name: Fixed<string>;
    runs: number;
    failures: number;
    microseconds: number;
    builds: number;
  };
  /** The audit log: who changed what, and who read what. Names, because entries stay when what they name is deleted. */
  audit_entries: {
    /** A UUIDv7, as its bytes: they sort by the time of the entry. */
    id: Fixed<Uint8Array>;
    environment: Fixed<string>;
    action: Fixed<string>;
    /** The kind of token, `operator` or `service`. */
    kind: Fixed<string>;
    via: FixedNullable<string>;
    holder: FixedNullable<string>;
    actor: FixedNullable<string>;
    tenant: FixedNullable<string>;
    namespace: FixedNullable<string>;
    name: FixedNullable<string>;
    version: FixedNullable<string>;
    /** JSON. */
    details: FixedNullable<string>;
    request_id: Fixed<string>;
    /** Of an entry that there is one of in an hour: a digest of what distinguishes it. */
    hour_key: FixedNullable<string>;
    /** About how many bytes the entry takes. */
    size: Fixed<number>;
  };
  /** About how many bytes the entries of an environment take, up to those that `audit_progress` names. */
  audit_sizes: {
    environment: Fixed<string>;
    bytes: number;
  };
  /** One row: the id of the last audit entry that `audit_sizes` counts. */
  audit_progress: {
    id: number;
    counted_to: Uint8Array;
  };
  /** Where a vendor wants to be told of events. */
  webhooks: {
    /** A UUIDv7, as its bytes. */
    id: Fixed<Uint8Array>;
    environment: Fixed<string>;
    url: string;
    /** Separated by commas. */
    events: string;
    description: Nullable<string>;
    is_enabled: 0 | 1;
    disabled_reason: Nullable<string>;
    /** Since when every try has failed; null after a success. */
    failing_since: Nullable<number>;
    /** Encrypted: see `outbound/secrets.ts`. */
    sealed_secret: string;
    /** The secret before it, which signs, too, until `former_ends_at`. */
    former_secret: Nullable<string>;
    former_ends_at: Nullable<number>;
    created_at: Fixed<number>;
  };
  /** The events that webhooks are told, in the order in which they were written: both the outbox and the list of deliveries. */
  webhook_deliveries: {
    position: Generated<number>;
    message_id: Fixed<string>;
    webhook_id: Fixed<Uint8Array>;
    type: Fixed<string>;
    /** What the event is about, such as a plugin. The first tries of what is about the same keep their order. */
    subject: Fixed<string>;
    body: Fixed<string>;
    created_at: Fixed<number>;
    status: 'pending' | 'delivered' | 'failed';
    /** How often it was tried since it was made, or sent again. */
    tries: number;
    /** JSON: all tries. */
    attempts: string;
    /** When it is tried next. While a node sends it, when another one may: a node that is killed sends nothing more. */
    next_at: Nullable<number>;
    /** After which time it is not tried again. */
    give_up_at: number;
  };
  /** How many runs of a plugin ended in a slot of ten seconds, for a few minutes. */
  plugin_run_counts: {
    plugin_id: Fixed<number>;
    slot: Fixed<number>;
    runs: number;
    failures: number;
  };
  /** Whether vendors were told that a plugin is failing. */
  plugin_health: {
    plugin_id: Fixed<number>;
    is_failing: 0 | 1;
  };
  /** The replay that a tenant has, until `ends_at` unless its node prolongs it: a node that is killed ends none. */
  replays: {
    tenant_id: Fixed<number>;
    /** A random id. */
    lease: string;
    ends_at: number;
  };
  /** One row: the number of the last change in `changes`. Its lock makes the order of numbers the order of commits. */
  change_counter: {
    id: number;
    last: number;
  };
  /** The changes for which other nodes drop cached entries; kept for an hour. */
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
