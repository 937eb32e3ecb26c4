import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import type { Page } from 'puppeteer-core';
import { findingsInBoth, useColours } from '../../support/axe.ts';
import { pressKeys } from '../../support/press-keys.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage, type EditorPage, pressForHelp } from '../harness.ts';
import { faultsFromRight } from '../../support/reading-order.ts';
import { eventually } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();

const target = { fn: 'shared', template: 'typescript', namespace: 'orders' };

/** Opens the editor in a new profile, in whose cache is nothing. */
async function openEditor(url: string): Promise<EditorPage> {
  return openPage(await browser.createBrowserContext(), url);
}

/** Sets light colours and a size. */
async function set(page: Page, width = 1100, height = 700): Promise<void> {
  await useColours(page, 'light');
  await page.setViewport({ width, height });
}

test('asks for a choice accessibly', async () => {
  const plugin = { fn: 'choice', template: 'typescript' };
  const editor = await openEditor(await service.url(plugin));
  const { page } = editor;
  await editor.untilOpen();
  await set(page);
  await editor.save();
  await editor.untilStatus('Saved');
  await service.save({ contents: 'export const x = 1;\n', lang: 'typescript' }, plugin);
  await editor.type('// mine');
  await editor.untilStatus('Not saved: changed elsewhere');
  assert.deepEqual(await findingsInBoth(page), []);
  for (const width of [1100, 360]) {
    await set(page, width, 640);
    await editor.press('Compare and choose');
    await page.waitForSelector('dialog[open] .cm-content');
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'DIALOG');
    assert.deepEqual(await findingsInBoth(page, 'dialog[open]'), []);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { hidden: true });
  }
});

test('shows in forced colours what a search finds, and which completion is chosen', async () => {
  const plugin = { fn: 'forced' };
  const contents = 'const one = 1;\nexport const run = () => one;\n';
  await service.save({ contents, lang: 'typescript' }, plugin);
  const editor = await openEditor(await service.url(plugin));
  const { page } = editor;
  await editor.untilOpen();
  const session = await page.createCDPSession();
  const features = [{ name: 'forced-colors', value: 'active' }];
  await session.send('Emulation.setEmulatedMedia', { features });
  // In one step: the list of completions is drawn anew when more of them arrive.
  const outlines = (selector: string) =>
    page.evaluate(
      (all) => [...document.querySelectorAll(all)].map((one) => getComputedStyle(one).outlineStyle),
      selector,
    );
  await page.focus('.cm-content');
  await pressKeys(page, 'Control', 'f');
  await page.waitForSelector('.find input:focus');
  await page.keyboard.type('one');
  // While it is typed, there are more.
  const found = await eventually(
    () => outlines('.cm-searchMatch'),
    ({ length }) => length === 2,
  );
  assert.deepEqual(found, ['solid', 'solid']);
  await page.keyboard.press('Escape');
  await editor.type('on');
  await pressKeys(page, 'Control', 'Space');
  await page.waitForSelector('.cm-tooltip-autocomplete li[aria-selected]');
  assert.deepEqual(await outlines('.cm-tooltip-autocomplete li[aria-selected]'), ['solid']);
  assert.deepEqual(editor.problems, []);
});

test('cuts nothing off in German, whose texts are the longest: results of tests, names of panels, the last line', async () => {
  const plugin = { fn: 'cut' };
  const contents = 'export const run = (input: string) => input;\n';
  const name = 'A name that is longer than the line it stands in could ever be';
  await service.save(
    { contents, lang: 'typescript', tests: [{ name, payload: 'a', expected: 'b' }] },
    plugin,
  );
  const token = await service.token(plugin, 'read,write,deploy,runs');
  const { page } = await openEditor('about:blank');
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(navigator, 'languages', { get: () => ['de'] });
  });
  await set(page, 760, 640);
  await page.goto(await service.url(plugin, token));
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
  for (const width of [760, 360]) {
    await set(page, width, 640);
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
    assert.deepEqual(cut, [], `${width} px`);
  }
});

/** The tests of one page, which they leave as it was but for its size, its colours and the panel that is open. */
describe("the editor's page", () => {
  let editor: EditorPage;
  let page: Page;

  before(async () => {
    editor = await openEditor(await service.url(target));
    page = editor.page;
    await editor.untilOpen();
  });

  test('is accessible at 360 pixels in light and dark colours, contrast of code included', async () => {
    await set(page, 360, 640);
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
    const bytes = [...sources.values()].reduce((sum, source) => sum + brotliCompressSync(source).length, 0);
    assert.ok(bytes <= 210 * 1024, `${bytes} bytes`);
  });
});

describe('in all that the editor shows, it', () => {
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
      const plugin = { fn: `plugin-${++count}`, template: 'typescript' };
      const held: (() => void)[] = [];
      service.script.hold = ({ url }) =>
        url.includes('/api/v1/') ? new Promise<void>((resolve) => void held.push(resolve)) : undefined;
      await page.goto(await service.url(plugin));
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
      await service.save({ contents: 'export const other = 1;\n', lang: 'typescript' }, plugin);
      await editor.type('// mine');
      await editor.untilStatus('Not saved: changed elsewhere');
      await editor.press('Compare and choose');
      await page.waitForSelector('dialog[open] .cm-content');
      await inspect('compare', page);
      const refused = await blank();
      await refused.page.goto(await service.url(plugin, 'stale'));
      await refused.page.waitForSelector('main.message h1 + p');
      await inspect('refused', refused.page);
      assert.deepEqual(editor.problems, []);
    } finally {
      service.script.hold = undefined;
      await context.close();
    }
  }

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

  test('is mirrored for a language that is written from right to left, except for code, keys and output', () =>
    visitViews(
      async (page) => {
        await useColours(page, 'light');
        await page.evaluateOnNewDocument(() =>
          addEventListener('DOMContentLoaded', () => (document.documentElement.dir = 'rtl')),
        );
      },
      async (view, page) => {
        await fits(view, page);
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

  test('fits into a screen of 1280 by 1024 pixels at 200 % zoom without sideways scrolling, and shows each control in forced colours', () =>
    visitViews(
      async (page) => {
        await page.setViewport({ width: 640, height: 512, deviceScaleFactor: 2 });
        const session = await page.createCDPSession();
        const features = [{ name: 'forced-colors', value: 'active' }];
        await session.send('Emulation.setEmulatedMedia', { features });
      },
      async (view, page) => {
        await fits(view, page);
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
