import { launch, type Browser, type ConsoleMessage, type Page } from 'puppeteer-core';

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

interface ChromiumOptions {
  /** Rules for resolving host names (default: loopback alone). */
  hosts?: string;
  /** Whether it must be the whole browser, for what its headless shell lacks, such as the back-forward cache (default false). */
  isWhole?: boolean;
}

/** Starts Chromium for a Node test that drives whole pages. The caller closes it. */
export async function launchChromium({ hosts, isWhole = false }: ChromiumOptions = {}): Promise<Browser> {
  const { chromium, headlessShell } = findBrowsers();
  const executablePath = isWhole ? chromium : (headlessShell ?? chromium);
  if (!executablePath) throw new Error('No Chromium or Chrome was found: run node tools/setup/system.js');
  // When an argument is repeated, the last one applies.
  const args = [...CHROMIUM_ARGS, ...(hosts ? [`--host-resolver-rules=${hosts}`] : [])];
  const browser = await launch({ executablePath, args, timeout: PATIENCE });
  const createContext = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (options) => withPatientPages(await createContext(options));
  return withPatientPages(browser);
}

/** Whether this says that a new plugin has no draft or no versions: the console shows it, although the editor expects it. */
export function isOfNewPlugin(message: ConsoleMessage): boolean {
  return (
    message.text().includes('status of 404') &&
    /\/api\/v1\/(?:draft|plugin)\//.test(message.location().url ?? '')
  );
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
