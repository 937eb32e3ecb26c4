import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countFrames } from '../support/count-frames.ts';
import { pressKeys } from '../support/press-keys.ts';
import { findings } from '../support/axe.ts';
import type { Page } from 'puppeteer-core';
import { shareDemoInBrowser, shareTab } from './demo-in-browser.ts';
import { signInAt } from './deploy.ts';
import { editorText } from './page-driver.ts';
import { until } from '../support/until.ts';

const demoInBrowser = await shareDemoInBrowser();
const { demo, browser, openTab } = demoInBrowser;
const shared = shareTab(demoInBrowser);

/** What Chromium itself says of a response of 403. */
const refusedRequest =
  /^Failed to load resource: the server responded with a status of 403|^<plugin-editor> token-unauthorized/;

/** Holds responses back from the page: those to requests whose method and address fit. */
async function holdResponses(page: Page, requests: RegExp) {
  const late = await page.evaluateHandle((source) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const holding = { held: 0, release: resolve };
    const fetch = window.fetch.bind(window);
    window.fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (new RegExp(source).test(`${init?.method ?? 'GET'} ${response.url}`)) {
        holding.held++;
        await promise;
      }
      return response;
    };
    return holding;
  }, requests.source);
  return {
    untilHeld: (count: number) =>
      page.waitForFunction(({ held }, expected) => held === expected, { polling: 50 }, late, count),
    /** Resolves once the page has read them, and has the responses to what it then asked for. */
    release: () =>
      page.evaluate(async ({ release }) => {
        release();
        for (let i = 0; i < 2; i++) await (await fetch('/session')).json();
      }, late),
  };
}

describe('the demo page', () => {
  test('launches the editor in the chosen colours, shows a saved edit after a reload, keeps the editor where another tab signed out, and closes it on signing out', async () => {
    const tab = await openTab();
    const { page } = tab;
    await tab.signIn('ada');
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.locator('.theme ::-p-text(Dark)').click();
    await until('dark colours', async () => (await background()) !== light);
    const dark = await background();
    await tab.choosePlugin('price-rule');
    await tab.chooseLanguage('JavaScript');
    const frame = await tab.launch();
    assert.match(await editorText(frame), /price-rule/);
    // JavaScript, as chosen: the TypeScript template has types.
    assert.doesNotMatch(await editorText(frame), /: string/);

    await frame.locator('.cm-content').click();
    await pressKeys(page, 'Control', 'Home');
    await page.keyboard.type('// Salt, butter, flour');
    await page.keyboard.press('Enter');
    await frame.waitForFunction(() =>
      document.querySelector('[role=status]')?.textContent?.startsWith('Saved'),
    );

    await page.reload();
    const again = await tab.launch();
    assert.match(await editorText(again), /^\/\/ Salt, butter, flour\n/);
    assert.match(await editorText(again), /price-rule/);
    assert.equal(await background(), dark);
    assert.equal(
      await page.$eval('.theme :checked', (radio) => radio.parentElement?.textContent?.trim()),
      'Dark',
    );
    assert.equal(await again.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches), true);
    assert.deepEqual(tab.complaints, []);

    // Another tab signs out.
    await page.evaluate(() => fetch('/session', { method: 'DELETE' }));
    await page.locator('.tools ::-p-text(Reload)').click();
    await page.waitForSelector('.failure');
    assert.match(await tab.text('.failure'), /stays as it is\. You are signed out, .* Sign in again/);
    assert.equal(await page.$eval('plugin-editor', (editor) => editor.state), 'ready');
    assert.equal(await countFrames(page), 1);

    await page.evaluate(() => {
      const log: string[] = [];
      Object.assign(window, { order: log });
      document.addEventListener('plugin-editor-state', (event) => log.push(event.state));
      const fetch = window.fetch.bind(window);
      window.fetch = (input, init) => {
        log.push(
          `${init?.method ?? 'GET'} ${document.querySelector('#sign-out') ? 'signed in' : 'signed out'}`,
        );
        return fetch(input, init);
      };
    });
    await tab.click('#sign-out');
    await page.waitForSelector('[data-user=ada]');
    assert.deepEqual(await page.evaluate(() => (window as unknown as { order: string[] }).order), [
      'idle',
      'DELETE signed in',
      // A timer that still asked for the user's data would be refused.
      'GET signed out',
    ]);
    assert.equal(await countFrames(page), 0);
  });

  test('refuses another tenant’s plugin, and says why', async () => {
    const { tab } = shared;
    const { page } = tab;
    const tokens: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/plugins/editor-token')) tokens.push(response.status());
    });
    await tab.signIn('ada');
    await tab.click('#try-stranger');
    await tab.state('error');
    // Puppeteer may hear of the response a moment after the page.
    await until('the response of the token endpoint', () => tokens.length > 0);
    assert.deepEqual(tokens, [403]);
    assert.equal(await countFrames(page), 0);
    const [code, view] = await page.$eval('plugin-editor', (editor) => [
      editor.error?.code,
      editor.shadowRoot?.querySelector('[part=error]')?.textContent ?? '',
    ]);
    assert.equal(code, 'token-unauthorized');
    assert.match(view ?? '', /You may not open this plugin/);
    const explanation = await tab.text('.refusal');
    assert.match(explanation, /com\.example\.customer-8/);
    assert.match(explanation, /403, token-unauthorized/);
    assert.ok((await tab.events()).some((event) => /^plugin-editor-error .*status 403/.test(event)));
    assert.deepEqual(
      tab.complaints.filter((one) => !refusedRequest.test(one)),
      [],
    );
  });

  test('shows the events without tokens, and the HTML of its elements, and gets a new token for a new tab and for another plugin', async () => {
    const { tab } = shared;
    const { page } = tab;
    let tokens = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/plugins/editor-token')) tokens++;
    });
    await page.browserContext().setPermission(demo.vendor.slice(0, -1), {
      permission: { name: 'clipboard-write' },
      state: 'granted',
    });
    await tab.signIn('cleo');
    await tab.openDrawer();
    await tab.click('#clear-log');
    await tab.closeDrawer();
    await tab.choosePlugin('price-rule');
    await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
    await tab.chooseLanguage('JavaScript');
    await tab.launch();
    assert.equal(tokens, 1);
    await until('the event of an editor that is ready', () => tab.saidReady());
    const events = await tab.events();
    assert.match(events[0] ?? '', /^plugin-features-load record: languages \[.*javascript.*\], features \[/);
    assert.deepEqual(events.slice(1, 3), [
      'plugin-editor-state state: loading, previous: idle',
      'plugin-editor-state state: ready, previous: loading',
    ]);
    // From the frame's address: the browser does not always hand a response's body to who watches from outside.
    const token = await page.$eval('plugin-editor >>> iframe', (frame) =>
      new URL(frame.src).searchParams.get('token'),
    );
    assert.ok(token);
    const shown = await page.evaluate(() => document.querySelector('.inspector')?.textContent ?? '');
    assert.equal(shown.includes(token), false);

    const written = await page.evaluate(() => {
      const source = document.querySelector('.source')?.textContent ?? '';
      // Inert, and past the page's policy on strings that become HTML.
      const attributesIn = (name: string) =>
        Object.fromEntries(
          [
            ...(new RegExp(`<${name}\\n([^>]*)>`).exec(source)?.[1] ?? '').matchAll(/([\w-]+)="([^"]*)"/g),
          ].map(([, key, value]) => [key, value]),
        );
      return [attributesIn('plugin-features'), attributesIn('plugin-editor')];
    });
    assert.deepEqual(written, [
      await tab.attributes('plugin-features'),
      await tab.attributes('plugin-editor'),
    ]);
    assert.equal(written[1]?.['template'], 'javascript');
    assert.equal(written[1]?.['fn'], 'price-rule');

    await tab.openDrawer();
    await tab.click('#clear-log');
    assert.deepEqual(await tab.events(), []);
    // By key: a click could miss the button, which webhooks that arrive above it move down.
    await page.focus('#copy-source');
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      () => document.querySelector('.inspector [role=status]')?.textContent === 'Copied',
    );
    await tab.closeDrawer();

    const newTab = browser.waitForTarget((target) => target.opener() === page.target());
    await page.locator('.tools ::-p-text(Open in new tab)').click();
    const opened = await (await newTab).page();
    await opened?.waitForSelector('.cm-content[contenteditable=true]');
    assert.equal(await opened?.evaluate(() => window.opener as unknown), null);
    assert.equal(tokens, 2);
    await opened?.close();

    await page.locator('nav ::-p-text(add-record)').click();
    await page.waitForSelector('plugin-editor[fn=add-record]');
    const frame = await tab.editorFrame();
    await frame.waitForFunction(() =>
      document.querySelector('.cm-content')?.textContent?.includes('add-record'),
    );
    assert.equal(tokens, 3);
    await tab.click('#leave-editor');
    await tab.state('idle');
    assert.equal(await countFrames(page), 0);
  });

  test('shows the user as signed in, and why, when signing out fails', async () => {
    const { tab } = shared;
    const { page } = tab;
    await tab.signIn('ada');
    await page.setOfflineMode(true);
    await tab.click('#sign-out');
    await page.waitForSelector('.failure ::-p-text(does not answer)');
    await page.setOfflineMode(false);
    await tab.click('#sign-out');
    await page.waitForSelector('[data-user=ada]');
  });

  test('shows nothing that arrives after its user has signed out', async () => {
    const { tab } = shared;
    const { page } = tab;
    await tab.signIn('ada');
    await tab.choosePlugin('add-record');
    const late = await holdResponses(page, /^POST .*\/plugins(?:\/runs)?$/);
    await tab.click('#run-live');
    await page.type('#new-plugin-name', 'weigh-flour');
    await tab.click('.new-plugin button');
    await late.untilHeld(2);
    await tab.click('#sign-out');
    await tab.signIn('bram');
    await tab.choosePlugin('add-record');
    await late.release();
    assert.equal(await tab.text('.account-name'), 'Bram Okafor');
    assert.equal(await page.evaluate(() => location.hash), '#/com.example.customer-7/add-record');
    assert.match(await tab.text('.runs [role=status]'), /^Larder’s back end runs the plugin/);
    assert.deepEqual(tab.complaints, []);
  });

  test('shows the user as signed out although a request of before is refused meanwhile', async (t) => {
    const { tab } = shared;
    const { page } = tab;
    await tab.signIn('cleo');
    await tab.choosePlugin('add-record');
    await page.waitForSelector('.versions');
    const send = await signInAt(demo.vendor, 'mia');
    const customer = { ident: 'com.example.customer-8' };
    t.after(() => send('POST', 'customers', customer));
    assert.equal((await send('DELETE', 'customers', customer)).status, 200);
    const refusal = await holdResponses(page, /^GET .*\/plugins\?/);
    const end = await holdResponses(page, /^DELETE /);
    await page.evaluate(() => document.dispatchEvent(new Event('plugin-editor-live')));
    await refusal.untilHeld(1);
    await tab.click('#sign-out');
    await end.untilHeld(1);
    await refusal.release();
    await end.release();
    assert.equal(await page.$('#sign-out'), null);
    await page.waitForSelector('[data-user=cleo]');
  });

  test('adds a new plugin to the list of the chosen tenant', async () => {
    const { tab } = shared;
    const { page } = tab;
    await tab.signIn('bram');
    await page.select('[name=tenant]', 'com.example.customer-8');
    await tab.choosePlugin('price-rule');
    assert.equal(await page.evaluate(() => location.hash), '#/com.example.customer-8/price-rule');
    assert.equal(await tab.text('main h1'), 'price-rule');
    assert.equal(
      await page.$eval('[name=tenant]', (select) => (select as HTMLSelectElement).value),
      'com.example.customer-8',
    );
    await page.goBack();
    await page.waitForSelector('.cards');

    await page.type('#new-plugin-name', 'Weigh Basket');
    await tab.click('.new-plugin button');
    const problem = await page.waitForSelector('#name-problem');
    assert.match((await problem?.evaluate((node) => node.textContent)) ?? '', /lower-case letters/);
    await page.$eval('#new-plugin-name', (input) => (input as HTMLInputElement).select());
    await page.type('#new-plugin-name', 'weigh-basket');
    await tab.click('.new-plugin button');
    await page.waitForSelector('.plugin-link[aria-current]');
    assert.equal(await tab.text('.plugin-link[aria-current]'), 'weigh-basket');
    assert.equal(await page.evaluate(() => location.hash), '#/com.example.customer-8/weigh-basket');

    await page.reload();
    await page.waitForSelector('#launch', { visible: true });
    assert.equal(await tab.text('main h1'), 'weigh-basket');
    assert.equal(
      await page.$eval('[name=tenant]', (select) => (select as HTMLSelectElement).value),
      'com.example.customer-8',
    );
  });
});

test('the drawer for developers opens, stays open and is accessible, and the page is mirrored where it is read from the right', async () => {
  const { tab } = shared;
  const { page } = tab;
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  await tab.signIn('ada');
  const isOpen = () => page.$eval('.inspector', (drawer) => drawer.checkVisibility());
  const right = () => page.$eval('main', (main) => main.getBoundingClientRect().right);
  for (const width of [360, 1440]) {
    await page.setViewport({ width, height: 900 });
    assert.deepEqual([await isOpen(), await right()], [false, width]);
    await tab.openDrawer();
    assert.equal((await right()) < width, width > 1200);
    assert.deepEqual(await findings(page), [], `${width} px`);
    await tab.click('#close-drawer');
    assert.equal(await isOpen(), false);
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'developers');
  }
  await tab.openDrawer();
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  const edges = ['.inspector', 'main', 'nav'].map((part) =>
    page.$eval(part, (element) => element.getBoundingClientRect().left),
  );
  const mirrored = await Promise.all(edges);
  assert.deepEqual(
    mirrored,
    mirrored.toSorted((a, b) => a - b),
  );

  await page.reload();
  await page.waitForSelector('.inspector', { visible: true });
  await tab.closeDrawer();
});
