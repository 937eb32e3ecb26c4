import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Frame, Page } from 'puppeteer-core';
import { startDemo } from '../demo/harness.ts';
import { openDemo } from '../demo/page-driver.ts';
import { launchChromium } from '../support/chromium.ts';
import { pressKeys } from '../support/press-keys.ts';
import { savePriceRule } from './price-rule.ts';

// Records what the running demo's service answers to the editor, for the front page of the documentation:
// `node tools/run.js packages chromium test/docs/record.ts`, after a change of the editor or the service.

interface Entry {
  request: string;
  afterDeploy: boolean;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The same as a frame reports it: with the body of the request, and not yet with its digest. */
type Recorded = Entry & { sent: string };

const demo = await startDemo();
const browser = await launchChromium();
try {
  await savePriceRule(demo);
  const tab = await openDemo(browser, demo.vendor);
  const { page } = tab;
  await page.setViewport({ width: 1400, height: 1000 });
  await tab.signIn('ada');
  await tab.choosePlugin('price-rule');
  // The preview runs the live version with the vendor's data, which the panel of runs shows.
  await page.waitForSelector('.work[aria-busy=false] .cases li');
  const entries: Entry[] = [];
  await page.exposeFunction('record', ({ request, sent, ...response }: Recorded) => {
    const digest = createHash('sha256').update(sent).digest('hex').slice(0, 16);
    entries.push({ request: sent ? `${request} ${digest}` : request, ...response });
  });
  await page.evaluateOnNewDocument(recordRequests);
  await page.reload();
  await tab.choosePlugin('price-rule');
  const frame = await tab.launch();
  await use(page, frame);
  // The last of equal requests is the one to answer with.
  const unique = new Map(entries.map((entry) => [`${entry.afterDeploy} ${entry.request}`, entry]));
  const text = JSON.stringify([...unique.values()], null, 2);
  await writeFile(new URL('../../tools/site/try/recording.json', import.meta.url), `${text}\n`);
  console.log(`${unique.size} responses, ${Math.round(text.length / 1000)} KB`);
  for (const { request, status, body } of unique.values()) console.log(status, request, body.length);
} finally {
  await browser.close();
  await demo.stop();
}

/** Runs in each frame before its scripts, and reports every request to the service with its response. */
function recordRequests(): void {
  const send = globalThis.fetch;
  let afterDeploy = false;
  globalThis.fetch = async (...args) => {
    const request = new Request(...args);
    const { pathname, search } = new URL(request.url);
    if (!pathname.startsWith('/api/v1/')) return send(request);
    const sent = await request.clone().text();
    const wasDeployed = afterDeploy;
    const response = await send(request);
    if (pathname.endsWith('/promote')) afterDeploy = true;
    const headers: Record<string, string> = {};
    for (const name of ['content-type', 'etag']) {
      const value = response.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    const answer = { afterDeploy: wasDeployed, status: response.status, headers };
    const body = response.clone().text();
    void body.then((text) =>
      (globalThis as unknown as { record(response: Recorded): void }).record({
        request: `${request.method} ${pathname}${search}`,
        sent,
        ...answer,
        body: text,
      }),
    );
    return response;
  };
}

/** Does what a visitor of the front page may do. */
async function use(page: Page, frame: Frame): Promise<void> {
  const shows = (text: string) =>
    frame.waitForFunction((part) => document.body.innerText.includes(part), { polling: 50 }, text);
  const open = (panel: string) => frame.locator(`#tab-${panel}`).click();
  await open('tests');
  await frame.locator('::-p-aria([name="Run all"][role="button"])').click();
  await shows('2 passed');
  await frame.focus('.cm-content');
  await pressKeys(page, 'Control', 'b');
  await frame.waitForSelector('.status-built');
  await open('versions');
  await frame.waitForSelector('.history-item');
  await frame.locator('::-p-aria([name="Compare with the draft: v1.0.0"])').click();
  await frame.waitForSelector('dialog.compare[open] .cm-content');
  await page.keyboard.press('Escape');
  await open('runs');
  await frame.locator('.run-record').click();
  await frame.locator('::-p-aria([name="Deploy"][role="button"])').click();
  await frame.waitForSelector('dialog.deploy[data-state=settled] .difference, dialog.deploy text-difference');
  await frame.type('#deploy-message', 'Regulars save 20 cents');
  await frame.locator('dialog.deploy [type=submit]').click();
  await shows('v1.0.2 deployed');
  await open('runs');
  await open('versions');
  await shows('Regulars save 20 cents');
}
