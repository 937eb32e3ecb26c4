import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import type { Frame, HTTPRequest } from 'puppeteer-core';
import { countFrames } from '../support/count-frames.ts';
import { shareDemoInBrowser, shareTab } from './demo-in-browser.ts';
import { editorText, isEditor } from './page-driver.ts';
import { until } from '../support/until.ts';

const demoInBrowser = await shareDemoInBrowser();
const { demo } = demoInBrowser;

describe('the demo page', () => {
  /** The addresses that the page requested. */
  const requests: string[] = [];
  /** Whether a request was answered for the server. */
  let intercept: (request: HTTPRequest) => boolean = () => false;

  /** It delivers tokens by message unless another way is chosen. */
  const shared = shareTab(demoInBrowser, async (page) => {
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      requests.push(request.url());
      if (!intercept(request)) void request.continue();
    });
    // Read in the page itself: the browser does not always hand a body to who watches from outside.
    await page.evaluateOnNewDocument(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      const fetch = window.fetch.bind(window);
      window.fetch = async (...request) => {
        const response = await fetch(...request);
        if (response.ok && response.url.endsWith('/plugins/editor-token')) {
          seen.push(((await response.clone().json()) as { token: string }).token);
        }
        return response;
      };
    });
  });
  const tokens = () => shared.tab.page.evaluate(() => (window as unknown as { seen: string[] }).seen);

  const open = async (user = 'ada') => {
    intercept = () => false;
    const { tab } = shared;
    await tab.page.evaluate(() => (window as unknown as { seen: string[] }).seen.splice(0));
    await tab.signIn(user);
    if (await tab.page.$('[name=delivery][value=url]:checked')) await tab.chooseDelivery('message');
    return tab;
  };

  const frameOf = () => shared.tab.page.frames().find(isEditor);

  /** Marks the frame's page: a reload takes that away. */
  const mark = (frame: Frame) => frame.evaluate(() => void Object.assign(window, { marked: true }));
  const isMarked = (frame: Frame) => frame.evaluate(() => 'marked' in window);

  const type = async (frame: Frame, text: string) => {
    await frame.locator('.cm-content').click();
    // Until then the keys go to the page.
    await frame.waitForSelector('.cm-focused');
    await shared.tab.page.keyboard.type(text);
  };
  const untilText = (frame: Frame, part: string) =>
    frame.waitForFunction(
      (text) => document.querySelector('.cm-content')?.textContent?.includes(text),
      { polling: 50 },
      part,
    );
  const time = (which: string) => shared.tab.text(`[data-time=${which}]`);

  test('saves without a reload when a token ends during work', async () => {
    const tab = await open('bram');
    const { page } = tab;
    await tab.choosePlugin('add-record');
    const frame = await tab.launch();
    await mark(frame);
    const [token] = await tokens();
    // The renewals that the launcher makes by itself fail, as those of a machine asleep would.
    let asleep = true;
    const ended: number[] = [];
    intercept = (request) => {
      if (!asleep || !request.url().endsWith('/plugins/editor-token')) return false;
      void request.abort('internetdisconnected');
      return true;
    };
    const draft = new URL('/api/v1/draft/com.example.customer-7/orders/add-record', demo.service);
    // All tokens end now, as they do after a while.
    const database = new DatabaseSync(join(demo.dataDir, 'service.sqlite'), { timeout: 10_000 });
    database.exec('DELETE FROM editor_tokens');
    database.close();
    await until('the end of the token', async () => {
      const response = await fetch(draft, { headers: { authorization: `Bearer ${token}` } });
      return response.status === 401;
    });
    // The editor's save meets the end of its token; only then can another one be had.
    page.on('response', (response) => {
      if (response.request().method() !== 'POST' || !response.url().endsWith(draft.pathname)) return;
      ended.push(response.status());
      if (response.status() === 401) asleep = false;
    });
    const saved = page.waitForResponse(
      (response) =>
        response.request().method() === 'POST' && response.url().endsWith(draft.pathname) && response.ok(),
    );
    await type(frame, '// still here ');
    await saved;
    assert.equal(ended[0], 401);
    await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty === false);
    assert.equal(await isMarked(frame), true);
    assert.match(await editorText(frame), /\/\/ still here/);
    await until('the event of the save', async () =>
      (await tab.events()).some((event) => event.startsWith('plugin-editor-save')),
    );
    assert.equal(await page.$eval('plugin-editor', (editor) => editor.state), 'ready');
  });

  test('asks before unsaved work is left, and offers it again to a user who left it', async () => {
    const tab = await open('bram');
    const { page } = tab;
    await tab.choosePlugin('greet-customer');
    const frame = await tab.launch();
    const saves = { broken: true };
    intercept = (request) => {
      if (!saves.broken || request.method() !== 'POST' || !request.url().includes('/api/v1/draft/'))
        return false;
      void request.respond({ status: 503, headers: { 'access-control-allow-origin': '*' } });
      return true;
    };
    await type(frame, '// unsaved ');
    await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty);
    await page.locator('nav ::-p-text(price-rule)').click();
    await page.waitForSelector('.question');
    assert.match(await tab.text('.question'), /greet-customer has changes that are not saved yet/);
    assert.match(await tab.text('.question'), /price-rule opens as soon as they are/);
    assert.match(await editorText(frame), /\/\/ unsaved/);
    assert.ok((await tab.events()).some((event) => event.startsWith('plugin-editor-discard')));

    await tab.click('#stay');
    await page.waitForSelector('.question', { hidden: true });
    assert.equal(await page.evaluate(() => location.hash), '#/com.example.customer-7/greet-customer');
    assert.match(await editorText(frame), /\/\/ unsaved/);

    await page.locator('nav ::-p-text(price-rule)').click();
    await page.waitForSelector('.question');
    saves.broken = false;
    // By itself the editor tries again up to 30 s later, where the failures took long.
    await page.evaluate(
      () =>
        void document
          .querySelector('plugin-editor')
          ?.save()
          .catch(() => {}),
    );
    await untilText(frame, 'price-rule');
    await page.waitForSelector('.question', { hidden: true });
    await page.locator('nav ::-p-text(greet-customer)').click();
    await untilText(frame, '// unsaved');
    await tab.state('ready');

    saves.broken = true;
    await type(frame, '// left behind ');
    await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty);
    await tab.click('#leave-editor');
    await page.waitForSelector('.question');
    assert.match(await tab.text('.question'), /The editor closes/);
    await tab.click('#go-on');
    await tab.state('idle');
    await page.waitForSelector('.question', { hidden: true });
    saves.broken = false;
    const again = await tab.launch();
    // Either the save that the editor sent as it went came through, or this browser offers what it kept.
    await again.waitForFunction(() =>
      /\/\/ left behind|This browser kept changes/.test(document.body.innerText),
    );
  });

  test('delivers tokens to one frame by message, and by address once that is chosen', async () => {
    const tab = await open();
    const { page } = tab;
    await tab.choosePlugin('add-record');
    // Loaded ahead, before there is a plugin or a token.
    await until('the frame of the editor', () => !!frameOf());
    assert.deepEqual(await tokens(), []);
    const frame = await tab.launch();
    assert.match(await editorText(frame), /add-record/);
    assert.ok(await tab.saidReady());
    assert.equal((await tab.events()).includes('plugin-editor-ready confirmed: false'), false);
    await mark(frame);
    for (const name of ['price-rule', 'greet-customer', 'add-record']) {
      await page.locator(`nav ::-p-text(${name})`).click();
      await untilText(frame, name);
      await tab.state('ready');
      assert.equal(await isMarked(frame), true);
    }
    assert.equal(await countFrames(page), 1);
    assert.match(await time('message-launch'), /^\d+ ms$/);
    assert.match(await time('message-next'), /^\d+ ms$/);

    const all = await tokens();
    assert.ok(all.length >= 3);
    const hasToken = (text: string) => all.some((token) => text.includes(token));
    const addresses = [
      page.url(),
      ...page.frames().map((one) => one.url()),
      ...requests,
      ...(await page.evaluate(() => performance.getEntries().map(({ name }) => name))),
      ...(await frame.evaluate(() => [
        document.URL,
        document.referrer,
        ...performance.getEntries().map(({ name }) => name),
      ])),
    ];
    assert.ok(addresses.some((address) => address.includes('/api/v1/draft/')));
    assert.deepEqual(addresses.filter(hasToken), []);
    assert.equal(hasToken(await page.content()), false);
    assert.deepEqual(tab.complaints, []);

    assert.equal(await time('url-launch'), '–');
    assert.match(await tab.text('.source'), /token-delivery="message"\n {2}preload/);
    await tab.chooseDelivery('url');
    await page.waitForFunction(() => document.querySelector('[data-time=url-launch]')?.textContent !== '–');
    assert.match(await time('url-launch'), /^\d+ ms$/);
    // Puppeteer may hear of the new frame a moment after the page.
    await tab.editorFrame(frame);
    assert.doesNotMatch(await tab.text('.source'), /token-delivery|preload/);
    assert.ok(await tab.saidReady());

    // The choice is kept for the next visit.
    await page.reload();
    await page.waitForSelector('[name=delivery][value=url]:checked');
  });
});
