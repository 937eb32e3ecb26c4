import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { editorFixture } from '../editor-fixture.ts';

const withEditor = editorFixture();

test('the editor takes an author of Python from the first line to what is deployed', () =>
  withEditor(async ({ service, target, open }) => {
    const tests = [{ name: 'one', payload: '{"name": "Ada"}', expected: 'Hi Ada' }];
    await service.save({ contents: 'import json\n', lang: 'python', tests }, target);
    const editor = await open(await service.url({ ...target, template: 'python' }));
    const { page, untilOpen, until, type } = editor;
    await untilOpen();
    // The line after the colon is indented, and a name of the library is completed with its signature.
    await type('\n\ndef run(input):\nname = json.loa');
    await page.locator('.cm-tooltip-autocomplete li ::-p-text(loads)').click();
    await page.keyboard.type('(input)["name"]\nreturn f"Hi {name}" +');
    await page.waitForSelector('.cm-lint-marker-error');
    await page.locator('#tab-build').click();
    await until('invalid syntax');
    await page.locator('.problem').click();
    await page.waitForFunction(() => document.querySelector('.cursor')?.textContent?.startsWith('Line 6,'));
    await pressKeys(page, 'End');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await until('No problems are known in this text.');
    assert.equal(
      await editor.text(),
      'import json\n\n\ndef run(input):\n    name = json.loads(input)["name"]\n    return f"Hi {name}"',
    );

    await editor.build();
    await until('Built');
    await pressKeys(page, 'Control', 'Enter');
    await until('1 passed');
    await page.locator('#tab-run').click();
    await page.type('#run-payload', '{}');
    await page.locator('.run-payload-button').click();
    await until("KeyError: 'name'");
    await until('line 5, in run');
    await editor.deploy();
    await until('v1.0.0 deployed');
    assert.equal(await service.run('{"name": "Ada"}', target), 200);
  }));
