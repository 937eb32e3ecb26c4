import { launch, type Browser } from 'puppeteer-core';

import { findBrowsers } from './find-browsers.js';

export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing leaves this machine, whatever address a test or the browser itself asks for.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

/** Starts Chromium for a Node test that drives whole pages. Whoever calls it closes it. */
export function launchChromium(): Promise<Browser> {
  const { chromium } = findBrowsers();
  if (!chromium) throw new Error('No Chromium or Chrome was found: run node test/setup/browsers.js');
  // A machine with much else to do takes its time to start it.
  return launch({ executablePath: chromium, args: CHROMIUM_ARGS, timeout: 120_000 });
}
