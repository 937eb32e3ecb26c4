import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { type EditorService, openPage, startEditorService } from '../harness.ts';
import { openLauncher } from '../launcher-page.ts';

const { service, browser } = await startEditorInBrowser({ editorAddressTokens: false });

describe('an editor that takes no token from an address', () => {
  const target = { fn: 'add-record', template: 'typescript' };

  /** Opens a link in a new tab, as a user who was sent it. */
  async function follow(to: EditorService, link: string, prepare?: (page: Page) => Promise<unknown>) {
    const context = await browser.createBrowserContext();
    const from = to.seen.length;
    const opened = await openPage(context, 'about:blank');
    await prepare?.(opened.page);
    await opened.page.goto(link);
    const { entries } = await (await opened.page.createCDPSession()).send('Page.getNavigationHistory');
    return {
      ...opened,
      context,
      addresses: [await opened.page.evaluate(() => location.href), ...entries.map(({ url }) => url)].join(
        ' ',
      ),
      apiRequests: () => to.seen.slice(from).filter(({ path }) => path.startsWith('/api/')),
    };
  }

  test('opens nothing by a link with a token, removes it from the address and says what to do', async () => {
    const token = await service.token(target);
    const tab = await follow(service, await service.url(target, token));
    await tab.until('Open the plugin from its app');
    await tab.until('add-record');
    assert.equal(tab.addresses.includes(token), false);
    assert.match(tab.addresses, /fn=add-record/);
    assert.deepEqual(tab.apiRequests(), []);
    await tab.page.reload();
    await tab.until('The editor was opened without a token');
    assert.deepEqual(tab.apiRequests(), []);
    assert.deepEqual(tab.problems, []);
    await tab.context.close();
  });

  test('still opens by message in a frame whose address held a token', async () => {
    const from = service.seen.length;
    const launcher = await openLauncher(browser, service, await service.url(target, 'from-the-address'));
    try {
      const session = await launcher.open(target);
      await launcher.waitForMessage('ready', session);
      assert.match(await launcher.text(), /add-record/);
      assert.deepEqual(launcher.problems, []);
      const reads = service.seen.slice(from).filter(({ path }) => path.startsWith('/api/v1/draft/'));
      assert.equal(reads.length, 1);
    } finally {
      await launcher.close();
    }
  });

  test('is the default where nothing says whether it may', async () => {
    const trusting = await startEditorService();
    try {
      const link = await trusting.url(target);
      const forget = (page: Page) =>
        page.evaluateOnNewDocument(() => {
          // Before the editor's own module, which runs once the page is parsed.
          document.addEventListener('readystatechange', () =>
            document.querySelector('meta[name="plugin-editor-address-tokens"]')?.remove(),
          );
        });
      const defaultPage = await follow(trusting, link, forget);
      await defaultPage.until('Open the plugin from its app');
      assert.deepEqual(defaultPage.apiRequests(), []);
      await defaultPage.context.close();
    } finally {
      await trusting.close();
    }
  });
});
