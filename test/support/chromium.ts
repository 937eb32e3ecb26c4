import { launch, type Browser } from 'puppeteer-core';

import { findBrowsers } from '../../tools/setup/find-browsers.js';

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

/**
 * Starts Chromium for a Node test that drives whole pages. Whoever calls it closes it. `hosts`: where names lead, in
 * place of this machine's loopback addresses.
 */
export function launchChromium(hosts?: string): Promise<Browser> {
  const { chromium } = findBrowsers();
  if (!chromium) throw new Error('No Chromium or Chrome was found: run node tools/setup/browsers.js');
  // Of an argument that is given twice, the last counts.
  const args = [...CHROMIUM_ARGS, ...(hosts ? [`--host-resolver-rules=${hosts}`] : [])];
  // A machine with much else to do takes its time to start it.
  return launch({ executablePath: chromium, args, timeout: 120_000 });
}
