// Runs before anything is installed: plain JavaScript, no dependencies.

/**
 * The fields of an entry of a lock file's `packages` that are used here.
 *
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [optional]
 * @property {boolean} [link]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 *
 * @typedef {{ packages?: Record<string, LockEntry> }} LockFile
 */

/**
 * Why node_modules does not match package-lock.json, in a few words; `undefined` when it does. Additional packages do no
 * harm.
 *
 * @param {LockFile} wanted package-lock.json
 * @param {LockFile | undefined} installed node_modules/.package-lock.json; undefined when there is none
 * @param {(path: string) => boolean} exists whether a package's folder is there, by its path in the lock file
 * @returns {string | undefined}
 */
export function whyStale(wanted, installed, exists) {
  if (!installed?.packages) return 'nothing is installed yet';
  for (const [path, entry] of Object.entries(wanted.packages ?? {})) {
    if (path === '' || entry.link) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const present = installed.packages[path];
    if (!present || !exists(path)) {
      if (mayBeAbsent(entry)) continue;
      return `${name} is missing`;
    }
    if (present.version !== entry.version) return `${name} is ${present.version}, not ${entry.version}`;
    if (present.integrity && entry.integrity && present.integrity !== entry.integrity) {
      return `${name} ${entry.version} is another build than the one asked for`;
    }
  }
  return undefined;
}

/**
 * Builds for other systems are left out by npm. Which C library this system has is not asked here.
 *
 * @param {LockEntry} entry
 */
function mayBeAbsent({ optional, os, cpu, libc }) {
  if (libc || !os) return Boolean(optional || os || cpu || libc);
  return !allows(os, process.platform) || !allows(cpu ?? [process.arch], process.arch);
}

/**
 * @param {string[] | string} names that are allowed, or that are excluded by a `!` before them
 * @param {string} name
 */
function allows(names, name) {
  const list = [names].flat();
  return list.includes(name) || (list.every((one) => one.startsWith('!')) && !list.includes(`!${name}`));
}
