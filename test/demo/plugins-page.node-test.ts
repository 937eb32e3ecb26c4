import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { BuilderClient } from 'plugin-editor/client.js';
import type { HTTPRequest } from 'puppeteer-core';
import { findings } from '../support/axe.ts';
import { shareDemoInBrowser } from './demo-in-browser.ts';
import { deployPlugin, editorTokenOf } from './deploy.ts';
import { deliverByUrl, editorText } from './page-driver.ts';
import type { DemoPage } from './page-driver.ts';
import { targetOf } from './vendor-setup.ts';

const { demo, openTab } = await shareDemoInBrowser();

/** A greeting of the form that the mail's namespace has. */
const greeting = (word: string) =>
  `export const run = ({ customer }) => ({ greeting: '${word} ' + customer.firstName });\n`;

const FAILING = `export const run = (input) => {
  console.log('Weighing', input);
  throw new Error('no flour <b>left</b>');
};
`;

describe('the plugins of a customer', () => {
  let tab: DemoPage;
  const open = async (user: string) => {
    tab = await openTab(deliverByUrl);
    await tab.signIn(user);
    return tab.page;
  };
  const live = (version: string) => tab.page.waitForSelector(`[data-version="${version}"][data-live]`);
  const untilText = (selector: string, text: string) =>
    tab.page.waitForFunction(
      (query, part) => [...document.querySelectorAll(query)].some((one) => one.textContent?.includes(part)),
      { polling: 50 },
      selector,
      text,
    );
  /** Waits for a run to be recorded, looking again as a user would. */
  const refreshUntil = async (text: string) => {
    await tab.page.waitForFunction(
      (part) => {
        if (document.querySelector('.recent')?.textContent?.includes(part)) return true;
        document.querySelector<HTMLElement>('#refresh')?.click();
        return false;
      },
      { polling: 300 },
      text,
    );
  };

  test('show what is live, who deployed each version and why; rolling back changes what runs', async () => {
    const target = targetOf('customer-7', 'greet-customer');
    await deployPlugin(demo, 'ada', greeting('one'), {
      target,
      message: 'For the opening',
    });
    await deployPlugin(demo, 'bram', greeting('two'), {
      target,
      message: 'With <em>feeling</em>',
    });
    const page = await open('ada');
    await untilText('.card', 'v1.0.1 is live');
    await untilText('.card', 'JavaScript');
    await tab.choosePlugin('greet-customer');
    await live('v1.0.1');
    await untilText('.work .letter', 'two Ines');
    const versions = await page.$$eval('.versions li', (all) => all.map((one) => one.innerText));
    assert.match(versions[0] ?? '', /v1\.0\.1[^]*Bram Okafor, [^]*With <em>feeling<\/em>/);
    assert.match(versions[1] ?? '', /v1\.0\.0[^]*Ada Lindqvist, [^]*For the opening/);

    await tab.click('#run-live');
    await untilText('.runs tbody', 'two Ines');
    await tab.click('[data-version="v1.0.0"] [data-make-live]');
    await live('v1.0.0');
    await untilText('.work .letter', 'one Ines');
    assert.match(await tab.text('.versions [role=status]'), /^v1\.0\.0 is live, chosen by Ada Lindqvist, /);
    await tab.click('#run-live');
    await untilText('.runs tbody', 'one Ines');
    assert.equal(await tab.text('.runs tbody th'), 'v1.0.0');
    // A deploy does not change what runs, until the newest is live again.
    await deployPlugin(demo, 'bram', greeting('three'), { target });
    const ran = page.waitForResponse((response) => response.url().endsWith('/plugins/runs'));
    await tab.click('#run-live');
    await ran;
    await page.waitForSelector('#run-live[aria-disabled=false]');
    assert.match(await tab.text('.runs tbody'), /one Ines/);
    await page.locator('nav h2 a').click();
    await untilText('.card', 'v1.0.0 is live, v1.0.2 is newer');
    await tab.choosePlugin('greet-customer');
    // The preview moves the versions below it: a click at where they were would be lost.
    await untilText('.work .letter', 'one Ines');
    await tab.click('#newest-again');
    await live('v1.0.2');
    await tab.click('#run-live');
    await untilText('.runs tbody', 'three Ines');
    assert.deepEqual(tab.complaints, []);
  });

  describe('when the page is refreshed while a version is being made live', () => {
    const target = targetOf('customer-8', 'greet-customer');
    before(async () => {
      await deployPlugin(demo, 'cleo', greeting('one'), { target });
      await deployPlugin(demo, 'cleo', greeting('two'), { target });
    });

    /** Makes v1.0.0 live, which reaches the back end only after a refresh, and after what is done `meanwhile`. */
    const makeLive = async (meanwhile?: () => Promise<unknown>) => {
      const page = await open('cleo');
      await tab.choosePlugin('greet-customer');
      await live('v1.0.1');
      await untilText('.work .letter', 'two Ines');
      const change = Promise.withResolvers<HTTPRequest>();
      await page.setRequestInterception(true);
      page.on('request', (request) => {
        if (request.method() === 'PUT' && request.postData()?.includes('v1.0.0')) change.resolve(request);
        else void request.continue();
      });
      await tab.click('[data-version="v1.0.0"] [data-make-live]');
      const held = await change.promise;
      const refreshed = page.waitForResponse(
        (response) => response.request().method() === 'GET' && response.url().includes('/plugins?'),
      );
      await tab.click('#refresh');
      await refreshed;
      await meanwhile?.();
      await held.continue();
    };

    test('show what that made true', async () => {
      await makeLive();
      await live('v1.0.0');
      assert.deepEqual(tab.complaints, []);
      await tab.click('#newest-again');
      await live('v1.0.1');
    });

    test('show why that was refused', async () => {
      await makeLive(async () => {
        const builder = new BuilderClient({
          baseUrl: demo.service,
          token: await editorTokenOf(demo, 'cleo', target),
        });
        const { namespace, fn: pluginName } = target;
        await builder.deleteVersion(
          { environment: 'com.example', userID: 'customer-8', namespace, pluginName },
          'v1.0.0',
        );
      });
      await untilText('.failure', 'There is no such version; it may have been deleted meanwhile.');
      await tab.page.waitForSelector('[data-version="v1.0.0"]', { hidden: true });
    });
  });

  test('show of a failed run its message, line and logs, but to a reader only that it failed', async () => {
    await deployPlugin(demo, 'ada', FAILING);
    const page = await open('ada');
    await tab.choosePlugin('add-record');
    await live('v1.0.0');
    await tab.click('#run-live');
    await untilText('.runs tbody .problem', 'Error: no flour <b>left</b>');
    await refreshUntil('no flour');
    for (const section of ['.runs tbody', '.recent']) {
      const shown = await page.$eval(section, (one) => one.textContent?.replaceAll(/\s+/g, ' ') ?? '');
      assert.match(shown, /plugin-error Error: no flour <b>left<\/b> Line 3/, section);
      assert.match(shown, /One line of logs.*Weighing \{.*1042/, section);
    }
    await page.locator('nav h2 a').click();
    await untilText('.card .last-failure', 'plugin-error');
    await tab.choosePlugin('add-record');
    await page.waitForSelector('.recent details');
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(tab.complaints, []);
    await page.browserContext().close();

    const reader = await open('dan');
    await tab.choosePlugin('add-record');
    await untilText('.recent li', 'plugin-error');
    assert.doesNotMatch(await reader.content(), /no flour|Weighing/);
  });

  test('can be read but not deployed by a reader', async () => {
    const target = targetOf('customer-7', 'price-rule');
    await deployPlugin(demo, 'ada', 'export const run = () => ({ unitPrice: 1 });\n', { target });
    await deployPlugin(demo, 'ada', 'export const run = () => ({ unitPrice: 2 });\n', { target });
    const page = await open('dan');
    await tab.choosePlugin('price-rule');
    await live('v1.0.1');
    const controls = '[data-make-live], #newest-again, #run-live, #run-versions, .new-plugin';
    assert.equal(await page.$(controls), null);
    assert.deepEqual(await findings(page), []);
    assert.match(await editorText(await tab.launch()), /unitPrice: 2/);

    // Neither the token that the page got nor the vendor's back end lets a reader change what runs.
    const token = await editorTokenOf(demo, 'dan', target);
    const place = `${target.ident}/${target.namespace}/${target.fn}`;
    const refused = await fetch(`${demo.service}api/v1/draft/${place}/promote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    const { error } = (await refused.json()) as { error: { code: string } };
    assert.deepEqual([refused.status, error.code], [403, 'not-permitted']);
    const own = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const body = '{"ident":"com.example.customer-7","name":"price-rule","version":"v1.0.0"}';
      return (await fetch('/plugins/live', { method: 'PUT', headers, body })).status;
    });
    assert.equal(own, 403);
  });

  test('leave the editor as much height as the page allows, at 1280 by 800 pixels', async () => {
    const page = await open('bram');
    await page.setViewport({ width: 1280, height: 800 });
    await page.select('[name=tenant]', 'com.example.customer-8');
    await tab.choosePlugin('add-record');
    await tab.launch();
    const height = () =>
      page.$eval('plugin-editor >>> iframe', (frame) => frame.getBoundingClientRect().height);
    assert.ok((await height()) > 650);
    await deployPlugin(demo, 'bram', 'export const run = () => ({ accept: true });\n', {
      target: targetOf('customer-8'),
    });
    await page.evaluate(() => document.dispatchEvent(new Event('plugin-editor-deploy')));
    await untilText('.editor-bar .live', 'v1.0.0 is live');
    assert.ok((await height()) > 650);
    // The author makes another version live in the editor.
    const target = targetOf('customer-8');
    await deployPlugin(demo, 'bram', 'export const run = () => ({ accept: false });\n', { target });
    await page.evaluate(() => document.dispatchEvent(new Event('plugin-editor-live')));
    await untilText('.editor-bar .live', 'v1.0.1 is live');
  });
});
