import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage } from '../harness.ts';
import { openLauncher } from '../launcher-page.ts';
import { pressKeys } from '../../support/press-keys.ts';
import { eventually } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();

// The files that the page names, by what stands before their hashes. The loader is the file that asks again for the others.
const html = await (await fetch(`${service.origin}/editor/`)).text();
const files = new Set(
  [...html.matchAll(/\/assets\/([\w-]+)-[\w-]{8}\.(?:js|css)"/g)].map(([, name]) => name!),
);
files.delete('loader');

// While a service is upgraded, and after it, a page asks for files that the node it reaches may not have.
describe('an editor whose service is being upgraded', () => {
  let count = 0;
  const gone = () => new Response('{}', { status: 404, headers: { 'cache-control': 'no-store' } });
  const pathOf = ({ url }: Request) => new URL(url).pathname;

  /** Opens a new plugin by the editor's address, in a new profile. */
  async function withEditor(
    respond: (path: string, request: Request) => Response | undefined,
    run: (page: Awaited<ReturnType<typeof openPage>>) => Promise<void>,
  ): Promise<void> {
    const context = await browser.createBrowserContext();
    service.script.respond = (request) => respond(pathOf(request), request);
    try {
      await run(
        await openPage(context, await service.url({ fn: `upgraded-${++count}`, template: 'typescript' })),
      );
    } finally {
      service.script.respond = undefined;
      await context.close();
    }
  }

  for (const name of files) {
    test(`opens although the first node that it asks for ${name} has another version`, async () => {
      let requests = 0;
      await withEditor(
        (path) => (path.includes(`/assets/${name}-`) && requests++ === 0 ? gone() : undefined),
        async (page) => {
          await page.untilOpen();
          assert.ok(requests > 1);
          assert.equal((await page.page.evaluate(() => location.href)).includes('token'), false);
          // The next upgrade finds as many tries as this one.
          const state = () => page.page.evaluate(() => JSON.stringify(history.state ?? {}));
          await eventually(state, (text) => text === '{}');
          const colour = await page.page.$eval(
            '.button.primary',
            (one) => getComputedStyle(one).backgroundColor,
          );
          assert.notEqual(colour, 'rgba(0, 0, 0, 0)');
        },
      );
    });
  }

  test('opens although no node has the version of its page any longer', async () => {
    let served = 0;
    await withEditor(
      (path) => {
        if (path !== '/editor/' || served++ > 0) return undefined;
        const headers = { 'content-type': 'text/html', 'cache-control': 'no-store' };
        // The loader is the same in both versions, as long as nothing in it has changed.
        return new Response(html.replaceAll(/\/(main|page|dist)-[\w-]{8}\./g, '/$1-00000000.'), { headers });
      },
      async (page) => {
        await page.untilOpen();
        assert.equal(served, 2);
        assert.equal((await page.page.evaluate(() => location.href)).includes('token'), false);
      },
    );
  });

  test('reports a file that is nowhere, and does not reload itself for ever', async () => {
    let pages = 0;
    await withEditor(
      (path) => {
        if (path === '/editor/') pages++;
        return path.includes('/assets/page-') ? gone() : undefined;
      },
      async (page) => {
        await page.until('The editor could not be loaded');
        assert.equal(pages, 4);
        assert.equal((await page.page.evaluate(() => location.href)).includes('token'), false);
      },
    );
  });

  test('opens in a frame by message, too', async () => {
    let requests = 0;
    service.script.respond = (request) =>
      pathOf(request).includes('/assets/page-') && requests++ === 0 ? gone() : undefined;
    const launcher = await openLauncher(browser, service);
    try {
      await eventually(launcher.loads, (loads) => loads === 2);
      const session = await launcher.open({ fn: `upgraded-${++count}`, template: 'typescript' });
      await launcher.waitForMessage('ready', session);
    } finally {
      service.script.respond = undefined;
      await launcher.close();
    }
  });

  test('shows and saves a text without colours when the languages cannot be loaded', async () => {
    await withEditor(
      (path) => (path.includes('/assets/typing-help-') ? gone() : undefined),
      async (page) => {
        await page.untilOpen();
        await page.type('// typed');
        await page.untilStatus('Saved');
        assert.equal(await page.page.$('.cm-content[data-language]'), null);
      },
    );
  });

  for (const [name, file, ask, shown] of [
    ['the search', 'search-panel', (page) => pressKeys(page, 'Control', 'f'), '.find'],
    [
      'the sheet that deploys',
      'deploy-sheet',
      (page) => pressKeys(page, 'Control', 'Shift', 'd'),
      'dialog.deploy',
    ],
  ] as [string, string, (page: Page) => Promise<void>, string][]) {
    test(`reports that ${name} cannot be loaded, and shows it once it can`, async () => {
      let missing = true;
      await withEditor(
        (path) => (missing && path.includes(`/assets/${file}-`) ? gone() : undefined),
        async (page) => {
          await page.untilOpen();
          await ask(page.page);
          await page.until('This part of the editor could not be loaded');
          missing = false;
          await ask(page.page);
          await page.page.waitForSelector(shown);
        },
      );
    });
  }

  test('loads all its parts soon after it opened, so that it needs no file of a version that is gone', async () => {
    await withEditor(
      () => undefined,
      async (page) => {
        await page.untilOpen();
        const parts = ['difference-view', 'search-panel', 'compare-dialog', 'conflict', 'deploy-sheet'];
        const loaded = () =>
          page.page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
        await eventually(loaded, (names) =>
          parts.every((part) => names.some((name) => name.includes(`/${part}-`))),
        );
        service.script.respond = (request) => (pathOf(request).startsWith('/editor/') ? gone() : undefined);
        await pressKeys(page.page, 'Control', 'f');
        await page.page.waitForSelector('.find');
      },
    );
  });
});
