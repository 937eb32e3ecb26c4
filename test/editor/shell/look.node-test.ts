import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext } from 'puppeteer-core';
import {
  launchBrowser,
  openPage,
  pressForHelp,
  startEditorService,
  type EditorPage,
  type EditorService,
} from '../harness.ts';

const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

describe("the editor's page", () => {
  let service: EditorService;
  let browser: Browser;
  let context: BrowserContext;
  let editor: EditorPage;
  let seenBefore = 0;
  let count = 0;
  const target = { fn: '', template: 'typescript', namespace: 'orders' };

  before(async () => {
    [service, browser] = await Promise.all([startEditorService(), launchBrowser()]);
  });
  beforeEach(async () => {
    target.fn = `plugin-${++count}`;
    // Nothing is in the cache of a new profile.
    context = await browser.createBrowserContext();
    seenBefore = service.seen.length;
    editor = await openPage(context, await service.url(target));
    await editor.untilOpen();
  });
  afterEach(() => context.close());
  after(async () => {
    await browser.close();
    await service.close();
  });

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

    test(`shows problems, results and commands accessibly in ${scheme} colours`, async () => {
      const contents =
        'let n = 0;\nexport function run(input: string): string {\n  if (input) throw new Error(input);\n  return `run ${++n} ${Date.now()}`;\n}\n';
      await service.save({ contents, lang: 'typescript', tests: [{ name: 'a', payload: 'no' }, {}] }, target);
      editor = await openPage(context, await service.url(target));
      await editor.untilOpen();
      await set(scheme);
      await editor.until('Run all');
      for (let run = 0; run < 2; run++) {
        await editor.press('Run all');
        await editor.until('1 failed, 1 ran');
      }
      await editor.page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
      await editor.page.waitForSelector('.difference');
      assert.deepEqual(await violations(), []);
      await editor.type('const x: number = "";');
      await editor.page.waitForSelector('.cm-lintRange-error');
      await editor.page.locator('#tab-build').click();
      assert.deepEqual(await violations(), []);
      await editor.press('Menu');
      assert.deepEqual(await violations(), []);
      await editor.page.keyboard.press('Escape');
      await pressForHelp(editor.page);
      await editor.page.waitForSelector('dialog[open]');
      assert.deepEqual(await violations(), []);
      await editor.page.keyboard.press('Escape');
      await editor.page.keyboard.press('F1');
      await editor.page.waitForSelector('dialog.palette[open]');
      assert.deepEqual(await violations(), []);
      await editor.page.keyboard.press('Escape');
      await set(scheme, 360, 400);
      await editor.page.locator('#tab-run').click();
      assert.deepEqual(await violations(), []);
      const size = await editor.page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(size, 360);
    });

    test(`asks for a choice accessibly in ${scheme} colours`, async () => {
      await set(scheme);
      await editor.press('Save');
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
    test(`fits into ${width} by ${height} pixels, with the tests open and the search too`, async () => {
      await set('light', width, height);
      await editor.page.locator('#tab-tests').click();
      await editor.page.focus('.cm-content');
      await editor.page.keyboard.down('Control');
      await editor.page.keyboard.press('f');
      await editor.page.keyboard.up('Control');
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

  test('does not scroll where a font is taller than its lines, as those for Arabic are', async () => {
    await set('light', 1100, 400);
    const heights = await editor.page.evaluate(() => {
      // In place of such a font, which this machine may not have: lines that are lower than any font.
      for (const line of document.querySelectorAll<HTMLElement>('.status-part, .bottom > *'))
        line.style.lineHeight = '0.2';
      return [document.documentElement.scrollHeight, innerHeight];
    });
    assert.equal(heights[0], heights[1]);
  });

  test('is used by keyboard alone, in the order of reading', async () => {
    await set('light');
    await editor.page.waitForSelector('#tab-run:not([hidden])');
    await editor.page.focus('header button');
    const names: string[] = [];
    for (let step = 0; step < 6; step++) {
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
    assert.deepEqual(names, ['Save', 'Build', 'Test', 'Deploy', 'Menu', 'Source']);
  });

  test('says what it is to a screen reader', async () => {
    const roles = await editor.page.evaluate(() => ({
      status: document.querySelectorAll('.status[role=status]').length,
      landmarks: ['header', 'main', 'aside', 'footer'].map((tag) => document.querySelectorAll(tag).length),
      title: document.title,
    }));
    assert.deepEqual(roles, { status: 1, landmarks: [1, 1, 1, 1], title: `${target.fn} – Plugin editor` });
  });

  test('its styles pass its own policy', () => assert.deepEqual(editor.problems, []));

  // With Brotli, as the service sends it.
  test('loads at most 200 KB of script, compressed', async () => {
    const scripts = service.seen.slice(seenBefore).filter(({ path }) => path.endsWith('.js'));
    assert.ok(scripts.length > 0);
    let bytes = 0;
    for (const { path } of scripts) {
      bytes += brotliCompressSync(await (await fetch(service.origin + path)).bytes()).length;
    }
    assert.ok(bytes <= 200 * 1024, `${bytes} bytes`);
  });
});
