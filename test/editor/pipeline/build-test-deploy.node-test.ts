import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { pressForHelp, type EditorPage } from '../harness.ts';
import { editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

const good =
  'export function run(input: string): string {\n  console.log("got " + input);\n  return `Hi ${input}`;\n}\n';
const bad = 'export function run(input: string): string {\n  return 1;\n}\n';

/** Waits until the status line says this of the build or the deployment. */
const untilStatusOf = ({ page }: EditorPage, part: 'built' | 'deployed', start: string) =>
  page.waitForFunction(
    (selector, text) => document.querySelector(selector)?.textContent?.startsWith(text),
    { polling: 50 },
    `.status-${part}`,
    start,
  );

const log = ({ page }: EditorPage) => page.$eval('.output.log', ({ textContent }) => textContent);

describe('building, testing and deploying in the editor', () => {
  const withEditor = editorFixture();

  test('works by keyboard, and the status line keeps up', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save(
        { contents: good, lang: 'typescript', tests: [{ name: 'one', payload: 'Ada', expected: 'Hi Ada' }] },
        target,
      );
      const editor = await open();
      const { page, untilOpen, until, type } = editor;
      await untilOpen();
      await untilStatusOf(editor, 'built', 'Not built yet');
      await untilStatusOf(editor, 'deployed', 'Not deployed yet');
      await page.focus('.cm-content');

      await pressKeys(page, 'Control', 'b');
      await untilStatusOf(editor, 'built', 'Built');
      assert.match((await log(editor)) ?? '', /The build succeeded/);

      // The focus goes with the tab, so that its ring is on what is in view.
      await page.focus('#tab-build');
      await pressKeys(page, 'Control', 'Enter');
      await page.waitForSelector('#tab-tests:focus');
      await until('1 passed');
      await until('Hi Ada');
      await until('got Ada');

      await pressKeys(page, 'Control', 'Shift', 'd');
      await page.waitForSelector('#deploy-message:focus');
      await page.keyboard.press('Enter');
      await untilStatusOf(editor, 'deployed', 'v1.0.0 deployed');
      await type('// newer');
      await untilStatusOf(editor, 'built', 'Changed since the build');
      await untilStatusOf(editor, 'deployed', 'v1.0.0 deployed, draft is newer');

      const again = await open();
      await again.untilOpen();
      await untilStatusOf(again, 'deployed', 'v1.0.0 deployed');
    }));

  test('makes a new version at each deployment, and builds when needed', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const editor = await open();
      await editor.untilOpen();
      await editor.deploy();
      await untilStatusOf(editor, 'deployed', 'v1.0.0 deployed');
      await editor.type('// two');
      await editor.deploy();
      await untilStatusOf(editor, 'deployed', 'v1.0.1 deployed');
      await editor.deploy();
      await editor.until('v1.0.1 is deployed already: nothing changed since.');
      assert.match((await service.draft(target))?.contents ?? '', /\/\/ two/);
    }));

  test('keeps a notice while the user is elsewhere, and the one about a lost connection also once it is back', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const editor = await open();
      const { page, untilOpen, until, press, build, deploy } = editor;
      await untilOpen();
      await deploy();
      await until('Deployed as v1.0.0');
      // What the browser reports when the user comes back to the tab.
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await page.evaluate(() => new Promise(requestAnimationFrame));
      await until('Deployed as v1.0.0');

      await page.setOfflineMode(true);
      await build();
      await until('the build gave no result');
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await page.evaluate(() => new Promise(requestAnimationFrame));
      await until('the build gave no result');
      await page.setOfflineMode(false);
      await page.waitForFunction(() => !document.body.innerText.includes('No connection'));
      await until('the build gave no result');
      await press('Try again');
      await page.waitForFunction(() => !document.body.innerText.includes('the build gave no result'));
      await untilStatusOf(editor, 'built', 'Built');
    }));

  test('says that a run gave no result for a lost connection also once the service answers, until the next run', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const { page, untilOpen, untilStatus, until, build, press } = await open();
      await untilOpen();
      await untilStatus('All changes saved');
      await build();
      await page.locator('#tab-run').click();
      await page.waitForSelector('.run-payload-button[aria-disabled=false]');
      await service.stop();
      await page.locator('.run-payload-button').click();
      await until('the run gave no result');
      await until('No connection');
      await service.restart();
      await page.waitForFunction(() => !document.body.innerText.includes('No connection'));
      await until('the run gave no result');
      await until('Not run: connection lost');
      await press('Try again');
      await page.waitForFunction(() => !document.body.innerText.includes('connection lost'));
      await until('Hi ');
    }));

  test('says that another tab saved once the user is back, and counts no build of that text for this one', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const here = await open();
      await here.untilOpen();
      const comeBack = () => here.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      const built = () => here.page.$eval('.status-built', (one) => one.textContent);
      const elsewhere = await open();
      await elsewhere.untilOpen();
      await elsewhere.type('// theirs');
      await elsewhere.build();
      await untilStatusOf(elsewhere, 'built', 'Built');

      await comeBack();
      await here.until('This plugin was changed elsewhere');
      assert.equal(await built(), 'Not built since opening');
      await here.press('Show what is saved');
      await untilStatusOf(here, 'built', 'Built');
      assert.match(await here.text(), /\/\/ theirs/);
      assert.equal((await here.page.$$('.notice')).length, 0);

      // Neither does a build of this text count any more, since the service has none of it.
      await elsewhere.type(' again');
      await elsewhere.build();
      await untilStatusOf(elsewhere, 'built', 'Built');
      // A window that stood beside the other one was visible all the time.
      await here.page.evaluate(() => window.dispatchEvent(new Event('focus')));
      await here.until('This plugin was changed elsewhere');
      assert.equal(await built(), 'Not built since opening');
      // What is typed all the same is a conflict, as ever.
      await here.type('// mine');
      await here.until('Compare and choose');
    }));

  test('checks types while the user types; the build finds the same problems, and nothing is deployed', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: bad, lang: 'typescript' }, target);
      const editor = await open();
      const { page, untilOpen, until, deploy } = editor;
      await untilOpen();
      await page.waitForSelector('.cm-lintRange-error');
      await page.locator('#tab-build').click();
      await until("Type 'number' is not assignable to type 'string'.");
      await until('found as you type');
      const builds = () => service.seen.filter(({ path }) => path.includes('/build/')).length;
      const before = builds();
      await deploy();
      await untilStatusOf(editor, 'built', 'Build failed: one problem');
      await until('found by the build');
      assert.equal(builds(), before + 1);
      assert.equal(
        service.seen.some(({ path }) => path.includes(`${target.fn}/promote`)),
        false,
      );

      // From the list to the place, and once it is mended nothing is left of it.
      await page.locator('.problem').click();
      await page.waitForFunction(() => document.querySelector('.cursor')?.textContent === 'Line 2, column 3');
      await pressKeys(page, 'End');
      for (let count = 0; count < 'return 1;'.length; count++) await page.keyboard.press('Backspace');
      await page.keyboard.sendCharacter('return input;');
      await until('No problems are known in this text.');
      await page.waitForSelector('.cm-lint-marker-error', { hidden: true });
    }));

  test('fails a test that throws, passes one that answers, and shows changes as a difference', () =>
    withEditor(async ({ service, target, open }) => {
      const contents =
        'let n = 0;\nexport function run(input: string): string {\n  if (input === "bad") throw new Error("No " + input);\n  return "first\\nsecond\\nthird";\n}\n';
      const tests = [
        { name: 'good', payload: 'x', expected: 'first\nsecond\nthird' },
        { name: 'bad one', payload: 'bad' },
      ];
      await service.save({ contents, lang: 'typescript', tests }, target);
      const { page, untilOpen, until, press } = await open();
      await untilOpen();
      await until('Run all');
      await press('Run all');
      await until('1 passed, 1 failed');
      await page.locator('.test-row:nth-child(2) summary').click();
      await until('No bad');
      assert.match(
        await page.$eval('.test-row:nth-child(2)', (row) => row.textContent ?? ''),
        /Failed.*No bad/s,
      );

      await service.save(
        { contents: contents.replace('second', 'SECOND'), lang: 'typescript', tests },
        target,
      );
      const again = await open();
      await again.untilOpen();
      await again.until('Run all');
      await again.press('Run: good');
      await again.until('SECOND');
      await again.type('// change');
      await again.page.waitForSelector('.entry-outcome[data-tone=stale]');
      await again.until('From before the last change.');
      await again.press('Run: good');
      await again.until('The same as in the run before.');
    }));

  test('shows changes against the previous run of the same payload as a difference', () =>
    withEditor(async ({ service, target, open }) => {
      const contents = "export const run = (input: string): string => 'first\\nsecond ' + input";
      await service.save({ contents, lang: 'typescript' }, target);
      const { page, type, untilOpen, until } = await open();
      await untilOpen();
      await page.waitForSelector('#tab-run:not([hidden])');
      await page.locator('#tab-run').click();
      await page.type('#run-payload', 'one');
      await page.locator('#panel-run .button').click();
      await until('second one');
      await type(" + ' two'");
      await until('From before the last change.');
      await page.locator('#panel-run .button').click();
      await page.waitForSelector('.difference');
      const lines = await page.$$eval('.diff-line', (all) =>
        all.map((one) => (one as HTMLElement).innerText),
      );
      assert.deepEqual(
        lines.map((line) => line.replace(/\s+/g, ' ').trim()),
        ['first', '- Was: second one', '+ Is: second one two'],
      );
      assert.deepEqual((await service.draft(target))?.tests, undefined);
    }));

  test('names the limit that a run exceeded, and the next run works', () =>
    withEditor(async ({ service, target, open }) => {
      const contents = 'export function run(input) {\n  while (input === "loop");\n  return "done";\n}\n';
      await service.save({ contents, lang: 'javascript' }, target);
      await service.limitRuns(1000);
      const { page, untilOpen, until } = await open();
      await untilOpen();
      await page.waitForSelector('#tab-run:not([hidden])');
      await page.locator('#tab-run').click();
      await page.type('#run-payload', 'loop');
      await page.locator('#panel-run .button').click();
      await until('Error: time-limit');
      await service.limitRuns(null);
      await page.focus('#run-payload');
      await page.keyboard.type('!');
      await page.locator('#panel-run .button').click();
      await until('Ran');
    }));

  test('offers no runs without the feature, and builds without streaming', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript', tests: [{ name: 'one' }] }, target);
      const accepts: (string | null)[] = [];
      service.script.respond = (request) => {
        if (request.url.includes('/build/')) accepts.push(request.headers.get('accept'));
        return request.url.endsWith('/features') ? Response.json({ features: [], languages: [] }) : undefined;
      };
      const editor = await open();
      await editor.untilOpen();
      await editor.build();
      await untilStatusOf(editor, 'built', 'Built');
      assert.match((await log(editor)) ?? '', /The build succeeded/);
      assert.deepEqual(accepts, ['*/*']);
      const shown = await editor.page.$$eval('button, [role=tab]', (all) =>
        all
          .filter((one) => one.checkVisibility())
          .map((one) => one.getAttribute('aria-label') ?? one.textContent?.replace(/\s+/g, '')),
      );
      assert.equal(
        shown.some((name) => /^(Test|Run)/.test(name ?? '') && name !== 'Tests1'),
        false,
        shown.join(),
      );
    }));

  test('repeats requests to a busy service, reports lost connections and ended sessions, and loses nothing', () =>
    withEditor(async ({ service, target, open, saved }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const editor = await open();
      await editor.untilOpen();
      let refusals = 2;
      service.script.respond = (request) =>
        request.url.includes('/build/') && refusals-- > 0
          ? new Response('{}', { status: 503, headers: { 'retry-after': '1' } })
          : undefined;
      await editor.build();
      await editor.until('The service is busy. Trying again in a second.');
      await untilStatusOf(editor, 'built', 'Built');
      assert.equal(await editor.page.$('.notice'), null);

      // The stream breaks off in its midst.
      service.script.respond = (request) =>
        request.url.includes('/build/')
          ? new Response(
              new ReadableStream({
                start: (controller) =>
                  controller.enqueue(new TextEncoder().encode('event: log\ndata: half way\n\n')),
              }),
              { headers: { 'content-type': 'text/event-stream' } },
            )
          : undefined;
      await editor.type('// kept');
      await editor.build();
      await editor.until('half way');
      await service.stop();
      await untilStatusOf(editor, 'built', 'Not built: connection lost');
      await editor.until('Your text is safe.');
      await service.restart();
      await saved('// kept');

      service.script.respond = undefined;
      await editor.press('Try again');
      await untilStatusOf(editor, 'built', 'Built');

      service.clock.ahead = 16 * 60_000;
      await editor.build();
      await untilStatusOf(editor, 'built', 'Not built: your session ended');
      assert.match(await editor.text(), /\/\/ kept/);
    }));

  test('does not build over a draft that was changed elsewhere', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const editor = await open();
      await editor.untilOpen();
      await service.save({ contents: '// theirs', lang: 'typescript' }, target);
      await editor.build();
      await editor.until('Compare and choose');
      assert.equal((await service.draft(target))?.contents, '// theirs');
      await editor.press('Compare and choose');
      await editor.page.waitForSelector('dialog[open]');
      await editor.press('Keep mine');
      await eventually(
        () => service.draft(target),
        (draft) => draft?.contents === good,
      );
      await editor.build();
      await untilStatusOf(editor, 'built', 'Built');
    }));

  test('has a menu of every command, by its button and by the menu key, which Escape leaves', () =>
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

describe('Python in the editor', () => {
  const withEditor = editorFixture();

  test('takes an author of Python from the first line to what is deployed', () =>
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
      await untilStatusOf(editor, 'built', 'Built');
      await pressKeys(page, 'Control', 'Enter');
      await until('1 passed');
      await page.locator('#tab-run').click();
      await page.type('#run-payload', '{}');
      await page.locator('.run-payload-button').click();
      await until("KeyError: 'name'");
      await until('line 5, in run');
      await editor.deploy();
      await untilStatusOf(editor, 'deployed', 'v1.0.0 deployed');
      assert.equal(await service.run('{"name": "Ada"}', target), 200);
    }));
});
