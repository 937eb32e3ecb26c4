import type { BrowserLauncher } from '@web/test-runner';

import { findBrowsers } from '../../tools/setup/find-browsers.js';
import { chromiumLauncher, firefoxLauncher } from './puppeteer-launcher.ts';
import { webkitLauncher } from './webkit-launcher.ts';

export interface Engines {
  launchers: BrowserLauncher[];
  /** Engine name → version, known once its browser has started. */
  versions: Map<string, string>;
}

/** The browsers that `ENGINES` names, such as `chromium,firefox`; by default Chromium. */
export function engines(chosen = process.env['ENGINES'] || 'chromium'): Engines {
  const { chromium, headlessShell, firefox, webkit } = findBrowsers();
  const versions = new Map<string, string>();
  const started = (name: string) => (version: string) => void versions.set(name, version);
  const all: Record<string, () => BrowserLauncher | undefined> = {
    chromium: () => {
      const program = headlessShell ?? chromium;
      return program ? chromiumLauncher(program, started('Chromium')) : undefined;
    },
    firefox: () => (firefox ? firefoxLauncher(firefox, started('Firefox')) : undefined),
    webkit: () => (webkit ? webkitLauncher(webkit, started('WebKitGTK')) : undefined),
  };
  const launchers = chosen.split(',').map((one) => {
    const name = one.trim();
    if (!Object.hasOwn(all, name)) {
      throw new Error(`ENGINES names "${name}"; there are ${Object.keys(all).join(', ')}.`);
    }
    const launcher = all[name]?.();
    if (!launcher)
      throw new Error(`ENGINES names ${name}, which was not found: node tools/setup/system.js ${name}`);
    return launcher;
  });
  return { launchers, versions };
}
