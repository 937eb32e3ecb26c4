import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { CDPSession, Frame, Page, Viewport } from 'puppeteer-core';
import { COLOUR_RULES, findings, findingsInBoth, SIZE_RULES, useColours } from '../support/axe.ts';
import { shareDemoInBrowser, shareTab } from './demo-in-browser.ts';
import type { DemoPage } from './page-driver.ts';

const shared = await shareDemoInBrowser();
const { openTab } = shared;

describe('the demo page', () => {
  let tab: DemoPage;
  /** Goes through all that the page shows, what went wrong included, and looks at each. */
  async function visitViews(
    prepare: (page: Page) => Promise<unknown>,
    inspect: (view: string, frame?: Frame) => Promise<void>,
  ): Promise<void> {
    tab = await openTab(prepare);
    const { page } = tab;
    await page.waitForSelector('[data-user=bram]');
    let broken = /\/session$/;
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.method() === 'POST' && broken.test(request.url())) void request.abort();
      else void request.continue();
    });
    await inspect('signed out');
    await tab.click('[data-user=bram]');
    await page.waitForSelector('.failure');
    await inspect('signing in failed');
    broken = /\/draft\//;
    await tab.signIn('bram');
    await inspect('plugins');
    await page.locator('.card').click();
    await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
    // In a narrow window the versions, which come last, move what is below them.
    await page.waitForSelector('.versions');
    await inspect('about to launch');
    const frame = await tab.launch();
    await inspect('open', frame);
    await frame.focus('.cm-content');
    await page.keyboard.type('//');
    await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty);
    // What would lose the work is asked about.
    await page.evaluate(() => (location.hash = '#/com.example.customer-7/price-rule'));
    await page.waitForSelector('.question');
    await inspect('question', frame);
    await tab.click('#go-on');
    // Until there is a token for the next plugin, what is not saved stays.
    await page.waitForSelector('.question', { hidden: true });
    await page.evaluate(() => (location.hash = '#/com.example.customer-7'));
    await page.waitForSelector('.card', { visible: true });
    await tab.click('#try-stranger');
    await tab.state('error');
    await inspect('refused');
    await page.evaluate(() => (location.hash = '#/com.example.nobody'));
    await page.waitForFunction(() => document.querySelector('main h1')?.textContent?.includes('Not one of'));
    await inspect('no tenant of one’s own');
  }

  const fits = async (page: Page, view: string) => {
    const over = await page.evaluate(() => {
      const wide = document.documentElement.scrollWidth - innerWidth;
      const cut = [...document.querySelectorAll('button, a, h1, h2, input, textarea, select')].filter(
        (one) => {
          const { left, right, width } = one.getBoundingClientRect();
          return one.checkVisibility() && width > 1 && (left < -1 || right > innerWidth + 1);
        },
      );
      return [wide > 0 ? `${wide} px too wide` : '', ...cut.map(({ outerHTML }) => outerHTML)].filter(
        Boolean,
      );
    });
    assert.deepEqual(over, [], view);
  };

  const moving = () =>
    tab.page.$$eval(
      '*',
      (all) =>
        all.filter((one) => {
          const { transitionDuration, animationName } = getComputedStyle(one);
          return parseFloat(transitionDuration) > 0 || animationName !== 'none';
        }).length,
    );

  /** The sides of the page that are mirrored, and the code that is not. */
  const inspectDirection = async (view: string, frame?: Frame) => {
    const seen = await tab.page.evaluate(() => {
      const left = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().left;
      const direction = (selector: string) =>
        [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one).direction);
      return {
        sides: ['.sidebar', '.stage', '.inspector'].flatMap((one) => left(one) ?? []),
        code: direction('code, pre, #run-input'),
      };
    });
    assert.deepEqual(
      seen.sides,
      seen.sides.toSorted((a, b) => b - a),
      view,
    );
    assert.ok(
      seen.code.every((one) => one === 'ltr'),
      view,
    );
    const inFrame = await frame?.evaluate(() =>
      ['.cm-content', '.top'].map(
        (one) => getComputedStyle(document.querySelector(one) as Element).direction,
      ),
    );
    if (frame) assert.deepEqual(inFrame, ['ltr', 'rtl']);
  };

  /** The controls that have neither a border nor a line. */
  const flatControls = () =>
    tab.page.evaluate(() => {
      const roots = [document, ...[...document.querySelectorAll('*')].flatMap((one) => one.shadowRoot ?? [])];
      const controls = roots.flatMap((root) => [
        ...root.querySelectorAll('button, select, textarea, input:not([type=radio])'),
      ]);
      return controls
        .filter((one) => one.checkVisibility({ opacityProperty: true }))
        .filter((one) => {
          const { borderBlockStartWidth, textDecorationLine } = getComputedStyle(one);
          return parseFloat(borderBlockStartWidth) === 0 && textDecorationLine === 'none';
        })
        .map(({ outerHTML }) => outerHTML);
    });

  test('is accessible in light and dark colours and on a phone, mirrored for a language that is written from right to left, except for code, fits into a screen of 1280 by 1024 pixels at 200 % zoom without sideways scrolling, shows each control in forced colours, and does not move where less motion is preferred', async () => {
    let session: CDPSession;
    const use = async (viewport: Viewport, forcedColours: 'active' | 'none') => {
      await tab.page.setViewport(viewport);
      const features = [
        { name: 'forced-colors', value: forcedColours },
        { name: 'prefers-color-scheme', value: 'light' },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ];
      await session.send('Emulation.setEmulatedMedia', { features });
    };
    await visitViews(
      async (page) => {
        session = await page.createCDPSession();
        await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'no-preference' }]);
        await page.evaluateOnNewDocument(() =>
          // The editor takes its direction from the language that the page around it says.
          addEventListener('DOMContentLoaded', () =>
            Object.assign(document.documentElement, { lang: 'ar', dir: 'rtl' }),
          ),
        );
      },
      async (view, frame) => {
        const { page } = tab;
        if (view === 'signed out') assert.ok((await moving()) > 0);
        await use({ width: 1440, height: 900 }, 'none');
        if (view === 'signed out') assert.equal(await moving(), 0);
        for (const direction of ['ltr', 'rtl']) {
          await page.evaluate((dir) => void (document.documentElement.dir = dir), direction);
          await fits(page, `${view}, ${direction}`);
        }
        assert.deepEqual(await findingsInBoth(page), [], view);
        await inspectDirection(view, frame);
        await use({ width: 360, height: 800 }, 'none');
        await fits(page, `${view}, on a phone`);
        assert.deepEqual(await findings(page), [], `${view}, on a phone`);
        await use({ width: 640, height: 512, deviceScaleFactor: 2 }, 'active');
        await fits(page, view);
        assert.deepEqual(await flatControls(), [], view);
        // Where the next view is looked for.
        await use({ width: 1440, height: 900 }, 'none');
      },
    );
  });
});

const folder = new URL('../../demo/page/looks/', import.meta.url);
const files = (await readdir(folder)).filter((name) => name.endsWith('.css'));
const looks = files.map((name) => name.replace('.css', ''));

describe('the looks of the demo page', () => {
  const opened = shareTab(shared);

  test('keeps the launch button where it is while the languages arrive, in each look, which it keeps for the next visit', async () => {
    const { tab } = opened;
    const { page } = tab;
    await tab.signIn('ada');
    await tab.choosePlugin('add-record');
    await tab.chooseLook('sorbet');
    const held = Promise.withResolvers<void>();
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/features')) void held.promise.then(() => request.continue());
      else void request.continue();
    });
    const untilState = (state: string) =>
      page.waitForFunction(
        (expected) => document.querySelector('plugin-features')?.state === expected,
        { polling: 50 },
        state,
      );
    const tops = async () => {
      const found: [string, number][] = [];
      for (const look of looks) {
        await tab.chooseLook(look);
        found.push([look, await page.$eval('#launch', (button) => button.getBoundingClientRect().top)]);
      }
      return found;
    };
    await page.reload();
    await untilState('loading');
    await page.waitForSelector('[data-look=sorbet]');
    const before = await tops();
    held.resolve();
    await untilState('ready');
    assert.deepEqual(await tops(), before);
  });

  test('offers each look accessibly in light and dark colours, and HTML with the look’s CSS', async () => {
    const { tab } = opened;
    const { page } = tab;
    // All rules are checked above; a look changes colours, sizes and the font alone. Its sizes are the same in dark colours.
    const rules = { light: [...COLOUR_RULES, ...SIZE_RULES], dark: COLOUR_RULES };
    const checkLook = async (view: string) => {
      for (const scheme of ['light', 'dark'] as const) {
        await useColours(page, scheme);
        const found = await findings(page, { part: 'main', rules: rules[scheme] });
        assert.deepEqual(found, [], `${view}, ${scheme}`);
      }
    };
    await tab.signIn('ada');
    const seen = new Set<string>();
    for (const look of looks) {
      await page.evaluate(() => (location.hash = '#/com.example.customer-7/add-record'));
      await tab.chooseLook(look);
      await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
      await checkLook(`${look}: about to launch`);
      const css = await readFile(new URL(`${look}.css`, folder), 'utf8');
      const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
      assert.ok(flat((await page.$eval('.source', (one) => one.textContent)) ?? '').includes(flat(css)));
      await tab.click('#try-stranger');
      await tab.state('error');
      await checkLook(`${look}: refused`);
      // There is no button: whoever is refused is refused again.
      assert.equal(await page.$('plugin-editor >>> [part=retry]'), null);
      const style = await page.$eval('plugin-editor', (one) => {
        const { color, backgroundColor, borderRadius, borderColor } = getComputedStyle(one);
        return `${color} ${backgroundColor} ${borderRadius} ${borderColor}`;
      });
      seen.add(style);
    }
    assert.equal(seen.size, looks.length);
  });
});
