import * as z from 'zod';
import { recordLevels } from '../runs/record-level.ts';
import {
  addressRanges,
  hostList,
  listenHost,
  mailSender,
  onOrOff,
  oneOf,
  originList,
  port,
  publicUrl,
  smtpUrl,
  text,
  wholeNumber,
} from './setting-kinds.ts';

/** The highest limit by the minute, which no service reaches. */
const maxPerMinute = 10 ** 9;

const perMinute = wholeNumber(0, maxPerMinute, 'a number a minute, 0 for no limit');

/**
 * Every variable but those that end in `_FILE`, with the kind of its value. A default is what holds where the variable is missing
 * or empty. The table in docs/service/settings.md is generated from the comments.
 */
export const variables = z.object({
  /**
   * Where to listen: an address or a name. A proxy on another machine needs one that it can reach, such as `0.0.0.0`. Beyond
   * loopback, set `PUBLIC_URL`, too. @default loopback
   */
  SERVICE_HOST: listenHost.optional(),
  /** The port to listen on; `0` for any that is free. */
  SERVICE_PORT: port.default(8082),
  /** The origin by which users reach the service. Requests with another `Host` are refused with 421. */
  PUBLIC_URL: publicUrl.optional(),
  /** Further values of `Host` that are accepted, separated by spaces or commas. */
  ALLOWED_HOSTS: hostList.default([]),
  /** The folder for the SQLite database, and for mail where `SMTP_URL` is not set. It is relative to the working directory. */
  DATA_DIR: text.default('.data'),
  /**
   * `sqlite:<path>` or `postgres://user:password@host:5432/database` (PostgreSQL 14 or later, encoding UTF8). Any
   * number of nodes may share one PostgreSQL. [Storage](storage.md#make-a-postgresql-database) says how to make it, and how to
   * connect by TLS. @default SQLite in `DATA_DIR`
   */
  DATABASE_URL: text.optional(),
  /** With `off` a start does not bring the schema up to date. Until `migrate` has, requests are answered with 503. */
  AUTO_MIGRATE: onOrOff.default(true),
  /**
   * The only origins whose pages may frame the editor, separated by spaces or commas. @default none with `PUBLIC_URL`,
   * else loopback
   */
  EDITOR_ANCESTORS: originList.optional(),
  /** With `off` the editor takes no token from its address. */
  EDITOR_ADDRESS_TOKENS: onOrOff.default(true),
  /** Addresses of your proxies. The client is the rightmost address of `X-Forwarded-For` that is none of them. */
  TRUSTED_PROXIES: addressRanges.default([]),
  /** How long an editor token lives. */
  EDITOR_TOKEN_TTL: wholeNumber(1, 10 ** 9, 'a time in seconds').default(900),
  /** How long one run may take. */
  RUN_TIMEOUT_MS: wholeNumber(10, 60_000, 'a time in milliseconds').default(1000),
  /** How much memory one run may use. */
  RUN_MEMORY_MB: wholeNumber(8, 256, 'a size in MiB').default(32),
  /** How many plugins a tenant may have. With `0` it may have none. */
  TENANT_PLUGINS: wholeNumber(0, 10 ** 9, 'a number of plugins').default(1000),
  /** How many runs a tenant may start each minute. */
  TENANT_RUNS_PER_MINUTE: perMinute.default(0),
  /** How many runs an environment may start each minute. */
  ENVIRONMENT_RUNS_PER_MINUTE: perMinute.default(0),
  /** How many requests may come with one token each minute. Runs do not count. */
  TOKEN_REQUESTS_PER_MINUTE: perMinute.default(1200),
  /** How many requests without a valid token may come from one address each minute. */
  ADDRESS_REQUESTS_PER_MINUTE: perMinute.default(600),
  /** How much is [recorded of each run](runs.md). */
  RUN_RECORDS: oneOf(recordLevels).default('logs'),
  /** How long records of runs are kept. */
  RUN_RETENTION_DAYS: wholeNumber(1, 3650, 'a number of days').default(14),
  /** How many records are kept of the successes of a plugin, and how many of its failures. */
  RUN_RETENTION: wholeNumber(0, 10 ** 6, 'a number of records').default(1000),
  /** How long a node that has lost its database still runs the plugins that it knows. */
  OFFLINE_RUN_SECONDS: wholeNumber(0, 86_400, 'a time in seconds').default(30),
  /** Where metrics are served: an address or a name. @default loopback */
  METRICS_HOST: listenHost.optional(),
  /** The port for metrics. Without it there are none. */
  METRICS_PORT: port.optional(),
  /** The least important lines that are logged. */
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** How long requests are still accepted after SIGTERM. Ending takes up to 35 s more. */
  DRAIN_SECONDS: wholeNumber(0, 600, 'a time in seconds').default(5),
  /** The server that mails verification codes. Without it they become files in `DATA_DIR/outbox`. */
  SMTP_URL: smtpUrl.optional(),
  /** The sender of these mails. */
  SMTP_FROM: mailSender.optional(),
});

/** The variables whose values must not be in any message. */
export const secrets: ReadonlySet<string> = new Set(['DATABASE_URL', 'SMTP_URL']);
