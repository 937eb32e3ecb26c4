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

/** How long a test waits for a page before it fails, in ms. It is long for the sake of busy machines. */
const PATIENCE = 120_000;

/**
 * Starts Chromium for a Node test that drives whole pages. The caller closes it. `hosts`: rules for resolving host names, in
 * place of this machine's loopback addresses.
 */
export async function launchChromium(hosts?: string): Promise<Browser> {
  const { chromium } = findBrowsers();
  if (!chromium) throw new Error('No Chromium or Chrome was found: run node tools/setup/browsers.js');
  // When an argument is repeated, the last one applies.
  const args = [...CHROMIUM_ARGS, ...(hosts ? [`--host-resolver-rules=${hosts}`] : [])];
  const browser = await launch({ executablePath: chromium, args, timeout: PATIENCE });
  const createContext = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (options) => withPatientPages(await createContext(options));
  return withPatientPages(browser);
}

/** Sets the long time limit for all pages that a browser or a context opens. */
function withPatientPages<T extends { newPage(): Promise<Page> }>(opener: T): T {
  const newPage = opener.newPage.bind(opener);
  opener.newPage = async () => {
    const page = await newPage();
    page.setDefaultTimeout(PATIENCE);
    return page;
  };
  return opener;
}
