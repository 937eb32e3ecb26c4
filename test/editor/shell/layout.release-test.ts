import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { COLOUR_RULES, findings, useColours } from '../../support/axe.ts';
import { faultsFromRight } from '../../support/reading-order.ts';
import { eventually } from '../../support/until.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { type EditorPage, openPage, pressForHelp, tabsOutOfView } from '../harness.ts';
import { openLauncher } from '../launcher-page.ts';

const { service, browser } = await startEditorInBrowser();

/** The widths of a phone, of the narrowest panels beside the text, of a panel of 340 pixels, and of two desktops. */
const WIDTHS = [360, 760, 1000, 1280, 1920] as const;
const LONG_NAME = 'A name that is longer than the line it stands in could ever be';

const contents = 'export const run = (input: Input): Output => input;\n';
const tests = [
  { name: LONG_NAME, payload: '"a"', expected: '"b"' },
  { name: 'Short', description: 'What everybody pays, and some pay more', payload: '"a"', expected: '"a"' },
];

/** How many characters of the texts that match can be read in front of where they are cut off; a billion where they are whole. */
const readableCharacters = (page: Page, selector: string) =>
  page.$$eval(selector, (all) =>
    all.map((one) => {
      const text = document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode() as Text;
      const { left, right } = one.getBoundingClientRect();
      // The ellipsis takes the place of characters, too.
      const room = one.scrollWidth > one.clientWidth ? 12 : -1;
      const range = document.createRange();
      const readable = Array.from({ length: text.length }, (_, at) => at).filter((at) => {
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        const box = range.getBoundingClientRect();
        return box.left >= left - 1 && box.right <= right - room;
      }).length;
      return readable < text.length ? readable : 1e9;
    }),
  );

/** The texts whose first character is cut off, of those that have room for some. */
const cutAtTheirStart = (page: Page, selector: string) =>
  page.$$eval(selector, (all) =>
    all
      .filter((one) => {
        const text = document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode() as Text | null;
        const { left, right, width } = one.getBoundingClientRect();
        if (!text?.length || width < 30) return false;
        const range = document.createRange();
        range.setStart(text, 0);
        range.setEnd(text, 1);
        const first = range.getBoundingClientRect();
        return first.left < left - 1 || first.right > right + 1;
      })
      .map(({ textContent }) => textContent),
  );

/** The results of tests, names of panels and parts of the last line that are cut off. */
const cutParts = (page: Page) =>
  page.evaluate(() => {
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

describe('the layout of the editor', () => {
  // German has the longest texts.
  for (const [language, direction, deploy] of [
    ['de', 'ltr', 'Bereitstellen'],
    ['en', 'rtl', 'Deploy'],
  ] as const)
    test(`shows names, panels and the buttons of tests from a phone to a wide screen, in ${language} and ${direction}`, async () => {
      const plugin = { fn: `price-for-wholesale-${language}`, namespace: 'prices', template: 'typescript' };
      // With types there is one panel more.
      await service.setNamespace('prices', { input: { type: 'string' }, output: { type: 'string' } });
      await service.save({ contents, lang: 'typescript', tests }, plugin);
      const token = await service.token(plugin, 'read,write,deploy,runs');
      const context = await browser.createBrowserContext();
      const editor = await openPage(context, 'about:blank');
      const { page } = editor;
      await page.evaluateOnNewDocument(
        (tag, dir) => {
          Object.defineProperty(navigator, 'languages', { get: () => [tag] });
          addEventListener('DOMContentLoaded', () => (document.documentElement.dir = dir));
        },
        language,
        direction,
      );
      await useColours(page, 'light');
      await page.setViewport({ width: 1280, height: 700 });
      await page.goto(await service.url(plugin, token));
      await editor.untilOpen();
      await editor.press(deploy);
      await page.waitForSelector('dialog.deploy[data-state=failed]');
      await page.locator('dialog.deploy [type=submit]').click();
      await page.waitForSelector('#tab-runs');
      await page.waitForSelector('#tab-types');
      await page.waitForSelector('.notice');
      await page.waitForSelector('.entry-outcome[data-tone=bad]');
      // A problem in the text gives the panel of builds a number, too.
      await editor.type('const x: number = "";');
      await page.waitForSelector('#tab-build .count[data-tone=bad]');
      await page.locator('#tab-tests').click();
      for (const width of WIDTHS) {
        await page.setViewport({ width, height: 700 });
        const at = `${width} px`;
        assert.deepEqual(await tabsOutOfView(page), [], at);
        assert.deepEqual(await cutParts(page), [], at);
        const [heading = 0] = await readableCharacters(page, '.plugin h1 bdi');
        assert.ok(heading >= 10, `${heading} characters of the plugin’s name at ${at}`);
        const [title = 0] = await readableCharacters(page, '.test-title');
        assert.ok(title >= 10, `${title} characters of a test’s name at ${at}`);
        const tops = await page.$$eval('.tests-actions button', (all) =>
          all.map((button) => button.getBoundingClientRect().top),
        );
        assert.equal(tops.length, 2);
        assert.equal(new Set(tops).size, 1, `a button of the tests wraps alone at ${at}`);
        const size = await page.evaluate(() => {
          const { scrollWidth, scrollHeight } = document.documentElement;
          return [scrollWidth, scrollHeight];
        });
        assert.deepEqual(size, [width, 700]);
        const parts = await readableCharacters(page, '.status-part:not([hidden], .status-built) bdi');
        assert.ok(Math.min(...parts) >= 10, `${parts.join(', ')} characters of the status at ${at}`);
        assert.deepEqual(await cutAtTheirStart(page, '.entry-hint'), [], at);
        const [text, toast] = await page.$$eval('.text, .text > .notices', (all) =>
          all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect),
        );
        assert.ok(text && toast && toast.height > 0);
        assert.ok(
          toast.top >= text.top && toast.bottom <= text.bottom,
          `the notice leaves the text at ${at}`,
        );
        assert.ok(
          toast.left >= text.left && toast.right <= text.right,
          `the notice leaves the text at ${at}`,
        );
      }
      assert.deepEqual(editor.problems, []);
      await context.close();
    });
});

test('the sheet that deploys fits into small pages, in German and from right to left, with its buttons in view', async () => {
  const context = await browser.createBrowserContext();
  const target = { fn: 'sheet' };
  const half = 'export const run = (input: string): string => String(Number(input) * 0.5);\n';
  // With something live, a share of the runs can be chosen.
  await service.save({ contents: half, lang: 'typescript' }, target);
  await service.deploy(half, target);
  await service.save({ contents: half.repeat(30), lang: 'typescript', tests }, target);
  const editor = await openPage(context, 'about:blank');
  const { page } = editor;
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(navigator, 'languages', { get: () => ['de'] });
    addEventListener('DOMContentLoaded', () => (document.documentElement.dir = 'rtl'));
  });
  await page.goto(await service.url(target));
  await editor.untilOpen();
  for (const [width, height] of [
    [360, 640],
    [360, 400],
    [1100, 400],
  ] as const) {
    const at = `${width} by ${height} pixels`;
    await page.setViewport({ width, height });
    await editor.press('Bereitstellen');
    await page.waitForSelector('dialog.deploy:not([data-state=testing]) #deploy-message:focus');
    assert.equal(await page.$eval('.deploy-parts', ({ scrollTop }) => scrollTop), 0, at);
    await page.locator('dialog label:nth-of-type(2) [type=radio]').click();
    await page.waitForSelector('dialog [name=percent]');
    assert.equal(
      await page.$eval('.deploy-parts', ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
      false,
      at,
    );
    const out = await page.evaluate(() =>
      [...document.querySelectorAll('dialog, dialog footer button, dialog header button')].flatMap((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        const fits = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
        return fits ? [] : [one.outerHTML.slice(0, 200)];
      }),
    );
    assert.deepEqual(out, [], at);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog'));
  }
  assert.deepEqual(editor.problems, []);
  await context.close();
});

// As the demo's three looks have them (demo/page/looks).
const looks = {
  larder: {
    light: ['rgb(30, 42, 36)', 'rgb(255, 253, 248)', 'rgb(29, 92, 69)', 'rgb(213, 202, 180)'],
    dark: ['rgb(236, 232, 221)', 'rgb(28, 32, 28)', 'rgb(133, 207, 171)', 'rgb(58, 68, 59)'],
    rest: { font: 'ui-sans-serif, system-ui, "Liberation Sans", sans-serif', radius: '10px' },
  },
  slate: {
    light: ['rgb(27, 34, 48)', 'rgb(255, 255, 255)', 'rgb(51, 70, 196)', 'rgb(185, 194, 212)'],
    dark: ['rgb(227, 232, 241)', 'rgb(23, 28, 38)', 'rgb(157, 176, 255)', 'rgb(61, 71, 91)'],
    rest: { font: 'Inter, ui-sans-serif, sans-serif', radius: '3px' },
  },
  sorbet: {
    light: ['rgb(64, 19, 47)', 'rgb(255, 244, 248)', 'rgb(179, 18, 95)', 'rgb(239, 179, 207)'],
    dark: ['rgb(251, 230, 240)', 'rgb(42, 21, 34)', 'rgb(255, 154, 199)', 'rgb(116, 55, 91)'],
    rest: { font: 'ui-rounded, Nunito, sans-serif', radius: '20px' },
  },
} as const;

test('in the looks of the demo all is readable and nothing is cut off, at 1920 pixels', async () => {
  const launcher = await openLauncher(browser, service);
  try {
    const fn = 'looks';
    const ended = [
      { name: 'passes', payload: 'a', expected: 'a' },
      { name: 'fails', payload: 'a', expected: 'b' },
    ];
    const source = { contents: 'export function run(input) {\n  return input;\n}\n', lang: 'javascript' };
    await service.save({ ...source, tests: ended }, { fn });
    const { page, frame } = launcher;
    await page.setViewport({ width: 1960, height: 1060 });
    await page.$eval('iframe', ({ style }) => {
      style.inlineSize = '1920px';
      style.blockSize = '1000px';
    });
    await useColours(page, 'light');
    const session = await launcher.open({ fn });
    await launcher.waitForMessage('ready', session);
    await launcher.press('Run all');
    await launcher.until('1 passed, 1 failed');
    for (const [name, look] of Object.entries(looks)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const [color, background, accent, border] = look[colorScheme];
        const appearance = { colorScheme, color, background, accent, border, ...look.rest };
        await launcher.sendMessage({ type: 'configure', session, appearance });
        await eventually(
          () => frame.$eval('.cm-editor', (one) => getComputedStyle(one).backgroundColor),
          (ground) => ground === background,
        );
        assert.deepEqual(await findings(frame, { rules: COLOUR_RULES }), [], `${name}, ${colorScheme}`);
      }
      const cut = await frame.$$eval('button, h1, .status-part bdi, .test-title', (all) =>
        all
          .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
          .filter((one) => getComputedStyle(one).display !== 'inline')
          .map(({ outerHTML }) => outerHTML),
      );
      assert.deepEqual(cut, [], name);
      assert.equal(await frame.evaluate(() => document.documentElement.scrollWidth), 1920, name);
    }
  } finally {
    await launcher.close();
  }
});

describe('in all that the editor shows, it', () => {
  /** Goes through what the editor shows, from its first word to a build that failed, and looks at each. */
  async function visitViews(inspect: (view: string, page: Page) => Promise<void>): Promise<void> {
    const context = await browser.createBrowserContext();
    try {
      const blank = async (): Promise<EditorPage> => {
        const opened = await openPage(context, 'about:blank');
        await opened.page.setViewport({ width: 640, height: 512, deviceScaleFactor: 2 });
        await useColours(opened.page, 'light');
        return opened;
      };
      const editor = await blank();
      const { page } = editor;
      const plugin = { fn: 'viewed', template: 'typescript' };
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

  const isMirrored = async (view: string, page: Page) => {
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
  };

  const hasBorders = async (view: string, page: Page) => {
    await fits(view, page);
    const flat = await page.$$eval('button.primary, input, textarea, dialog, [role=menu]', (all) =>
      all
        .filter((one) => one.checkVisibility() && !one.closest('.cm-editor'))
        .filter((one) => parseFloat(getComputedStyle(one).borderBlockStartWidth) === 0)
        .map(({ outerHTML }) => outerHTML.slice(0, 200)),
    );
    assert.deepEqual(flat, [], view);
  };

  test('fits into a screen of 1280 by 1024 pixels at 200 % zoom, is mirrored from right to left, except for code, keys and output, and shows each control in forced colours', () =>
    visitViews(async (view, page) => {
      await page.evaluate(() => (document.documentElement.dir = 'rtl'));
      await isMirrored(view, page);
      await page.evaluate(() => (document.documentElement.dir = 'ltr'));
      const session = await page.createCDPSession();
      const features = [{ name: 'forced-colors', value: 'active' }];
      await session.send('Emulation.setEmulatedMedia', { features });
      await hasBorders(view, page);
      await session.detach();
    }));
});
