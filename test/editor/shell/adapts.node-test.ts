import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';
import { faultsFromRight } from '../../support/reading-order.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage, pressForHelp, type EditorPage } from '../harness.ts';

const { service, browser } = await startEditorInBrowser();

const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

describe('the editor, which axe finds nothing wrong with,', () => {
  let count = 0;
  /** Goes through what the editor shows, from its first word to a build that failed, and looks at each. */
  async function visitViews(
    prepare: (page: Page) => Promise<unknown>,
    inspect: (view: string, page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.createBrowserContext();
    try {
      const blank = async (): Promise<EditorPage> => {
        const opened = await openPage(context, 'about:blank');
        await prepare(opened.page);
        return opened;
      };
      const editor = await blank();
      const { page } = editor;
      const target = { fn: `plugin-${++count}`, template: 'typescript' };
      const held: (() => void)[] = [];
      service.script.hold = ({ url }) =>
        url.includes('/api/v1/') ? new Promise<void>((resolve) => void held.push(resolve)) : undefined;
      await page.goto(await service.url(target));
      await editor.until('Opening');
      await inspect('opening', page);
      service.script.hold = undefined;
      for (const pass of held) pass();
      await editor.untilOpen();
      await editor.type('const x: number = "";');
      await editor.press('Build');
      await editor.until('Build failed');
      await inspect('build failed', page);
      await page.locator('#tab-tests').click();
      await page.locator('.test summary').click();
      await inspect('tests', page);
      await pressForHelp(page);
      await page.waitForSelector('dialog[open]');
      await inspect('help', page);
      await page.keyboard.press('Escape');
      await page.keyboard.press('F1');
      await page.waitForSelector('dialog.palette[open]');
      await inspect('palette', page);
      await page.keyboard.press('Escape');
      await editor.press('Menu');
      await page.waitForSelector('[role=menu]', { visible: true });
      await inspect('menu', page);
      await page.keyboard.press('Escape');
      await editor.untilStatus('Saved');
      await service.save({ contents: 'export const other = 1;\n', lang: 'typescript' }, target);
      await editor.type('// mine');
      await editor.untilStatus('Not saved: changed elsewhere');
      await editor.press('Compare and choose');
      await page.waitForSelector('dialog[open] .cm-content');
      await inspect('compare', page);
      const refused = await blank();
      await refused.page.goto(await service.url(target, 'stale'));
      await refused.page.waitForSelector('main.message h1 + p');
      await inspect('refused', refused.page);
      assert.deepEqual(editor.problems, []);
    } finally {
      service.script.hold = undefined;
      await context.close();
    }
  }

  /** Colours without movement: one that is on its way to another is neither. */
  const reduceMotion = (page: Page, scheme: string) =>
    page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);

  const isAccessible = async (view: string, page: Page) => {
    await page.evaluate(axe);
    const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    assert.deepEqual(found, [], view);
  };

  const fits = async (view: string, page: Page) => {
    const cut = await page.evaluate(() => {
      const wide = document.documentElement.scrollWidth - innerWidth;
      const out = [...document.querySelectorAll('button, h1, h2, input, textarea, dialog')].filter((one) => {
        const { left, right, width } = one.getBoundingClientRect();
        return one.checkVisibility() && width > 1 && (left < -1 || right > innerWidth + 1);
      });
      return [...(wide > 0 ? [`${wide} px too wide`] : []), ...out.map(({ outerHTML }) => outerHTML)];
    });
    assert.deepEqual(cut, [], view);
  };

  test('is mirrored for a language that is written from right to left, except for code, keys and output, in light colours', () =>
    visitViews(
      async (page) => {
        await reduceMotion(page, 'light');
        await page.evaluateOnNewDocument(() =>
          addEventListener('DOMContentLoaded', () => (document.documentElement.dir = 'rtl')),
        );
      },
      async (view, page) => {
        await fits(view, page);
        await isAccessible(view, page);
        const directions = await page.evaluate(() => {
          const of = (selector: string) =>
            [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one).direction);
          return { code: of('.cm-content, kbd, .output, .payload'), texts: of('h1 ~ p, .dock, .status, h2') };
        });
        assert.ok(
          directions.code.every((one) => one === 'ltr'),
          view,
        );
        assert.ok(
          directions.texts.every((one) => one === 'rtl'),
          view,
        );
        for (const bar of ['.top', '.actions']) {
          const [box, things] = await page.evaluate((selector) => {
            const edges = (one: Element) => one.getBoundingClientRect().toJSON() as DOMRect;
            const found = document.querySelector<HTMLElement>(selector);
            if (!found) return [];
            const { left, right } = edges(found);
            const { paddingLeft, paddingRight } = getComputedStyle(found);
            const all = [...found.children].filter((one) => one.checkVisibility());
            return [
              { left: left + parseFloat(paddingLeft), right: right - parseFloat(paddingRight) },
              all.map(edges),
            ] as const;
          }, bar);
          if (box) assert.deepEqual(faultsFromRight(things, box), [], `${bar} in ${view}`);
        }
      },
    ));

  test('fits into a screen of 1280 by 1024 pixels at 200 % zoom without sideways scrolling, in dark colours', () =>
    visitViews(
      async (page) => {
        await reduceMotion(page, 'dark');
        await page.setViewport({ width: 640, height: 512, deviceScaleFactor: 2 });
      },
      async (view, page) => {
        await fits(view, page);
        await isAccessible(view, page);
      },
    ));

  test('shows each control in forced colours', () =>
    visitViews(
      async (page) => {
        const session = await page.createCDPSession();
        const features = [{ name: 'forced-colors', value: 'active' }];
        await session.send('Emulation.setEmulatedMedia', { features });
      },
      async (view, page) => {
        const flat = await page.$$eval('button.primary, input, textarea, dialog, [role=menu]', (all) =>
          all
            .filter((one) => one.checkVisibility() && !one.closest('.cm-editor'))
            .filter((one) => parseFloat(getComputedStyle(one).borderBlockStartWidth) === 0)
            .map(({ outerHTML }) => outerHTML.slice(0, 200)),
        );
        assert.deepEqual(flat, [], view);
      },
    ));
});
