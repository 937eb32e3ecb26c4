import { type Browser, launch } from 'puppeteer-core';
import { findBrowsers } from '../../tools/setup/find-browsers.js';

/** Chromium without what it does beside the page, and with a collector that can be called. */
export async function openBrowser(...args: string[]): Promise<Browser> {
  const { chromium } = findBrowsers();
  if (!chromium) throw new Error('The bench needs Chromium; `npm test` says how to get it.');
  return launch({
    executablePath: chromium,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--js-flags=--expose-gc',
      ...args,
    ],
  });
}
