import type { BrowserLauncher } from '@web/test-runner';

import { findBrowsers } from '../../tools/setup/find-browsers.js';
import { chromiumLauncher, firefoxLauncher } from './puppeteer-launcher.ts';
import { webkitLauncher } from './webkit-launcher.ts';

export interface Engines {
  launchers: BrowserLauncher[];
  /** Engine name → version, known once its browser has started. */
  versions: Map<string, string>;
  /** Why an engine does not take part. */
  notRun: string[];
}

/**
 * The browsers that the tests run in: all that this machine has, or of those the ones that `ENGINES` names
 * (`ENGINES=chromium,firefox`).
 */
export function engines(chosen = process.env['ENGINES']): Engines {
  const found = findBrowsers();
  const chromium = found.headlessShell ?? found.chromium;
  const kind = chromium === found.chromium ? '' : ' (headless shell)';
  const versions = new Map<string, string>();
  const started =
    (name: string, suffix = '') =>
    (version: string) =>
      void versions.set(name, version + suffix);
  const all: Record<string, { name: string; launcher: BrowserLauncher | undefined; missing: string }> = {
    chromium: {
      name: 'Chromium',
      launcher: chromium ? chromiumLauncher(chromium, started('Chromium', kind)) : undefined,
      missing: 'Chromium or Chrome',
    },
    firefox: {
      name: 'Firefox',
      launcher: found.firefox ? firefoxLauncher(found.firefox, started('Firefox')) : undefined,
      missing: 'Firefox',
    },
    webkit: {
      name: 'WebKit',
      launcher: found.webkit ? webkitLauncher(found.webkit, started('WebKitGTK')) : undefined,
      missing: found.missingWebKitParts.join(', '),
    },
  };

  const selected = chosen ? chosen.split(',').map((name) => name.trim()) : Object.keys(all);
  const unknown = selected.filter((name) => !Object.hasOwn(all, name));
  if (unknown.length > 0) {
    throw new Error(`ENGINES names "${unknown.join('", "')}"; there are ${Object.keys(all).join(', ')}.`);
  }
  const launchers: BrowserLauncher[] = [];
  const notRun: string[] = [];
  for (const [key, { name, launcher, missing }] of Object.entries(all)) {
    if (!selected.includes(key)) notRun.push(`${name} (left out by ENGINES)`);
    else if (launcher) launchers.push(launcher);
    else notRun.push(`${name} (not found: ${missing})`);
  }
  if (launchers.length === 0) throw new Error(`No browser to run the tests in. ${notRun.join('; ')}.`);
  return { launchers, versions, notRun };
}
