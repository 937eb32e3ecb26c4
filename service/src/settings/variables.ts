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

/** The most that a limit by the minute may be; past it, it limits nothing. */
const mostPerMinute = 10 ** 9;

const perMinute = wholeNumber(0, mostPerMinute, 'a number a minute, 0 for no limit');

/** Every variable but those that end in `_FILE`, with the kind of its value. A default is what holds where the variable is missing or empty. */
export const variables = z.object({
  SERVICE_HOST: listenHost.optional(),
  SERVICE_PORT: port.default(8082),
  PUBLIC_URL: publicUrl.optional(),
  ALLOWED_HOSTS: hostList.default([]),
  DATA_DIR: text.default('.data'),
  DATABASE_URL: text.optional(),
  AUTO_MIGRATE: onOrOff.default(true),
  EDITOR_ANCESTORS: originList.optional(),
  EDITOR_ADDRESS_TOKENS: onOrOff.default(true),
  TRUSTED_PROXIES: addressRanges.default([]),
  EDITOR_TOKEN_TTL: wholeNumber(1, 10 ** 9, 'a time in seconds').default(900),
  RUN_TIMEOUT_MS: wholeNumber(10, 60_000, 'a time in milliseconds').default(1000),
  RUN_MEMORY_MB: wholeNumber(8, 256, 'a size in MiB').default(32),
  TENANT_PLUGINS: wholeNumber(0, 10 ** 9, 'a number of plugins').default(1000),
  TENANT_RUNS_PER_MINUTE: perMinute.default(0),
  ENVIRONMENT_RUNS_PER_MINUTE: perMinute.default(0),
  TOKEN_REQUESTS_PER_MINUTE: perMinute.default(1200),
  ADDRESS_REQUESTS_PER_MINUTE: perMinute.default(600),
  RUN_RECORDS: oneOf(recordLevels).default('logs'),
  RUN_RETENTION_DAYS: wholeNumber(1, 3650, 'a number of days').default(14),
  RUN_RETENTION: wholeNumber(0, 10 ** 6, 'a number of records').default(1000),
  OFFLINE_RUN_SECONDS: wholeNumber(0, 86_400, 'a time in seconds').default(30),
  METRICS_HOST: listenHost.optional(),
  METRICS_PORT: port.optional(),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  DRAIN_SECONDS: wholeNumber(0, 600, 'a time in seconds').default(5),
  SMTP_URL: smtpUrl.optional(),
  SMTP_FROM: mailSender.optional(),
});

/** Those of which no message may show the value. */
export const secrets: ReadonlySet<string> = new Set(['DATABASE_URL', 'SMTP_URL']);
