import { after, afterEach, before, beforeEach } from 'node:test';
import type { Page } from 'puppeteer-core';
import { launchChromium } from './harness.ts';
import { deliverByUrl, openDemo } from './page-driver.ts';
import type { DemoPage } from './page-driver.ts';
import { shareDemo } from './shared-demo.ts';

/**
 * Opens one Chromium for all tests of a file, to be called at its top, on the shared demo. Each tab has cookies and storage of its
 * own, and is closed after the test that opened it.
 */
export async function shareDemoInBrowser() {
  const [demo, browser] = await Promise.all([shareDemo(), launchChromium()]);
  const tabs: DemoPage[] = [];
  const openTab = async (prepare?: (page: Page) => Promise<unknown>) => {
    const tab = await openDemo(browser, demo.vendor, prepare);
    tabs.push(tab);
    return tab;
  };
  afterEach(async () => {
    // A test may have closed a tab's context itself, which has then gone from the browser.
    const left = new Set(browser.browserContexts());
    const contexts = tabs.splice(0).map(({ page }) => page.browserContext());
    await Promise.all(contexts.filter((one) => left.has(one)).map((one) => one.close()));
  });
  after(() => browser.close());
  return { demo, browser, openTab };
}

type Shared = Awaited<ReturnType<typeof shareDemoInBrowser>>;

/**
 * Opens a tab that the tests of a file or of a suite share, because loading the page takes longer than most of them. Each finds it
 * signed out, at the page's own address. It delivers tokens by address unless `prepare` says otherwise.
 */
export function shareTab(
  { demo, browser }: Shared,
  prepare: (page: Page) => Promise<unknown> = deliverByUrl,
) {
  const shared = {} as { tab: DemoPage };
  const open = async () => {
    shared.tab = await openDemo(browser, demo.vendor, prepare);
  };
  before(open);
  beforeEach(() => shared.tab.signOut());
  // Who knows how a test that fails leaves its tab.
  afterEach(async (test) => {
    if (!('passed' in test) || test.passed) return;
    const context = shared.tab.page.browserContext();
    if (browser.browserContexts().includes(context)) await context.close();
    await open();
  });
  return shared;
}
