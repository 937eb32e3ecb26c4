import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'puppeteer-core';
import { pressKeys } from '../../support/press-keys.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage, type EditorPage, pressForHelp } from '../harness.ts';
import { faultsFromRight } from '../../support/reading-order.ts';

const { service, browser } = await startEditorInBrowser();

const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

describe("the editor's page", () => {
  let context: BrowserContext;
  let editor: EditorPage;
  let seenBefore = 0;
  let count = 0;
  const target = { fn: '', template: 'typescript', namespace: 'orders' };

  beforeEach(async () => {
    target.fn = `plugin-${++count}`;
    // Nothing is in the cache of a new profile.
    context = await browser.createBrowserContext();
    seenBefore = service.seen.length;
    editor = await openPage(context, await service.url(target));
    await editor.untilOpen();
  });
  afterEach(() => context.close());
  const set = async (
    scheme: string,
    width = 1100,
    height = 700,
    more: { name: string; value: string }[] = [],
  ) => {
    const still = { name: 'prefers-reduced-motion', value: 'reduce' };
    await editor.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, still, ...more]);
    await editor.page.setViewport({ width, height });
  };
  const violations = async () => {
    await editor.page.evaluate(axe);
    const results = (await editor.page.evaluate('axe.run()')) as AxeResults;
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  };

  for (const scheme of ['light', 'dark']) {
    test(`is accessible in ${scheme} colours, contrast of code included`, async () => {
      await set(scheme);
      await editor.page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
      assert.deepEqual(await violations(), []);
      await set(scheme, 360, 640);
      assert.deepEqual(await violations(), []);
    });

    test(`asks for a choice accessibly in ${scheme} colours`, async () => {
      await set(scheme);
      await editor.save();
      await editor.untilStatus('Saved');
      await service.save({ contents: `export const x = '${scheme}';\n`, lang: 'typescript' }, target);
      await editor.type('// mine');
      await editor.untilStatus('Not saved: changed elsewhere');
      assert.deepEqual(await violations(), []);
      for (const width of [1100, 360]) {
        await set(scheme, width, 640);
        await editor.press('Compare and choose');
        await editor.page.waitForSelector('dialog[open] .cm-content');
        assert.equal(await editor.page.evaluate(() => document.activeElement?.tagName), 'DIALOG');
        assert.deepEqual(await violations(), []);
        await editor.page.keyboard.press('Escape');
        await editor.page.waitForSelector('dialog', { hidden: true });
      }
    });
  }

  for (const [width, height] of [
    [360, 640],
    [360, 400],
    [1100, 400],
  ] as const) {
    test(`fits into ${width} by ${height} pixels with open tests and search`, async () => {
      await set('light', width, height);
      await editor.page.locator('#tab-tests').click();
      await editor.page.focus('.cm-content');
      await pressKeys(editor.page, 'Control', 'f');
      await editor.page.waitForSelector('.find');
      const layout = await editor.page.evaluate(() => {
        const box = (selector: string) =>
          document.querySelector(selector)?.getBoundingClientRect().toJSON() as DOMRect;
        return {
          page: [document.documentElement.scrollWidth, document.documentElement.scrollHeight],
          text: box('.text'),
          save: box('.actions'),
          status: box('.status'),
        };
      });
      await editor.page.keyboard.press('Escape');
      assert.deepEqual(layout.page, [width, height]);
      assert.equal(layout.status.bottom, height);
      assert.ok(layout.text.height >= 120, `the text has ${layout.text.height} px`);
      assert.ok(layout.save.right <= width);
      assert.ok(layout.status.right <= width && layout.status.width > 0);
    });
  }

  for (const [width, language] of [
    [760, 'en'],
    [760, 'de'],
    [360, 'de'],
  ] as const) {
    test(`cuts nothing off at ${width} pixels in ${language}: results of tests, names of panels, the last line`, async () => {
      const contents = 'export const run = (input: string) => input;\n';
      const name = 'A name that is longer than the line it stands in could ever be';
      await service.save(
        { contents, lang: 'typescript', tests: [{ name, payload: 'a', expected: 'b' }] },
        target,
      );
      const token = await service.token(target, 'read,write,deploy,runs');
      editor = await openPage(context, 'about:blank');
      const { page } = editor;
      await page.evaluateOnNewDocument((tag) => {
        Object.defineProperty(navigator, 'languages', { get: () => [tag] });
      }, language);
      await set('light', width, 640);
      await page.goto(await service.url(target, token));
      const deploy = '.actions .primary';
      await page.waitForSelector(deploy);
      await page.$eval(deploy, (button) => (button as HTMLElement).click());
      await page.waitForSelector('dialog.deploy:not([data-state=testing])');
      await page.$eval('dialog.deploy [type=submit]', (button) => (button as HTMLElement).click());
      await page.waitForSelector('#tab-runs');
      await page.evaluate(() => document.querySelector<HTMLElement>('#tab-tests')?.click());
      // While it deploys, nothing can be run.
      await page.waitForSelector('.test-run[aria-disabled=false]');
      await page.evaluate(() => document.querySelector<HTMLElement>('.test-run')?.click());
      await page.waitForSelector('.entry-outcome[data-tone=bad]');
      const cut = await page.evaluate(() => {
        const isCut = (one: Element) => {
          const isNarrow = one.scrollWidth > one.clientWidth + 1;
          // In a wider font the line of tabs scrolls.
          if (one.matches('.dock-tab')) return isNarrow;
          const { left, right, top } = one.getBoundingClientRect();
          const frame = one.parentElement?.closest('.test-row, .bottom')?.getBoundingClientRect();
          // What the last line has no room for is out of sight as a whole.
          if (!frame || top >= frame.bottom) return false;
          return isNarrow || left < frame.left - 1 || right > frame.right + 1;
        };
        return [...document.querySelectorAll('.entry-outcome, .dock-tab, .bottom > *')]
          .filter((one) => one.checkVisibility() && isCut(one))
          .map(({ outerHTML }) => outerHTML);
      });
      assert.deepEqual(cut, []);
    });
  }

  test('does not scroll with a font that is taller than its lines, such as those for Arabic', async () => {
    await set('light', 1100, 400);
    const heights = await editor.page.evaluate(() => {
      // In place of such a font, which this machine may not have: lines that are lower than any font.
      for (const line of document.querySelectorAll<HTMLElement>('.status-part, .bottom > *'))
        line.style.lineHeight = '0.2';
      return [document.documentElement.scrollHeight, innerHeight];
    });
    assert.equal(heights[0], heights[1]);
  });

  test('can be used by keyboard alone, in reading order', async () => {
    await set('light');
    await editor.page.waitForSelector('#tab-run:not([hidden])');
    await editor.page.focus('header button');
    const names: string[] = [];
    for (let step = 0; step < 4; step++) {
      if (step > 0) await editor.page.keyboard.press('Tab');
      names.push(
        await editor.page.evaluate(() => {
          const active = document.activeElement;
          if (active?.classList.contains('cm-content')) return 'Source';
          return active?.getAttribute('aria-label') ?? active?.textContent?.trim() ?? '';
        }),
      );
      if (names.at(-1) === 'Source') await editor.page.keyboard.press('Escape');
    }
    assert.deepEqual(names, ['Test', 'Deploy', 'Menu', 'Source']);
  });

  test('has names and roles for screen readers', async () => {
    const roles = await editor.page.evaluate(() => ({
      status: document.querySelectorAll('.status[role=status]').length,
      landmarks: ['header', 'main', 'aside', 'footer'].map((tag) => document.querySelectorAll(tag).length),
      title: document.title,
    }));
    assert.deepEqual(roles, { status: 1, landmarks: [1, 1, 1, 1], title: `${target.fn} – Plugin editor` });
  });

  test('has styles that its own policy permits', () => assert.deepEqual(editor.problems, []));

  // With Brotli, as the service sends it.
  test('loads at most 210 KB of compressed script', async () => {
    const scripts = service.seen.slice(seenBefore).filter(({ path }) => path.endsWith('.js'));
    assert.ok(scripts.length > 0);
    const sources = await Promise.all(
      scripts.map(async ({ path }) => (await fetch(service.origin + path)).bytes()),
    );
    const bytes = sources.reduce((sum, source) => sum + brotliCompressSync(source).length, 0);
    assert.ok(bytes <= 210 * 1024, `${bytes} bytes`);
  });
});

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
      await editor.build();
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
        // English keeps its order: a full stop or a number stays where it was written.
        const reversed = await page.$$eval('.status-part:not([hidden]) bdi, .problem-text', (all) =>
          all
            .filter((one) => {
              const text = document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode() as Text;
              const range = document.createRange();
              const at = (offset: number) => {
                range.setStart(text, offset);
                range.setEnd(text, offset + 1);
                return range.getBoundingClientRect();
              };
              const [first, last] = [at(0), at(text.length - 1)];
              return first.top === last.top && last.left < first.left;
            })
            .map(({ textContent }) => textContent),
        );
        assert.deepEqual(reversed, [], view);
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
