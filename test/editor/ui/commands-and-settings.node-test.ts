import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { javascript, openText, putCursor, untilShown, untilText } from '../language-help/typing.ts';
import { editorFixture } from '../editor-fixture.ts';
import { pressForHelp } from '../harness.ts';

const withEditor = editorFixture();

describe('the palette of commands', () => {
  test('opens by F1 and Ctrl+Shift+P, lists each command with its key, and searches by words', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      for (const keys of [['F1'], ['Control', 'Shift', 'KeyP']] as const) {
        await pressKeys(page, ...keys);
        await page.waitForSelector('dialog.palette[open]');
        await untilShown(page, '.palette-list', 'Save');
        await page.keyboard.press('Escape');
        await page.waitForFunction(() => !document.querySelector('dialog.palette'));
      }
      await pressKeys(page, 'F1');
      await page.waitForSelector('dialog.palette[open]');
      const items = await page.$$eval('.palette-item', (all) =>
        all.map((item) => (item as HTMLElement).innerText.replace(/\s+/g, ' ')),
      );
      for (const item of [
        'Rename F2',
        'Quick fix Ctrl+.',
        'Format the text Shift+Alt+F',
        'Stop what is running Shift+F5',
      ])
        assert.ok(items.includes(item), `${item} in ${items.join(', ')}`);
      await page.keyboard.type('prob next');
      await page.waitForFunction(() => document.querySelectorAll('.palette-item').length === 1);
      await page.keyboard.type('xyz');
      await untilShown(page, '.palette-none', 'No command has these words');
      // A command is also found by what is in its dialog.
      for (const [word, label] of [
        ['vim', 'Settings'],
        ['setTimeout', 'About this plugin'],
      ] as const) {
        await pressKeys(page, 'Control', 'a');
        await page.keyboard.type(word);
        await untilShown(page, '.palette-item:only-child', label);
      }
    }));

  test('runs the chosen command where the focus was, for which language help is loaded, and not before', () =>
    withEditor(async (context) => {
      const editor = await openText(context, 'export function run( input ){\nreturn input\n}\n');
      const { page } = editor;
      const loaded = () =>
        page.evaluate(() =>
          performance
            .getEntriesByType('resource')
            .map(({ name }) => name)
            .join('\n'),
        );
      await pressKeys(page, 'F1');
      await page.waitForSelector('dialog.palette[open]');
      await page.keyboard.press('Escape');
      assert.doesNotMatch(await loaded(), /language-help/);
      await putCursor(page, 'return', 1);
      await pressKeys(page, 'F1');
      await page.waitForSelector('dialog.palette[open]');
      await page.keyboard.type('format');
      await page.keyboard.press('Enter');
      await untilText(editor, /run\(input\) \{/);
      assert.match(await loaded(), /\/assets\/language-help/);
      await pressKeys(page, 'Shift', 'Alt', 'KeyF');
      await untilShown(page, '.cm-place-message', 'formatted already');
      assert.equal(await page.evaluate(() => document.activeElement?.className.includes('cm-content')), true);
    }));

  test('is also a menu, by the menu key, which Escape leaves, and their keys are in the help', () =>
    withEditor(async ({ open }) => {
      const editor = await open();
      const { page, untilOpen } = editor;
      await untilOpen();
      await page.waitForSelector('#tab-run:not([hidden])');
      await page.focus('.cm-content');
      await pressKeys(page, 'ContextMenu');
      const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).innerText.trim());
      assert.match(await focused(), /^Save/);
      await page.keyboard.press('ArrowDown');
      assert.match(await focused(), /^Build/);
      await page.keyboard.press('Escape');
      assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('cm-content')), true);
      await pressKeys(page, 'Shift', 'F10');
      await page.keyboard.press('d');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog.deploy[open]');
      await page.keyboard.press('Escape');
      await pressForHelp(page);
      await page.waitForSelector('dialog.help[open]');
      assert.match(await page.$eval('dialog.help', ({ innerText }) => innerText), /Deploy\s+Ctrl\+Shift\+D/);
    }));
});

describe('a button and a tab', () => {
  test('keep the focus, and the click that is on its way, when others appear before them', () =>
    withEditor(async ({ service, open }) => {
      const gate = Promise.withResolvers<void>();
      // Only with this response the editor knows that the service runs plugins, and so has the button and the tab for that.
      service.script.hold = ({ url }) => (url.endsWith('/features') ? gate.promise : undefined);
      const { page } = await open();
      const deploy = await page.waitForSelector('.actions .primary');
      const build = await page.waitForSelector('#tab-build');
      const panel = await page.waitForSelector('#panel-build');
      assert.equal(await page.$('#tab-run'), null);
      await deploy?.focus();
      gate.resolve();
      await page.waitForSelector('#tab-run');
      assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Deploy');
      assert.equal(await deploy?.evaluate((element) => element.textContent?.trim()), 'Deploy');
      assert.deepEqual(
        [await build?.evaluate(({ id }) => id), await panel?.evaluate(({ id }) => id)],
        ['tab-build', 'panel-build'],
      );
    }));
});

describe('a button that starts tests', () => {
  test('keeps the focus while it stops them, which a held key does not, and once they have ended', () =>
    withEditor(async (context) => {
      const { service } = context;
      const { page, press, until } = await openText(context, 'export const run = (input) => input;\n');
      await press('Add test');
      await page.waitForSelector('#tab-run');
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
      for (const [tab, name, selector] of [
        ['#tab-tests', 'Test', '.actions .button'],
        ['#tab-tests', 'Run all', '.tests-actions .button'],
        ['#tab-run', 'Run', '.run-payload-button'],
      ] as const) {
        await page.locator(tab).click();
        const gate = Promise.withResolvers<void>();
        service.script.hold = ({ url }) => (url.includes('/test/') ? gate.promise : undefined);
        await page.waitForSelector(`${selector}[aria-disabled=false]`);
        await page.focus(selector);
        assert.equal(await focused(), name);
        await page.keyboard.down('Enter');
        // In the panel it stops them at once, in the header once they have run for a while.
        await page.waitForSelector('.actions .stop');
        // The key is held, and repeats.
        await page.keyboard.down('Enter');
        await page.keyboard.up('Enter');
        assert.equal(await focused(), 'Stop', name);
        gate.resolve();
        await page.waitForFunction(() => !document.querySelector('.stop'));
        assert.equal(await focused(), name);
      }
      await until('1 test ran');
    }));
});

describe('settings, search and size in the editor', () => {
  test('lets wrap, size, indentation, Vim keys and the width of the panels be set by keyboard, and remembers them', () =>
    withEditor(async ({ service, target, open }) => {
      const contents = `export function run(input: string): string {\nreturn input + "${'long '.repeat(80)}";\n}\n`;
      await service.save({ contents, lang: 'typescript' }, target);
      const { page, untilOpen, type } = await open();
      await untilOpen();
      const left = () => page.$eval('.cm-line', (line) => line.getBoundingClientRect().left);
      const before = await left();
      await type('const x: number = "";');
      await page.waitForSelector('.cm-lint-marker-error');
      assert.equal(await left(), before, 'the first problem moves the text');

      await pressKeys(page, 'Control', ',');
      await page.waitForSelector('dialog.settings[open]');
      for (const label of ['Wrap long lines', 'Vim keys']) {
        await page.focus(`::-p-aria([name="${label}"][role="checkbox"])`);
        await page.keyboard.press('Space');
      }
      await page.focus('dialog.settings [type=number]');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Tab');
      await page.select('dialog.settings select', '4');
      await page.keyboard.press('Escape');
      const widthIn = (one: typeof page) => one.$eval('.dock', (dock) => dock.getBoundingClientRect().width);
      const narrow = await widthIn(page);
      await page.focus('[role=separator]');
      for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowLeft');
      const wide = await widthIn(page);
      assert.ok(wide > narrow, `${narrow} to ${wide}`);

      const stateIn = async (one: typeof page) => {
        await one.waitForSelector('.cm-vim-panel');
        await one.waitForSelector('.text .cm-lineWrapping');
        return one.$eval('.text .cm-editor', (editor) => getComputedStyle(editor).fontSize);
      };
      assert.equal(await stateIn(page), '14px');
      const again = await open();
      await again.untilOpen();
      assert.equal(await stateIn(again.page), '14px');
      assert.equal(await widthIn(again.page), wide);
    }));

  test('edits by the usual keys from the first time on, within the policy, and searches', () =>
    withEditor(async ({ service, target, open, saved }) => {
      await service.save({ contents: 'one = 1;\ntwo = one + one;\n', lang: 'javascript' }, target);
      const { page, press, untilOpen, text, type } = await open();
      await untilOpen();
      await page.waitForSelector('.cm-content[data-language]');
      await page.focus('.cm-content');
      const untilSelected = (count: number) =>
        page.waitForFunction(
          (all) => document.querySelectorAll('.cm-selectionBackground').length === all,
          {},
          count,
        );
      // The first selects the word, the second the next one like it.
      await pressKeys(page, 'Control', 'd');
      await untilSelected(1);
      await pressKeys(page, 'Control', 'd');
      await untilSelected(2);
      await page.keyboard.type('uno');
      assert.equal(await text(), 'uno = 1;\ntwo = uno + one;\n');

      // A bracket surrounds what is selected.
      await pressKeys(page, 'Control', 'a');
      await page.keyboard.type('{');
      assert.equal(await text(), '{uno = 1;\ntwo = uno + one;\n}');
      await pressKeys(page, 'Control', 'a');
      await page.keyboard.type('let x');
      assert.equal(await text(), 'let x');
      await pressKeys(page, 'Control', 'z');
      await pressKeys(page, 'Control', 'z');
      // The fixture fails where the page's policy was broken, as by a style that the browser adds to what it deletes.
      assert.match(await text(), /uno = 1;/);

      // A closing bracket is aligned with the line that opened it. The one that closes by itself is taken away, and typed.
      await pressKeys(page, 'Control', 'a');
      await page.keyboard.press('Delete');
      await page.keyboard.type('const list = [');
      await page.keyboard.press('Delete');
      await page.keyboard.press('Enter');
      await page.keyboard.type('1,');
      await page.keyboard.press('Enter');
      await page.keyboard.type(']');
      assert.equal(await text(), 'const list = [\n  1,\n]');

      await pressKeys(page, 'Control', 'a');
      await page.keyboard.press('Delete');
      await type('const one = 1;\nconst two = one + one;');
      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'f');
      await page.waitForSelector('.find [name=search]:focus');
      await page.keyboard.type('one');
      const count = () => page.$eval('.find-count', ({ textContent }) => textContent);
      assert.equal(await count(), '3 matches');
      await page.keyboard.type(' = ');
      assert.equal(await count(), 'One match');
      for (let key = 0; key < 3; key++) await page.keyboard.press('Backspace');
      assert.equal(await count(), '3 matches');
      // The panel is the editor's own: in its font, and without a row that wraps.
      const fonts = await page.evaluate(() =>
        ['body', '.find', '.find .button'].map(
          (one) => getComputedStyle(document.querySelector(one)!).fontFamily,
        ),
      );
      assert.equal(new Set(fonts).size, 1, fonts.join('; '));
      await page.keyboard.press('Enter');
      assert.equal(await count(), '1 of 3');
      await page.keyboard.press('Enter');
      assert.equal(await count(), '2 of 3');
      await pressKeys(page, 'Control', 'h');
      await page.waitForSelector('.find [name=replace]:focus');
      await page.keyboard.type('uno');
      await press('Replace all');
      await page.waitForFunction(() => document.querySelector('.find-count')?.textContent === '3 replaced');
      await saved('const two = uno + uno;');
      await page.focus('.find [name=search]');
      await page.keyboard.press('Escape');
      await page.waitForSelector('.find', { hidden: true });
      assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('cm-content')), true);
    }));

  test('opens the panels once there is room beside the text, unless the user has closed them', () =>
    withEditor(async ({ open }) => {
      const { page, untilOpen } = await open();
      await page.setViewport({ width: 610, height: 700 });
      await untilOpen();
      const untilDock = (isOpen: boolean) => page.waitForSelector(`.dock[data-open=${isOpen}]`);
      await untilDock(false);
      await page.setViewport({ width: 1100, height: 700 });
      await untilDock(true);
      await page.locator('.dock-toggle').click();
      await untilDock(false);
      assert.equal(await page.$eval('.dock-name', (name) => (name as HTMLElement).innerText), 'Panels');
      await page.setViewport({ width: 1920, height: 700 });
      await untilDock(false);
    }));

  test('shows the status line of a small page below a notice', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: 'const one = 1;\n', lang: 'typescript' }, target);
      const { page, untilOpen, until, type } = await open();
      await page.setViewport({ width: 360, height: 400 });
      await untilOpen();
      await page.locator('#tab-tests').click();
      await service.save({ contents: 'const two = 1;\n', lang: 'typescript' }, target);
      await type('// mine');
      await until('Compare and choose');
      for (const [width, height] of [
        [360, 400],
        [500, 300],
        [1280, 378],
      ] as const) {
        const at = `${width} by ${height} pixels`;
        await page.setViewport({ width, height });
        const layout = await page.evaluate(() => {
          const status = document.querySelector('.status') as Element;
          const { left, top, bottom, height: tall } = status.getBoundingClientRect();
          return {
            bottom,
            tall,
            isOnTop: status.contains(document.elementFromPoint(left + 30, top + tall / 2)),
            page: document.documentElement.scrollHeight,
          };
        });
        assert.ok(layout.bottom <= height && layout.tall > 10, `${at}: ${JSON.stringify(layout)}`);
        assert.ok(layout.isOnTop, at);
        assert.equal(layout.page, height);
        // Not even a script scrolls the page away.
        const scrolled = await page.$$eval('.workspace, .middle', (parts) =>
          parts.map((part) => {
            part.scrollTo(50, 50);
            return [part.scrollLeft, part.scrollTop];
          }),
        );
        assert.deepEqual(scrolled.flat(), [0, 0, 0, 0], at);
      }
    }));
});
