import {
  connect,
  launch,
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  type Page,
} from 'puppeteer-core';

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
  /** Rules for resolving host names (default: only loopback). */
  hosts?: string;
  /** Whether it must be the whole browser, for what its headless shell lacks, such as the back-forward cache (default false). */
  isWhole?: boolean;
}

/**
 * Chromium for a Node test that drives whole pages. The caller closes it. With TEST_CHROMIUM, which `run-node-tests.ts` sets to the
 * address of one that all files of a run share, it is that one, of which only what the caller has opened is closed.
 */
export async function launchChromium(options: ChromiumOptions = {}): Promise<Browser> {
  const shared = process.env['TEST_CHROMIUM'];
  const isUsual = options.hosts === undefined && !options.isWhole;
  return withPatientPages(shared && isUsual ? await joinChromium(shared) : await startChromium(options));
}

/** Starts Chromium. */
export async function startChromium({ hosts, isWhole = false }: ChromiumOptions = {}): Promise<Browser> {
  const { chromium, headlessShell } = findBrowsers();
  const executablePath = isWhole ? chromium : (headlessShell ?? chromium);
  if (!executablePath) throw new Error('No Chromium or Chrome was found: run node tools/setup/system.js');
  const args = [
    ...CHROMIUM_ARGS,
    // Else the blinking cursor of each open editor has its page drawn 60 times a second.
    '--force-prefers-reduced-motion',
    // When an argument is repeated, the last one applies.
    ...(hosts ? [`--host-resolver-rules=${hosts}`] : []),
  ];
  return launch({ executablePath, args, timeout: PATIENCE });
}

/** Connects to a Chromium that others use, too. All pages are in new contexts, and go when this is closed. */
async function joinChromium(browserWSEndpoint: string): Promise<Browser> {
  const browser = await connect({ browserWSEndpoint });
  const contexts = new Set<BrowserContext>();
  const createContext = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (options) => {
    const context = await createContext(options);
    contexts.add(context);
    return context;
  };
  browser.newPage = async () => (await browser.createBrowserContext()).newPage();
  browser.close = async () => {
    const open = new Set(browser.browserContexts());
    await Promise.all([...contexts].filter((one) => open.has(one)).map((one) => one.close()));
    await browser.disconnect();
  };
  return browser;
}

/** Whether this says that a new plugin has no draft or no versions: the console shows it, although the editor expects it. */
export function isOfNewPlugin(message: ConsoleMessage): boolean {
  return (
    message.text().includes('status of 404') &&
    /\/api\/v1\/(?:draft|plugin)\//.test(message.location().url ?? '')
  );
}

/** Sets the long time limit for all pages that a browser and its contexts open. */
function withPatientPages(browser: Browser): Browser {
  const createContext = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (options) => patient(await createContext(options));
  return patient(browser);
}

function patient<T extends { newPage(): Promise<Page> }>(opener: T): T {
  const newPage = opener.newPage.bind(opener);
  opener.newPage = async () => {
    const page = await newPage();
    page.setDefaultTimeout(PATIENCE);
    return page;
  };
  return opener;
}
