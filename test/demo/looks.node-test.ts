import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { COLOUR_RULES, findings, SIZE_RULES, useColours } from '../support/axe.ts';
import { shareDemoInBrowser, shareTab } from './demo-in-browser.ts';

const shared = await shareDemoInBrowser();

const folder = new URL('../../demo/page/looks/', import.meta.url);
const files = (await readdir(folder)).filter((name) => name.endsWith('.css'));
const looks = files.map((name) => name.replace('.css', ''));

for (const name of files) {
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
