import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { findingsInBoth } from '../../support/axe.ts';
import { pressKeys } from '../../support/press-keys.ts';
import type { EditorService, Target } from '../harness.ts';
import { editorFixture } from '../editor-fixture.ts';

const SIZES = [
  [360, 640],
  [360, 400],
  [760, 600],
  [1280, 800],
] as const;

/** The editor's address for a plugin of another tenant, whom the service does not know. */
async function addressOf(service: EditorService, ident: string, target: Target = {}): Promise<string> {
  const url = new URL(await service.url(target));
  url.searchParams.set('ident', ident);
  return url.href;
}

/** Makes the service hand out a draft, whoever asks. */
function answerWithDraft(service: EditorService): void {
  service.script.respond = ({ method, url }) =>
    method === 'GET' && url.includes('/api/v1/draft/')
      ? Response.json({ contents: 'export const run = (input) => input;\n', lang: 'javascript' })
      : undefined;
}

/** What is seen of a part of the owner's line: its text, where it is, and whether it is cut off. */
const seen = (page: Page, part: string) =>
  page.$eval(part, (element) => {
    const { left, right, top, bottom, width } = element.getBoundingClientRect();
    const inside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
    return {
      text: element.textContent,
      visible: inside && width > 0 && element.checkVisibility({ opacityProperty: true }),
      cut: element.scrollWidth > element.clientWidth,
      left,
    };
  });

describe("the plugin's identity", () => {
  const withEditor = editorFixture();

  test('is shown in each view at every size, accessibly in both schemes', () =>
    withEditor(async ({ service, target, open }) => {
      const { page, until, untilOpen } = await open();
      const url = await service.url(target);
      const views: [view: string, url: string, isThere: () => Promise<unknown>][] = [
        ['the editor', url, untilOpen],
        ['a plugin that is being opened', url, () => until('Opening the plugin')],
        [
          'a choice of languages',
          await service.url({ fn: String(target.fn) }),
          () => until('Choose a language'),
        ],
        [
          'a plugin that cannot be opened',
          await service.url(target, 'stale'),
          () => until('Your session ended'),
        ],
        ['an address without a token', url.replace(/token=[^&]*&/, ''), () => until('Open the editor again')],
      ];
      for (const [view, address, isThere] of views) {
        const hold = ({ url: one }: Request) =>
          one.includes('/api/v1/draft') ? new Promise<void>(() => {}) : undefined;
        service.script.hold = view === 'a plugin that is being opened' ? hold : undefined;
        await page.goto(address);
        await isThere();
        for (const [width, height] of SIZES) {
          await page.setViewport({ width, height });
          for (const [part, text] of [
            ['.tenant', 't1'],
            ['.environment', 'com.acme'],
          ] as const) {
            const { left: _, ...shown } = await seen(page, part);
            const expected = { text, visible: true, cut: false };
            assert.deepEqual(shown, expected, `${part} of ${view} at ${width} by ${height}`);
          }
        }
        // The whole of an open editor is looked at in look.node-test.ts.
        const looked = view === 'the editor' ? '.owner' : undefined;
        assert.deepEqual(await findingsInBoth(page, looked), [], view);
        const spokenText = await page.$eval('.owner', (line) =>
          [...line.children]
            .filter((part) => part.ariaHidden !== 'true')
            .map((part) => part.textContent)
            .join(''),
        );
        assert.equal(spokenText, 'Tenant t1, environment com.acme', view);
      }
    }));

  test('is shortened at the tenant when it is too long: the environment stays, and the help has all of it', () =>
    withEditor(async ({ service, target, open }) => {
      answerWithDraft(service);
      const tenant = `customer-7 · com-acme ${'x'.repeat(300)}`;
      const editor = await open(await addressOf(service, `com.attacker.${tenant}`, target));
      await editor.untilOpen();
      for (const [width, height] of SIZES) {
        await editor.page.setViewport({ width, height });
        assert.equal((await seen(editor.page, '.tenant')).cut, true);
        const { visible, cut } = await seen(editor.page, '.environment');
        assert.deepEqual({ visible, cut }, { visible: true, cut: false }, `at ${width} by ${height}`);
        assert.equal(await editor.page.evaluate(() => document.documentElement.scrollWidth), width);
      }
      assert.ok(
        (await editor.page.$eval('p.owner', (line) => line.getAttribute('title') ?? '')).includes(tenant),
      );
      await pressKeys(editor.page, 'F1');
      await editor.page.waitForSelector('dialog.palette[open]');
      await editor.page.keyboard.type('about');
      await editor.page.keyboard.press('Enter');
      await editor.page.waitForSelector('dialog.help[open]');
      const names = await editor.page.$$eval('dialog bdi', (all) =>
        all.map(({ textContent }) => textContent),
      );
      assert.deepEqual(names, [tenant, 'com.attacker', 'default', target.fn]);
    }));

  test('cannot be hidden or reversed by the names themselves', () =>
    withEditor(async ({ service, open }) => {
      answerWithDraft(service);
      const fn = 'add\u202edrocer';
      const ident = 'com.attacker.\u2067עמותה\u202e\n\u200b';
      const editor = await open(await addressOf(service, ident, { fn, namespace: ' \u2066x' }));
      await editor.untilOpen();
      const [tenant, environment] = [
        await seen(editor.page, '.tenant'),
        await seen(editor.page, '.environment'),
      ];
      assert.equal(tenant.text, '[U+2067]עמותה[U+202E][U+000A][U+200B]');
      assert.equal(environment.text, 'com.attacker');
      assert.ok(tenant.left < environment.left, 'the tenant comes first');
      assert.equal((await seen(editor.page, 'h1')).text, 'add[U+202E]drocer');
      assert.equal((await seen(editor.page, '.namespace')).text, '[U+0020][U+2066]x');
      assert.equal(await editor.page.title(), 'add[U+202E]drocer – Plugin editor');
    }));

  test('is not invented where the address names no plugin', () =>
    withEditor(async ({ service, open }) => {
      const { page } = await open(service.empty);
      for (const query of ['', '?ident=acme&fn=x&builder=x', '?ident=com.acme.t1&fn=..&builder=x']) {
        await page.goto(`${service.origin}/editor/${query}`);
        await page.waitForSelector('.message h1:not(.visually-hidden)');
        assert.equal(await page.$('.owner'), null, query);
      }
    }));
});
