import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { argv, env, getuid, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

import { findBrowsers, onPath } from './find-browsers.js';

/*
 * Installs what the tests need of the system, as root where there is apt-get, and says what is missing elsewhere:
 *
 *   node tools/setup/system.js [chromium] [firefox] [webkit] [deploy]
 *
 * Also the browsers that ENGINES names. Prints nothing when all is there.
 */

const isRoot = platform === 'linux' && getuid?.() === 0;

/** Says that there are packages that could not be installed, so that not every run tries again. */
const triedFile = fileURLToPath(
  new URL('../../node_modules/.cache/plugin-editor/tried-packages', import.meta.url),
);

/**
 * What the tests need: Debian's packages of it, and whether it is there. Without what is optional the tests are slower, or leave out
 * what a system cannot have.
 *
 * @returns {{ packages: string[], isThere: boolean, isOptional?: boolean, advice?: string }[]}
 */
function requirements() {
  const wanted = [...argv.slice(2), ...(env['ENGINES'] ?? '').split(',').map((one) => one.trim())];
  const { chromium, headlessShell, firefox, webkit } = findBrowsers();
  const all = {
    chromium: [
      {
        packages: ['chromium'],
        isThere: Boolean(chromium),
        advice: 'or set CHROME_PATH to Chrome or Chromium',
      },
      { packages: ['chromium-headless-shell'], isThere: Boolean(headlessShell), isOptional: true },
      // The service confines its processes with it, only on Linux.
      {
        packages: ['bubblewrap'],
        isThere: platform !== 'linux' || Boolean(onPath('bwrap')),
        isOptional: true,
      },
    ],
    firefox: [{ packages: ['firefox-esr'], isThere: Boolean(firefox), advice: 'or set FIREFOX_PATH' }],
    webkit: [{ packages: ['webkit2gtk-driver', 'xvfb'], isThere: Boolean(webkit) }],
    // What the published files for operators are made for.
    deploy: Object.entries({
      nginx: 'nginx-light',
      caddy: 'caddy',
      pg_dump: 'postgresql-client',
      'systemd-analyze': 'systemd',
      openssl: 'openssl',
      // Only root can use them.
      ...(isRoot && { buildah: 'buildah', mmdebstrap: 'mmdebstrap' }),
    }).map(([program, name]) => ({ packages: [name], isThere: Boolean(onPath(program)) })),
  };
  return Object.entries(all).flatMap(([name, some]) => (wanted.includes(name) ? some : []));
}

function main() {
  const missing = () => requirements().filter(({ isThere }) => !isThere);
  const canInstall = isRoot && existsSync('/usr/bin/apt-get');
  const isWorthTrying = missing().some(({ isOptional }) => !isOptional) || !existsSync(triedFile);
  if (missing().length > 0 && canInstall && isWorthTrying) {
    install(missing().map(({ packages }) => packages));
    if (missing().some(({ isOptional }) => isOptional)) {
      mkdirSync(dirname(triedFile), { recursive: true });
      writeFileSync(triedFile, '');
    }
  }
  for (const { packages, isOptional, advice } of missing()) {
    if (isOptional) continue;
    const ways = [`apt-get install --no-install-recommends ${packages.join(' ')} (Debian, as root)`, advice];
    console.error(`The tests need what is missing here: ${ways.filter(Boolean).join(', ')}.`);
    process.exitCode = 1;
  }
}

/**
 * All at once, and where that fails one after the other, so that one that this system lacks does not keep the others out.
 *
 * @param {string[][]} groups
 */
function install(groups) {
  console.error(`Installing packages for the tests with apt-get: ${groups.flat().join(', ')}.`);
  // The lists of a fresh container are empty.
  aptGet('update');
  const [first, ...others] = [groups.flat(), ...(groups.length > 1 ? groups : [])];
  if (!aptGet('install', '-y', '--no-install-recommends', ...(first ?? [])))
    for (const group of others) aptGet('install', '-y', '--no-install-recommends', ...group);
}

/** @param {string[]} args */
function aptGet(...args) {
  const limits = ['Acquire::Retries=1', 'Acquire::http::Timeout=20', 'DPkg::Lock::Timeout=60'];
  const { status, error, stdout, stderr } = spawnSync(
    'apt-get',
    [...limits.flatMap((limit) => ['-o', limit]), ...args],
    {
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      timeout: 900_000,
    },
  );
  if (status === 0) return true;
  const output = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-8).join('\n');
  console.error(`apt-get ${args.join(' ')} failed${error ? ` (${error.message})` : ''}:\n${output}`);
  return false;
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
