import { join, resolve } from 'node:path';
import { errorMessage } from '../error-message.ts';
import { frameAncestors } from '../http/frame-ancestors.ts';
import type { RecordLevel } from '../runs/record-level.ts';
import { StartError } from '../start-error.ts';
import { parseDatabaseUrl } from '../storage/database-url.ts';
import type { DatabaseAddress } from '../storage/database-url.ts';
import { readVariables } from './read-variables.ts';
import type { Environment } from './environment.ts';
import { secrets, variables } from './variables.ts';

/** The settings of the service. */
export interface Settings {
  /** The address or name to listen on; `undefined` for this machine's loopback addresses. */
  serviceHost: string | undefined;
  /** 0 for any port that is free. */
  servicePort: number;
  /** The origin by which users reach the service; `undefined` when only this machine does. */
  publicUrl: string | undefined;
  /** Further values of the `Host` header that are accepted. */
  allowedHosts: readonly string[];
  /** The absolute path of the folder for mail that is not sent and, by default, the database. */
  dataDirectory: string;
  database: DatabaseAddress;
  /** Whether to migrate the schema at start. */
  autoMigrate: boolean;
  /**
   * The only origins whose pages may frame the editor; `undefined` for any port of this machine. Read at every request, so
   * that an origin can be added once its port is known.
   */
  editorAncestors: string[] | undefined;
  /** Whether the editor takes a token from its address. */
  editorAddressTokens: boolean;
  /** The addresses of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** How long an editor token lives, in seconds. */
  editorTokenTtl: number;
  /** How long a run may take, in ms. */
  runTimeoutMs: number;
  /** How much memory a run may use, in MiB. */
  runMemoryMb: number;
  /** How many plugins a tenant may have. */
  tenantPlugins: number;
  /** The four limits by the minute; 0 for no limit. */
  tenantRunsPerMinute: number;
  environmentRunsPerMinute: number;
  tokenRequestsPerMinute: number;
  addressRequestsPerMinute: number;
  /** How much is recorded of each run. */
  runRecords: RecordLevel;
  /** How long records of runs are kept, in days. */
  runRetentionDays: number;
  /** How many records are kept of a plugin's successes, and as many of its failures. */
  runRetention: number;
  /** How long cached plugins can still be run while the database is unavailable, in seconds. */
  offlineRunSeconds: number;
  /** The address or name to serve metrics on; `undefined` for this machine's loopback addresses. */
  metricsHost: string | undefined;
  /** `undefined` for no metrics; 0 for any port that is free. */
  metricsPort: number | undefined;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** How long requests are still accepted after SIGTERM, in seconds. */
  drainSeconds: number;
  /** The mail server; `undefined` where mail becomes a file. */
  smtpUrl: string | undefined;
  /** The sender of mail. */
  smtpFrom: string | undefined;
}

/**
 * Reads the settings from environment variables, with their defaults. An empty variable counts as missing. Each one can also be set
 * as `NAME_FILE`, the path of a file that holds the value.
 * @throws StartError with one line for each mistake: the variable, what is wrong and what would be right. No line quotes a secret.
 */
export function readSettings(env: Environment): Settings {
  const { values, mistakes } = readVariables(env, variables, secrets);
  const database = collectMistake(mistakes, () => databaseOf(values.DATABASE_URL, values.DATA_DIR));
  const { PUBLIC_URL, SERVICE_HOST, EDITOR_ANCESTORS } = values;
  // With a public URL, no page may frame the editor by default. The other default, pages of localhost, would let any page on a
  // user's own machine frame it.
  const editorAncestors = EDITOR_ANCESTORS?.length
    ? EDITOR_ANCESTORS
    : PUBLIC_URL === undefined
      ? undefined
      : [];
  collectMistake(mistakes, () => frameAncestors(editorAncestors));
  const mistake = findReachabilityProblem(SERVICE_HOST, PUBLIC_URL);
  if (mistake !== undefined) mistakes.push(mistake);
  if (mistakes.length || !database) throw new StartError(mistakes.join('\n'));
  return {
    serviceHost: SERVICE_HOST,
    servicePort: values.SERVICE_PORT,
    publicUrl: PUBLIC_URL,
    allowedHosts: values.ALLOWED_HOSTS,
    dataDirectory: resolve(values.DATA_DIR),
    database,
    autoMigrate: values.AUTO_MIGRATE,
    editorAncestors,
    editorAddressTokens: values.EDITOR_ADDRESS_TOKENS,
    trustedProxies: values.TRUSTED_PROXIES,
    editorTokenTtl: values.EDITOR_TOKEN_TTL,
    runTimeoutMs: values.RUN_TIMEOUT_MS,
    runMemoryMb: values.RUN_MEMORY_MB,
    tenantPlugins: values.TENANT_PLUGINS,
    tenantRunsPerMinute: values.TENANT_RUNS_PER_MINUTE,
    environmentRunsPerMinute: values.ENVIRONMENT_RUNS_PER_MINUTE,
    tokenRequestsPerMinute: values.TOKEN_REQUESTS_PER_MINUTE,
    addressRequestsPerMinute: values.ADDRESS_REQUESTS_PER_MINUTE,
    runRecords: values.RUN_RECORDS,
    runRetentionDays: values.RUN_RETENTION_DAYS,
    runRetention: values.RUN_RETENTION,
    offlineRunSeconds: values.OFFLINE_RUN_SECONDS,
    metricsHost: values.METRICS_HOST,
    metricsPort: values.METRICS_PORT,
    logLevel: values.LOG_LEVEL,
    drainSeconds: values.DRAIN_SECONDS,
    smtpUrl: values.SMTP_URL,
    smtpFrom: values.SMTP_FROM,
  };
}

/** The database of `DATABASE_URL`, or else the file in the data folder. */
export const databaseOf = (url: string | undefined, dataDirectory: string): DatabaseAddress =>
  url === undefined
    ? { engine: 'sqlite', file: join(resolve(dataDirectory), 'service.sqlite') }
    : parseDatabaseUrl(url);

/** The message for a service that listens beyond this machine without a public URL; `undefined` for any other service. */
export function findReachabilityProblem(
  host: string | undefined,
  publicAddress: string | undefined,
): string | undefined {
  return host === undefined || isLoopback(host) || publicAddress !== undefined
    ? undefined
    : `PUBLIC_URL is not set, and SERVICE_HOST is ${host}, which others reach; it must be the origin that users reach the service by, such as https://plugins.example.com.`;
}

const isLoopback = (host: string) => /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host);

/** Returns the value of a step; where it throws, adds its message to the mistakes and returns `undefined`. */
function collectMistake<T>(mistakes: string[], step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    mistakes.push(errorMessage(error));
    return undefined;
  }
}
