import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { COLOUR_RULES, findings, SIZE_RULES, useColours } from '../support/axe.ts';
import { shareDemoInBrowser } from './demo-in-browser.ts';
import { deliverByUrl } from './page-driver.ts';
import type { DemoPage } from './page-driver.ts';

const { openTab } = await shareDemoInBrowser();

const folder = new URL('../../demo/page/looks/', import.meta.url);
const looks = (await readdir(folder)).filter((name) => name.endsWith('.css'));

for (const name of looks) {
  test(`${name} sets nothing but the documented custom properties and parts`, async () => {
    const css = await readFile(new URL(name, folder), 'utf8');
    const rules = [...css.matchAll(/([^{}]+)\{([^}]*)\}/g)];
    assert.ok(rules.some(([, selector = '']) => selector.includes('plugin-editor::part')));
    assert.ok(rules.some(([, selector = '']) => selector.includes('plugin-features::part')));
    for (const [, selectors = '', body = ''] of rules) {
      const all = selectors.split(',').map((one) => one.trim());
      assert.ok(
        all.every((one) => /^plugin-(editor|features)(::part\([a-z]+\))?$/.test(one)),
        selectors,
      );
      if (all.some((one) => one.includes('::part'))) continue;
      for (const [, property = ''] of body.matchAll(/^\s*([\w-]+):/gm)) {
        assert.match(property, /^--plugin-editor-(font|color|background|accent|border|radius|gap|height)$/);
      }
    }
  });
}

describe('the demo page', () => {
  let tab: DemoPage;
  test('keeps the launch button where it is while the languages arrive, in each look', async () => {
    tab = await openTab(deliverByUrl);
    const { page } = tab;
    await tab.signIn('ada');
    await tab.choosePlugin('add-record');
    let held = Promise.withResolvers<void>();
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const { promise } = held;
      if (request.url().endsWith('/v1/features')) void promise.then(() => request.continue());
      else void request.continue();
    });
    const top = () => page.$eval('#launch', (button) => button.getBoundingClientRect().top);
    const untilState = (state: string) =>
      page.waitForFunction(
        (expected) => document.querySelector('plugin-features')?.state === expected,
        { polling: 50 },
        state,
      );
    for (const name of looks) {
      await tab.chooseLook(name.replace('.css', ''));
      held = Promise.withResolvers();
      await page.reload();
      await untilState('loading');
      const before = await top();
      held.resolve();
      await untilState('ready');
      assert.equal(await top(), before, name);
    }
  });

  test('offers each look accessibly in light and dark colours, and HTML with the look’s CSS', async () => {
    tab = await openTab(deliverByUrl);
    const { page } = tab;
    // All rules are checked by `adapts`; a look changes colours, sizes and the font alone. Its sizes are the same in dark colours.
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
    for (const name of looks) {
      await page.evaluate(() => (location.hash = '#/com.example.customer-7/add-record'));
      await tab.chooseLook(name.replace('.css', ''));
      await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
      await checkLook(`${name}: about to launch`);
      const css = await readFile(new URL(name, folder), 'utf8');
      const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
      assert.ok(flat((await page.$eval('.source', (one) => one.textContent)) ?? '').includes(flat(css)));
      await tab.click('#try-stranger');
      await tab.state('error');
      await checkLook(`${name}: refused`);
      // There is no button: whoever is refused is refused again.
      assert.equal(await page.$('plugin-editor >>> [part=retry]'), null);
      const style = await page.$eval('plugin-editor', (one) => {
        const { color, backgroundColor, borderRadius, borderColor } = getComputedStyle(one);
        return `${color} ${backgroundColor} ${borderRadius} ${borderColor}`;
      });
      seen.add(style);
    }
    assert.equal(seen.size, looks.length);
    await page.reload();
    await page.waitForSelector(`[data-look=${looks.at(-1)?.replace('.css', '')}]`);
  });
});
