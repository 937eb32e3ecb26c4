import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { useColours } from '../../support/axe.ts';
import { editorFixture } from '../editor-fixture.ts';
import { tabsOutOfView } from '../harness.ts';

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

describe('the layout of the editor', () => {
  const withEditor = editorFixture();

  // German has the longest texts.
  for (const [language, direction, deploy] of [
    ['de', 'ltr', 'Bereitstellen'],
    ['en', 'rtl', 'Deploy'],
  ] as const)
    test(`shows names, panels and the buttons of tests from a phone to a wide screen, in ${language} and ${direction}`, () =>
      withEditor(async ({ service, openNew }) => {
        const plugin = { fn: 'price-for-wholesale', namespace: 'prices', template: 'typescript' };
        // With types there is one panel more.
        await service.setNamespace('prices', { input: { type: 'string' }, output: { type: 'string' } });
        await service.save({ contents, lang: 'typescript', tests }, plugin);
        const token = await service.token(plugin, 'read,write,deploy,runs');
        const prepare = async (one: Page) => {
          await one.evaluateOnNewDocument(
            (tag, dir) => {
              Object.defineProperty(navigator, 'languages', { get: () => [tag] });
              addEventListener('DOMContentLoaded', () => (document.documentElement.dir = dir));
            },
            language,
            direction,
          );
          await useColours(one, 'light');
          await one.setViewport({ width: 1280, height: 700 });
        };
        const editor = await openNew(prepare, await service.url(plugin, token));
        const { page } = editor;
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
      }));
});
