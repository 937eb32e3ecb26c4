import { isIPv4 } from 'node:net';
import { StartError } from '../start-error.ts';
import { databaseOf, readSettings, findReachabilityProblem } from './settings.ts';
import type { Settings } from './settings.ts';

/**
 * Settings of a program: what it does not give is as where no variable is set.
 * @throws StartError when they cannot go together.
 */
export function completeSettings(given: Partial<Settings>): Settings {
  // Without the entries that are undefined, which stand for what is not given.
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const defaults = readSettings({});
  const { dataDirectory = defaults.dataDirectory, publicUrl, serviceHost } = given;
  const settings: Settings = {
    ...defaults,
    database: databaseOf(undefined, dataDirectory),
    editorAncestors: publicUrl === undefined ? undefined : [],
    ...named,
  };
  const mistake = findReachabilityProblem(serviceHost, publicUrl);
  if (mistake !== undefined) throw new StartError(mistake);
  return settings;
}

/**
 * The values of the `Host` header that the service answers to: those of its public address, or else of this machine; and those
 * that are named beside it.
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
