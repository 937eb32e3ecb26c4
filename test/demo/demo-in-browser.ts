import { after, afterEach } from 'node:test';
import { launchChromium, startDemo } from './harness.ts';
import { openDemo } from './page-driver.ts';
import type { DemoPage } from './page-driver.ts';

/**
 * Starts one demo and one Chromium for all tests of a file, to be called at its top. Each tab has cookies and storage of its
 * own, and is closed after the test that opened it.
 */
export async function startDemoInBrowser(environment: Record<string, string> = {}) {
  const [demo, browser] = await Promise.all([startDemo(environment), launchChromium()]);
  const tabs: DemoPage[] = [];
  const openTab = async () => {
    const tab = await openDemo(browser, demo.vendor);
    tabs.push(tab);
    return tab;
  };
  afterEach(async () => {
    // A test may have closed a tab's context itself, which has then gone from the browser.
    const left = new Set(browser.browserContexts());
    const contexts = tabs.splice(0).map(({ page }) => page.browserContext());
    await Promise.all(contexts.filter((one) => left.has(one)).map((one) => one.close()));
  });
  after(async () => {
    await browser.close();
    await demo.stop();
  });
  return { demo, browser, openTab };
}
