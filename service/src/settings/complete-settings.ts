import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { StartError } from '../start-error.ts';
import { databaseOf, readSettings, findReachabilityProblem } from './read-settings.ts';
import type { Settings } from './settings.ts';

/**
 * Completes the settings that a program passes: missing ones have the defaults of their environment variables.
 * @throws StartError when they contradict each other.
 */
export function completeSettings(given: Partial<Settings>): Settings {
  // An entry that is undefined counts as missing.
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const defaults = readSettings({});
  const { dataDirectory = defaults.dataDirectory, publicUrl, serviceHost } = given;
  const settings: Settings = {
    ...defaults,
    database: databaseOf(undefined, dataDirectory),
    editorAncestors: publicUrl === undefined ? undefined : [],
    ...named,
  };
  const mistake =
    findReachabilityProblem(serviceHost, publicUrl) ??
    (typeof settings.processes === 'number' && settings.processes > 1
      ? `PROCESSES is ${settings.processes}, and a program that calls startService is one process; it must be 1. The command plugin-editor-service starts several.`
      : undefined);
  if (mistake !== undefined) throw new StartError(mistake);
  return settings;
}

/** With which keys secrets are stored: those of `SECRETS_KEY`, or else, beside an SQLite file, one in the data folder. */
export const secretsOf = ({
  secretsKey,
  database,
  dataDirectory,
}: Pick<Settings, 'secretsKey' | 'database' | 'dataDirectory'>) =>
  secretsKey || database.engine !== 'sqlite'
    ? { keys: secretsKey?.map((key) => Buffer.from(key, 'base64')) }
    : { file: join(dataDirectory, 'secrets.key') };

/**
 * The values of the `Host` header that the service accepts: that of its public URL, or else those of this machine, and the further
 * ones of the setting `allowedHosts`.
 */
export function knownHosts({ publicUrl, allowedHosts, serviceHost }: Settings, port: number): string[] {
  if (publicUrl === undefined) {
    const own = new Set(['localhost', '127.0.0.1', '[::1]']);
    // Another of this machine's loopback addresses.
    if (serviceHost !== undefined && isIPv4(serviceHost)) own.add(serviceHost);
    return [...Array.from(own, (host) => `${host}:${port}`), ...allowedHosts];
  }
  const { host, port: publicPort, protocol } = new URL(publicUrl);
  const withPort = protocol === 'https:' && publicPort === '' ? [`${host}:443`] : [];
  return [host, ...withPort, ...allowedHosts];
}
