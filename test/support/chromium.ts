import { launch, type Browser, type Page } from 'puppeteer-core';

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

/** How many milliseconds a page is waited for before a test fails: a machine with much else to do takes its time. */
const PATIENCE = 120_000;

/**
 * Starts Chromium for a Node test that drives whole pages. Whoever calls it closes it. `hosts`: where names lead, in
 * place of this machine's loopback addresses.
 */
export async function launchChromium(hosts?: string): Promise<Browser> {
  const { chromium } = findBrowsers();
  if (!chromium) throw new Error('No Chromium or Chrome was found: run node tools/setup/browsers.js');
  // Of an argument that is given twice, the last counts.
  const args = [...CHROMIUM_ARGS, ...(hosts ? [`--host-resolver-rules=${hosts}`] : [])];
  const browser = await launch({ executablePath: chromium, args, timeout: PATIENCE });
  const createContext = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (options) => withPatientPages(await createContext(options));
  return withPatientPages(browser);
}

/** Has all pages that a browser or a context of it opens wait for long. */
function withPatientPages<T extends { newPage(): Promise<Page> }>(opener: T): T {
  const newPage = opener.newPage.bind(opener);
  opener.newPage = async () => {
    const page = await newPage();
    page.setDefaultTimeout(PATIENCE);
    return page;
  };
  return opener;
}
