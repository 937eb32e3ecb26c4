import type { BrowserLauncher } from '@web/test-runner';
import { chromeLauncher, puppeteerCore } from '@web/test-runner-chrome';

import { CHROMIUM_ARGS } from './chromium.ts';
import { findBrowsers } from './find-browsers.js';
import { webkitLauncher } from './webkit-launcher.ts';

const FIREFOX_PREFERENCES = {
  // Firefox asks ten times where a connection is cut without an answer: a test would count all of them.
  'network.http.request.max-attempts': 1,
  // Nothing leaves this machine, whatever address a test or Firefox itself asks for: names lead to loopback
  // (its settings service asks past the proxy), and plain addresses to a proxy that is not there.
  'network.dns.forceResolve': '127.0.0.1',
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
};

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
  const versions = new Map<string, string>();
  const all: Record<string, { name: string; launcher: BrowserLauncher | undefined; missing: string }> = {
    chromium: {
      name: 'Chromium',
      launcher: found.chromium ? chromium(found.chromium, versions) : undefined,
      missing: 'Chromium or Chrome',
    },
    firefox: {
      name: 'Firefox',
      launcher: found.firefox ? firefox(found.firefox, versions) : undefined,
      missing: 'Firefox',
    },
    webkit: {
      name: 'WebKit',
      launcher: found.webkit
        ? webkitLauncher(found.webkit, (version) => versions.set('WebKitGTK', version))
        : undefined,
      missing: found.missingWebKitParts.join(', '),
    },
  };

  const wanted = chosen ? chosen.split(',').map((name) => name.trim()) : Object.keys(all);
  const unknown = wanted.filter((name) => !Object.hasOwn(all, name));
  if (unknown.length > 0) {
    throw new Error(`ENGINES names "${unknown.join('", "')}"; there are ${Object.keys(all).join(', ')}.`);
  }
  const launchers: BrowserLauncher[] = [];
  const notRun: string[] = [];
  for (const [key, { name, launcher, missing }] of Object.entries(all)) {
    if (!wanted.includes(key)) notRun.push(`${name} (left out by ENGINES)`);
    else if (launcher) launchers.push(launcher);
    else notRun.push(`${name} (not found: ${missing})`);
  }
  if (launchers.length === 0) throw new Error(`No browser to run the tests in. ${notRun.join('; ')}.`);
  return { launchers, versions, notRun };
}

function chromium(executablePath: string, versions: Map<string, string>): BrowserLauncher {
  const launcher = chromeLauncher({
    // Without `browser: 'chrome'`, with which coverage stays empty.
    launchOptions: { executablePath, args: CHROMIUM_ARGS },
    ...pageHooks('Chromium', versions),
  });
  launcher.name = 'Chromium';
  return launcher;
}

function firefox(executablePath: string, versions: Map<string, string>): BrowserLauncher {
  return chromeLauncher({
    puppeteer: puppeteerCore,
    launchOptions: { browser: 'firefox', executablePath, extraPrefsFirefox: FIREFOX_PREFERENCES },
    ...pageHooks('Firefox', versions),
  });
}

type LauncherArgs = NonNullable<Parameters<typeof chromeLauncher>[0]>;
type Hooks = Required<Pick<LauncherArgs, 'createBrowserContext' | 'createPage'>>;

function pageHooks(name: string, versions: Map<string, string>): Hooks {
  return {
    createBrowserContext: async ({ browser }) => {
      // "Chrome/156.0.7151.0", "firefox/153.0"
      versions.set(name, (await browser.version()).replace(/^\D+/, ''));
      return browser.defaultBrowserContext();
    },
    createPage: async ({ context }) => {
      const page = await context.newPage();
      // A page that asks before it is left would hold up the whole run.
      page.on('dialog', (dialog) => {
        void (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss());
      });
      return page;
    },
  };
}
