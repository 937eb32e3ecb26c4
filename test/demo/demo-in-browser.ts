import { after, afterEach } from 'node:test';
import { afterAllFiles } from '../support/in-turn.ts';
import { type RunningDemo, launchChromium, startDemo } from './harness.ts';
import { openDemo } from './page-driver.ts';
import type { DemoPage } from './page-driver.ts';

let shared: Promise<RunningDemo> | undefined;

/**
 * Opens one Chromium for all tests of a file, to be called at its top, on a demo that the files of this process share, because
 * starting one takes as long as most tests. Each plugin is written by one file at most: of customer-7 `greet-customer` by `keyboard`,
 * `price-rule` and the added `weigh-basket` by `page`, `check-stock` and `convert-price` by `calls`; of customer-8 `greet-customer` by
 * `runs-page`. A file that writes another's plugin, or changes more than plugins, starts its own demo.
 */
export async function shareDemoInBrowser() {
  shared ??= startSharedDemo().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return openInBrowser(shared);
}

async function startSharedDemo(): Promise<RunningDemo> {
  const demo = await startDemo();
  afterAllFiles(demo.stop);
  return demo;
}

/** Starts one demo and one Chromium for all tests of a file, to be called at its top. */
export async function startDemoInBrowser() {
  const starting = startDemo();
  const opened = await openInBrowser(starting).catch(async (error: unknown) => {
    await (await starting).stop();
    throw error;
  });
  after(opened.demo.stop);
  return opened;
}

/** Each tab has cookies and storage of its own, and is closed after the test that opened it. */
async function openInBrowser(starting: Promise<RunningDemo>) {
  const [demo, browser] = await Promise.all([starting, launchChromium()]);
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
  after(() => browser.close());
  return { demo, browser, openTab };
}
