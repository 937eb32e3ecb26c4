import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import type { Page } from 'puppeteer-core';
import { root } from '../../../tools/run-node.js';
import { findingsInBoth, useColours } from '../../support/axe.ts';
import { pressKeys } from '../../support/press-keys.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage, type EditorPage } from '../harness.ts';

const { service, browser } = await startEditorInBrowser();

const target = { fn: 'shared', template: 'typescript', namespace: 'orders' };

/** Sets light colours and a size. */
async function set(page: Page, width = 1100, height = 700): Promise<void> {
  await useColours(page, 'light');
  await page.setViewport({ width, height });
}

/**
 * The tests of one page, which they leave as it was but for its size, its colours and the panel that is open. Every state in every
 * appearance is in every-state.release-test.ts and layout.release-test.ts.
 */
describe("the editor's page", () => {
  let editor: EditorPage;
  let page: Page;

  before(async () => {
    const contents = 'export const run = (input: string): string => input;\n';
    const tests = [
      { name: 'passes', description: 'What goes in comes out', payload: 'Ada', expected: 'Ada' },
      { name: 'fails', payload: 'Ada', expected: 'Eva' },
    ];
    await service.save({ contents, lang: 'typescript', tests }, target);
    editor = await openPage(browser, await service.url(target));
    page = editor.page;
    await editor.untilOpen();
    await editor.press('Run all');
    await editor.until('1 passed, 1 failed');
  });

  test('is accessible in light and dark colours, contrast of code included, with each test and its result open', async () => {
    await set(page, 360, 640);
    await page.locator('#tab-tests').click();
    await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
    assert.deepEqual(await findingsInBoth(page), []);
  });

  for (const [width, height] of [
    [360, 640],
    [360, 400],
    [1100, 400],
  ] as const) {
    test(`fits into ${width} by ${height} pixels with open tests and search`, async () => {
      await set(page, width, height);
      await page.locator('#tab-tests').click();
      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'f');
      await page.waitForSelector('.find');
      const layout = await page.evaluate(() => {
        const box = (selector: string) =>
          document.querySelector(selector)?.getBoundingClientRect().toJSON() as DOMRect;
        return {
          page: [document.documentElement.scrollWidth, document.documentElement.scrollHeight],
          text: box('.text'),
          save: box('.actions'),
          status: box('.status'),
        };
      });
      await page.keyboard.press('Escape');
      assert.deepEqual(layout.page, [width, height]);
      assert.equal(layout.status.bottom, height);
      assert.ok(layout.text.height >= 120, `the text has ${layout.text.height} px`);
      assert.ok(layout.save.right <= width);
      assert.ok(layout.status.right <= width && layout.status.width > 0);
    });
  }

  test('does not scroll with a font that is taller than its lines, such as those for Arabic', async () => {
    await set(page, 1100, 400);
    const heights = await page.evaluate(() => {
      // Instead of such a font, which this machine may not have: lines that are lower than any font.
      const lines = [...document.querySelectorAll<HTMLElement>('.status-part, .bottom > *')];
      for (const { style } of lines) style.lineHeight = '0.2';
      const [full, seen] = [document.documentElement.scrollHeight, innerHeight];
      for (const { style } of lines) style.lineHeight = '';
      return [full, seen];
    });
    assert.equal(heights[0], heights[1]);
  });

  test('can be used by keyboard alone, in reading order', async () => {
    await set(page);
    await page.waitForSelector('#tab-run:not([hidden])');
    await page.focus('header button');
    const names: string[] = [];
    for (let step = 0; step < 4; step++) {
      if (step > 0) await page.keyboard.press('Tab');
      names.push(
        await page.evaluate(() => {
          const active = document.activeElement;
          if (active?.classList.contains('cm-content')) return 'Source';
          return active?.getAttribute('aria-label') ?? active?.textContent?.trim() ?? '';
        }),
      );
      if (names.at(-1) === 'Source') await page.keyboard.press('Escape');
    }
    assert.deepEqual(names, ['Test', 'Deploy', 'Menu', 'Source']);
  });

  test('has names and roles for screen readers', async () => {
    const roles = await page.evaluate(() => ({
      status: document.querySelectorAll('.status[role=status]').length,
      landmarks: ['header', 'main', 'aside', 'footer'].map((tag) => document.querySelectorAll(tag).length),
      title: document.title,
    }));
    assert.deepEqual(roles, { status: 1, landmarks: [1, 1, 1, 1], title: `${target.fn} – Plugin editor` });
  });

  test('has styles that its own policy permits', () => assert.deepEqual(editor.problems, []));

  // What the page names, and help with typing, which a text waits for; with Brotli, as the service sends it. Read from the files and
  // not from requests: the rest is loaded some seconds later, which on a slow machine is before the plugin is shown.
  test('loads at most 210 KB of compressed script', async () => {
    const html = await (await fetch(`${service.origin}/editor/`)).text();
    const named = [...html.matchAll(/"\/editor\/assets\/([^"]+\.js)"/g)].map(([, file]) => file ?? '');
    const sources = new Map<string, string>();
    const load = async (file: string): Promise<void> => {
      if (sources.has(file)) return;
      sources.set(file, '');
      const source = await (await fetch(`${service.origin}/editor/assets/${file}`)).text();
      sources.set(file, source);
      const imports = source.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g);
      await Promise.all([...imports].map(([, imported]) => load(imported ?? '')));
    };
    await Promise.all(named.map(load));
    const typingHelp = [...sources.values()].join('').match(/typing-help-[\w-]+\.js/);
    assert.ok(typingHelp);
    await load(typingHelp[0]);
    assert.ok(sources.size > named.length);
    // The build has compressed them, by names with a hash of the content; to do so again takes more than a second.
    const assets = join(root, 'service/dist/editor/assets');
    const sizes = [...sources].map(([file, source]) => {
      const compressed = join(assets, `${file}.br`);
      return existsSync(compressed) ? statSync(compressed).size : brotliCompressSync(source).length;
    });
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes <= 210 * 1024, `${bytes} bytes`);
  });
});
