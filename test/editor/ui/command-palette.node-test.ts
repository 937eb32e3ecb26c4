import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { javascript, openText, putCursor, untilShown, untilText } from '../language-help/typing.ts';
import { scenes } from '../scenes.ts';
import { eventually } from '../../support/until.ts';

describe('the palette of commands', () => {
  const scene = scenes();

  test('opens by F1 and Ctrl+Shift+P, lists each command with its key, and searches by words', () =>
    scene(async (context) => {
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
    }));

  test('runs the chosen command where the focus was', () =>
    scene(async (context) => {
      const editor = await openText(context, 'export function run( input ){\nreturn input\n}\n');
      const { page } = editor;
      await putCursor(page, 'return', 1);
      await pressKeys(page, 'F1');
      await page.waitForSelector('dialog.palette[open]');
      await page.keyboard.type('format');
      await page.keyboard.press('Enter');
      await untilText(editor, /run\(input\) \{/);
      assert.equal(await page.evaluate(() => document.activeElement?.className.includes('cm-content')), true);
    }));

  test('is loaded on demand, as are language help, Vim’s keys, versions and runs', () =>
    scene(async (context) => {
      const { page } = await openText(context, javascript);
      const loaded = () =>
        page.evaluate(() =>
          performance
            .getEntriesByType('resource')
            .map(({ name }) => name)
            .join('\n'),
        );
      const later = /command-palette|language-help|vim-keys|versions-panel|runs-panel/;
      assert.doesNotMatch(await loaded(), later);
      await putCursor(page, 'return', 0);
      await page.keyboard.press('ArrowRight');
      await eventually(loaded, (names) => names.includes('/assets/language-help'));
      assert.doesNotMatch(await loaded(), /command-palette|vim-keys|versions-panel|runs-panel/);
    }));
});
