import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { launchChromium, startDemo } from '../demo/harness.ts';
import { DemoPage } from '../demo/page-driver.ts';
import { pressKeys } from '../support/press-keys.ts';
import { readFrame } from '../support/read-frame.ts';
import { respondInMarkup, markup } from './markup-service.ts';
import { until } from '../support/until.ts';

/** Runs in a frame: what the markup became, and where it is shown as the text that it is. */
function lookForMarkup(): { broken: string[]; shown: string[] } {
  const broken = '__xss' in window ? ['a script ran'] : [];
  const texts: string[] = [];
  const read = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll('*')) {
      if (element.hasAttribute('data-xss')) broken.push(element.outerHTML.slice(0, 80));
      for (const name of element.getAttributeNames())
        if (name.startsWith('on')) broken.push(`<${element.localName} ${name}>`);
      if ('value' in element) texts.push(String(element.value));
      if (element.shadowRoot) read(element.shadowRoot);
      for (const node of element.childNodes)
        if (node.nodeType === Node.TEXT_NODE) texts.push(node.nodeValue ?? '');
    }
    // A text editor shows a line in several parts.
    for (const line of root.querySelectorAll('.cm-line')) texts.push(line.textContent ?? '');
  };
  read(document);
  const shown = texts.flatMap((text) =>
    [...text.matchAll(/<img data-xss="([\w ]+)"/g)].map(([, label = '']) => label),
  );
  return { broken, shown };
}

test('HTML in any name, text, error or log is shown as text: on the demo page, in both elements and in the editor', async (t) => {
  const [demo, browser] = await Promise.all([startDemo(), launchChromium()]);
  t.after(async () => {
    await browser.close();
    await demo.stop();
  });
  const context = await browser.createBrowserContext();
  const tab = new DemoPage(await context.newPage());
  const { page } = tab;
  // The policy would hide what the pages themselves do not hinder.
  await page.setBypassCSP(true);
  await page.setViewport({ width: 1440, height: 900 });
  // Signed in for real, so that tokens are given; what the session says is markup all the same.
  await page.goto(demo.vendor);
  await tab.signIn('ada');
  await page.evaluateOnNewDocument(() => {
    addEventListener('message', ({ data }: MessageEvent<{ session?: string }>) =>
      Object.assign(window, { session: data.session }),
    );
  });
  const say = await respondInMarkup(page, demo.service.replace('localhost', '127.0.0.1'));
  await page.reload();

  const shown = new Set<string>();
  const look = async (on: Page = page) => {
    for (const frame of on.frames()) {
      const found = await readFrame(frame, lookForMarkup);
      if (!found) continue;
      assert.deepEqual(found.broken, [], frame.url());
      for (const label of found.shown) shown.add(label);
    }
  };
  const shows = (...labels: string[]) =>
    until('all labels of what is shown', async () => {
      await look();
      return labels.every((label) => shown.has(label));
    });

  await shows('user', 'tenant', 'plugin', 'runs', 'stranger', 'live of a card', 'latest of a card');
  await page.locator('nav a[aria-current], nav li a').click();
  await shows('pretty', 'short', 'feature');
  await shows('live version', 'time of a pin', 'pinned by', 'deployed version', 'time', 'by', 'message');
  await shows('recorded version', 'time of a run', 'recorded code', 'recorded message', 'recorded log');
  await tab.click('[data-make-live]');
  await tab.click('#run-versions');
  await shows('version run', 'output', 'failure code', 'failure message', 'failure log', 'sample');
  await page.locator('[name=name]').fill('x');
  await page.keyboard.press('Enter');
  await shows('name problem');

  const frame = await tab.launch();
  await shows('source', 'test');
  // A locator waits until the text stands still: a click beside it would leave the keys to the page.
  await frame.locator('.cm-content').click();
  await frame.waitForSelector('.cm-focused');
  await pressKeys(page, 'Control', 'b');
  await shows('build log', 'diagnostic', 'second diagnostic');
  await pressKeys(page, 'Control', 'Enter');
  // All tests have run: one thing is done at a time.
  await frame.waitForFunction(() => /\d failed/.test(document.body.innerText), { polling: 50 });
  // What a test gave is drawn once it is opened.
  for (const summary of await frame.$$('details.test:not([open]) > summary')) await summary.click();
  await shows('result', 'log', 'description', 'payload', 'error code', 'error', 'one log', 'identifier');
  await pressKeys(page, 'Control', 'Shift', 'd');
  // A test failed, so it is asked for.
  await frame.locator('dialog.ask[open] .button.primary').click();
  await shows('version');

  // What the editor says to the page around it is a stranger's text there.
  await frame.evaluate((message) => {
    const { session } = window as unknown as { session: string };
    parent.postMessage({ channel: 'plugin-editor', version: 1, type: 'error', session, message }, '*');
  }, markup('words of the editor'));
  await tab.state('error');
  await shows('words of the editor');

  // The back end's words for what it refuses, and what its staff see.
  await tab.click('#leave-editor');
  say.refusal = true;
  await tab.click('#refresh');
  await shows('refusal');
  say.staff = true;
  await page.reload();
  await shows('customer');
});
