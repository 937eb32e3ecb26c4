import type * as z from 'zod';
import { recordLevels } from '../plugins/record-level.ts';
import type { DatabaseAddress } from '../storage/database-url.ts';
import {
  addressRanges,
  exactOrigins,
  hostList,
  listenHost,
  mailSender,
  onOrOff,
  oneOf,
  originList,
  port,
  processCount,
  publicUrl,
  secretKeys,
  smtpUrl,
  text,
  wholeNumber,
} from './setting-kinds.ts';

/** A setting, which programs pass by its name in {@link settings}, and operators by a variable. */
export interface Setting<T> {
  readonly variable: string;
  /** Whether the value must not be in any message. */
  readonly isSecret: boolean;
  /** Where the variable is missing or empty. */
  readonly fallback: T;
  /** Parses the variable's text. `expected` completes "it must be". */
  readonly parse: (text: string) => { readonly value: T } | { readonly expected: string };
}

function setting<T>(variable: string, kind: z.ZodType<T, string>, fallback: NoInfer<T>): Setting<T>;
function setting<T>(variable: string, kind: z.ZodType<T, string>): Setting<T | undefined>;
function setting<T>(
  variable: string,
  kind: z.ZodType<T, string>,
  fallback?: NoInfer<T>,
): Setting<T | undefined> {
  const parse = (given: string) => {
    const { data, error } = kind.safeParse(given);
    return error ? { expected: error.issues[0]?.message ?? '' } : { value: data };
  };
  return { variable, isSecret: false, fallback, parse };
}

const secret = <T>(variable: string, kind: z.ZodType<T, string>): Setting<T | undefined> => ({
  ...setting(variable, kind),
  isSecret: true,
});

/** The highest limit by the minute, which no service reaches. */
const maxPerMinute = 10 ** 9;

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** More than the cores of a large machine need. */
export const maxProcesses = 32;

/** What a process needs at least for runs that wait: a place for the quarter that a tenant has, and room for some states. */
export const leastWaiting = { runs: 4, mb: 8 } as const;

const perMinute = wholeNumber(0, maxPerMinute, 'a number a minute, 0 for no limit');

/**
 * Every setting: the variable, the kind of its value and its default. Each variable can also be set as `NAME_FILE`. The type
 * `Settings`, `readSettings` and, from the comments, the table in docs/service/settings.md follow from this.
 */
export const settings = {
  /**
   * Where to listen: an address or a name. A proxy on another machine needs one that it can reach, such as `0.0.0.0`. Anything
   * but loopback also needs `PUBLIC_URL`. @default loopback
   */
  serviceHost: setting('SERVICE_HOST', listenHost),
  /** The port to listen on; `0` for any free port. */
  servicePort: setting('SERVICE_PORT', port, 8082),
  /** The origin by which users reach the service. Requests with another `Host` are refused with 421. */
  publicUrl: setting('PUBLIC_URL', publicUrl),
  /** Other values of the header `Host` that the service accepts, separated by spaces or commas. */
  allowedHosts: setting<readonly string[]>('ALLOWED_HOSTS', hostList, []),
  /** The folder for the SQLite database, and for mail where `SMTP_URL` is not set. It is relative to the working directory. */
  dataDirectory: setting('DATA_DIR', text, '.data'),
  /**
   * `sqlite:<path>` or `postgres://user:password@host:5432/database` (PostgreSQL 14 or later, encoding UTF8). Any
   * number of nodes may share one PostgreSQL. [Storage](storage.md#make-a-postgresql-database) says how to make it, and how to
   * connect by TLS. @default SQLite in `DATA_DIR`
   */
  database: secret('DATABASE_URL', text),
  /** With `off` the service does not migrate the schema when it starts. It answers requests with 503 until `migrate` has done so. */
  autoMigrate: setting('AUTO_MIGRATE', onOrOff, true),
  /**
   * How many processes answer requests on a node with PostgreSQL, at one port: `auto` is one for two cores. Limits of a node
   * hold for all of them together. With SQLite the service does not start with more than one.
   * [Capacity](capacity.md#more-than-one-process) says when several help.
   * @remarks Only the command starts several. `startService` throws where this is a number above 1, and takes `auto` as 1.
   */
  processes: setting<number | 'auto'>('PROCESSES', processCount(maxProcesses), 1),
  /**
   * The origins whose pages may frame the editor, separated by spaces or commas. @default none with `PUBLIC_URL`, else
   * loopback
   * @remarks They are read at every request, so that a program can add an origin once it knows its port.
   */
  editorAncestors: setting('EDITOR_ANCESTORS', originList),
  /** With `off` the editor takes no token from its address. */
  editorAddressTokens: setting('EDITOR_ADDRESS_TOKENS', onOrOff, true),
  /** Addresses of your proxies. The client is the rightmost address of `X-Forwarded-For` that is none of them. */
  trustedProxies: setting<readonly string[]>('TRUSTED_PROXIES', addressRanges, []),
  /** How long an editor token lives, in seconds. */
  editorTokenTtl: setting('EDITOR_TOKEN_TTL', wholeNumber(1, 10 ** 9, 'a time in seconds'), 900),
  /** How long one run may take. */
  runTimeoutMs: setting('RUN_TIMEOUT_MS', wholeNumber(10, 60_000, 'a time in milliseconds'), 1000),
  /** How much memory one run may use. */
  runMemoryMb: setting('RUN_MEMORY_MB', wholeNumber(8, 256, 'a size in MiB'), 32),
  /**
   * How many processes of a node may run plugins in Python, at least one for each of `PROCESSES`. Each takes about 300 MB while there
   * are such runs. @default `1`, or one for each of `PROCESSES`
   */
  pythonRunners: setting('PYTHON_RUNNERS', wholeNumber(1, 64, 'a number of processes')),
  /** How much memory one run in Python may use, in addition to the interpreter's own. */
  pythonMemoryMb: setting('PYTHON_MEMORY_MB', wholeNumber(8, 512, 'a size in MiB'), 64),
  /** How many plugins a tenant may have; `0` for none. */
  tenantPlugins: setting('TENANT_PLUGINS', wholeNumber(0, 10 ** 9, 'a number of plugins'), 1000),
  /**
   * How much the drafts, versions and programs of a tenant may take, in MiB of UTF-8. Past it, the service refuses requests that would
   * add to it with 403 `storage-full`.
   */
  tenantStorageMb: setting('TENANT_STORAGE_MB', wholeNumber(1, 10 ** 6, 'a size in MiB'), 500),
  /** How much the details in the records of a tenant's runs may take, in MiB. Past it the oldest are removed; outcomes stay. */
  tenantRecordsMb: setting('TENANT_RECORDS_MB', wholeNumber(1, 10 ** 6, 'a size in MiB'), 100),
  /** How many runs a tenant may start each minute. */
  tenantRunsPerMinute: setting('TENANT_RUNS_PER_MINUTE', perMinute, 0),
  /** How many runs an environment may start each minute. */
  environmentRunsPerMinute: setting('ENVIRONMENT_RUNS_PER_MINUTE', perMinute, 0),
  /** How many requests may come with one token each minute. Runs do not count. */
  tokenRequestsPerMinute: setting('TOKEN_REQUESTS_PER_MINUTE', perMinute, 1200),
  /** How many requests without a valid token may come from one address each minute. */
  addressRequestsPerMinute: setting('ADDRESS_REQUESTS_PER_MINUTE', perMinute, 600),
  /** How much is [recorded of each run](runs.md). */
  runRecords: setting('RUN_RECORDS', oneOf(recordLevels), 'logs'),
  /** How long records of runs are kept. */
  runRetentionDays: setting('RUN_RETENTION_DAYS', wholeNumber(1, 3650, 'a number of days'), 14),
  /** How many records of successful runs are kept for each plugin, and how many of failed runs. */
  runRetention: setting('RUN_RETENTION', wholeNumber(0, 10 ** 6, 'a number of records'), 1000),
  /** How long a node that has lost its database still runs the plugins that it knows. */
  offlineRunSeconds: setting('OFFLINE_RUN_SECONDS', wholeNumber(0, 86_400, 'a time in seconds'), 30),
  /** With `off` plugins make no requests, whatever their namespaces grant, and nothing is sent to webhooks. */
  outbound: setting('OUTBOUND', onOrOff, true),
  /**
   * Origins that webhooks, and plugins whose namespace grants it, may reach even if the origin uses `http`, an IP address, a name
   * without a period or a private address, or is this service itself.
   */
  outboundAllow: setting<readonly string[]>('OUTBOUND_ALLOW', exactOrigins, []),
  /** How long a request of a plugin may take. */
  callTimeoutMs: setting('CALL_TIMEOUT_MS', wholeNumber(10, 60_000, 'a time in milliseconds'), 10_000),
  /** How large a response to a plugin may be, after decompression. */
  callResponseKb: setting('CALL_RESPONSE_KB', wholeNumber(1, 16_384, 'a size in KiB'), 1024),
  /**
   * How long one run may take, including all that it waits for: requests, timers and, once it has begun, a free runner. If you raise it,
   * also raise the limits that would end a run sooner: [the time to stop](running.md#stopping), `timeout` of `ExecutionClient` (35 s), and the
   * time limits of your proxies (120 s in `deploy/`).
   */
  runWaitMs: setting('RUN_WAIT_MS', wholeNumber(100, 300_000, 'a time in milliseconds'), 25_000),
  /** How many requests one run may make. */
  runCalls: setting('RUN_CALLS', wholeNumber(1, 1000, 'a number of requests'), 20),
  /** How many runs that may make requests a node has at once. An environment may have half of them, a tenant a quarter. */
  waitingRuns: setting('WAITING_RUNS', wholeNumber(leastWaiting.runs, 100_000, 'a number of runs'), 1000),
  /**
   * How much these runs may hold while they wait, with their requests and responses. An environment may hold half of it, a tenant a
   * quarter.
   */
  waitingMb: setting('WAITING_MB', wholeNumber(leastWaiting.mb, 65_536, 'a size in MiB'), 256),
  /** How many requests the plugins of a tenant may make each minute. */
  tenantCallsPerMinute: setting('TENANT_CALLS_PER_MINUTE', perMinute, 0),
  /**
   * Keys of 32 bytes in base64, separated by spaces or commas, which encrypt stored secrets: the first encrypts, all decrypt. With
   * PostgreSQL the service stores no secrets without it. @default with SQLite the file `secrets.key` in `DATA_DIR`, made at first use
   */
  secretsKey: secret('SECRETS_KEY', secretKeys),
  /** Where metrics are served: an address or a name. @default loopback */
  metricsHost: setting('METRICS_HOST', listenHost),
  /** The port for metrics. Without it there are no metrics. */
  metricsPort: setting('METRICS_PORT', port),
  /** The lowest level of the lines that are logged. */
  logLevel: setting('LOG_LEVEL', oneOf(logLevels), 'info'),
  /**
   * How long requests are still accepted after SIGTERM. The service then takes up to 35 s to end, or 10 s more than `RUN_WAIT_MS` if
   * that is longer.
   */
  drainSeconds: setting('DRAIN_SECONDS', wholeNumber(0, 600, 'a time in seconds'), 5),
  /**
   * The server that mails verification codes. Without it the codes become files in `DATA_DIR/outbox`, or are not sent at all if
   * `PUBLIC_URL` is set.
   */
  smtpUrl: secret('SMTP_URL', smtpUrl),
  /**
   * The sender of these mails. Set it with `SMTP_URL`, because mail servers tend to refuse the default.
   * @default `Plugin service <plugin-service@localhost>`
   */
  smtpFrom: setting('SMTP_FROM', mailSender),
};

/** The values of some settings, by the same names. */
export type ValuesOf<All> = { -readonly [Name in keyof All]: All[Name] extends Setting<infer T> ? T : never };

/** The settings of the service, as {@link settings} describes each. */
export interface Settings extends Omit<ValuesOf<typeof settings>, 'database'> {
  /** The parsed `DATABASE_URL`. */
  database: DatabaseAddress;
}
