import { join, resolve } from 'node:path';
import { errorMessage } from '../error-message.ts';
import { frameAncestors } from '../http/frame-ancestors.ts';
import { StartError } from '../start-error.ts';
import { parseDatabaseUrl } from '../storage/database-url.ts';
import type { DatabaseAddress } from '../storage/database-url.ts';
import { findProcessesProblem } from './node-processes.ts';
import { readVariables } from './read-variables.ts';
import type { Environment } from './read-variables.ts';
import { settings as allSettings } from './settings.ts';
import type { Settings } from './settings.ts';

/**
 * Reads the settings from environment variables, with their defaults. An empty variable counts as missing. Each one can also be set
 * as `NAME_FILE`, the path of a file that holds the value.
 * @throws StartError with one line for each mistake: the variable, what is wrong and what would be right. No line quotes a secret.
 */
export function readSettings(env: Environment): Settings {
  const { values, mistakes } = readVariables(env, allSettings);
  const { dataDirectory, publicUrl, serviceHost } = values;
  const database = collectMistake(mistakes, () => databaseOf(values.database, dataDirectory));
  // With a public URL, no page may frame the editor by default. The other default, pages of localhost, would let any page on a
  // user's own machine frame it.
  const editorAncestors = values.editorAncestors?.length
    ? values.editorAncestors
    : publicUrl === undefined
      ? undefined
      : [];
  collectMistake(mistakes, () => frameAncestors(editorAncestors));
  const mistake = findReachabilityProblem(serviceHost, publicUrl);
  if (mistake !== undefined) mistakes.push(mistake);
  const settings =
    database &&
    ({ ...values, dataDirectory: resolve(dataDirectory), database, editorAncestors } satisfies Settings);
  const processesProblem = settings && findProcessesProblem(settings);
  if (processesProblem !== undefined) mistakes.push(processesProblem);
  if (mistakes.length || !settings) throw new StartError(mistakes.join('\n'));
  return settings;
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
