import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import type { EditorPage } from '../harness.ts';
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

      await editor.deploy();
      await untilStatusOf(editor, 'deployed', 'v1.0.1 deployed');
      await editor.deploy();
      await until('v1.0.1 is deployed already: nothing changed since.');
      assert.match((await service.draft(target))?.contents ?? '', /\/\/ newer/);
    }));

  test('keeps a notice while the user is elsewhere, and those about a lost connection also once it is back, until the next try', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const editor = await open();
      const { page, untilOpen, until, press, build, deploy } = editor;
      const untilGone = (text: string) =>
        page.waitForFunction((gone) => !document.body.innerText.includes(gone), { polling: 50 }, text);
      // What the browser reports when the user comes back to the tab.
      const comeBack = () =>
        page.evaluate(() => {
          document.dispatchEvent(new Event('visibilitychange'));
          return new Promise(requestAnimationFrame);
        });
      await untilOpen();
      await deploy();
      await until('Deployed as v1.0.0');
      await comeBack();
      await until('Deployed as v1.0.0');

      await page.locator('#tab-run').click();
      await page.waitForSelector('.run-payload-button[aria-disabled=false]');
      await service.stop();
      await page.locator('.run-payload-button').click();
      await until('the run gave no result');
      await until('No connection');
      await service.restart();
      await untilGone('No connection');
      await until('the run gave no result');
      await until('Not run: connection lost');
      await press('Try again');
      await untilGone('connection lost');
      await until('Hi ');

      await service.stop();
      await build();
      await until('the build gave no result');
      await comeBack();
      await until('the build gave no result');
      await service.restart();
      await untilGone('No connection');
      await until('the build gave no result');
      await press('Try again');
      await untilGone('the build gave no result');
      await untilStatusOf(editor, 'built', 'Built');
    }));

  test('says that another page saved once the user is back, and counts no build of that text for this one', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: good, lang: 'typescript' }, target);
      const here = await open();
      await here.untilOpen();
      const built = () => here.page.$eval('.status-built', (one) => one.textContent);
      await service.build(`${good}// theirs`, target);

      await here.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await here.until('This plugin was changed elsewhere');
      assert.equal(await built(), 'Not built since opening');
      await here.press('Show what is saved');
      await untilStatusOf(here, 'built', 'Built');
      assert.match(await here.text(), /\/\/ theirs/);
      assert.equal((await here.page.$$('.notice')).length, 0);

      // Neither does a build of this text count any more, since the service has none of it.
      await service.build(`${good}// theirs again`, target);
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

  test('fails a test that throws, passes one that answers, and shows what the same payload gave before as a difference', () =>
    withEditor(async ({ service, target, open }) => {
      const contents = `const fail = (input: string): never => { throw new Error('No ' + input); };
export const run = (input: string): string => input === 'bad' ? fail(input) : 'first\\nsecond ' + input`;
      const tests = [
        { name: 'good', payload: 'x', expected: 'first\nsecond x' },
        { name: 'bad one', payload: 'bad' },
      ];
      await service.save({ contents, lang: 'typescript', tests }, target);
      const { page, untilOpen, until, press, type } = await open();
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

      await page.locator('#tab-run').click();
      await page.type('#run-payload', 'one');
      await page.locator('#panel-run .button').click();
      await until('second one');
      await type(" + ' two'");
      await until('From before the last change.');
      await page.waitForSelector('.entry-outcome[data-tone=stale]');
      await page.locator('#panel-run .button').click();
      await page.waitForSelector('.difference');
      const lines = await page.$$eval('.diff-line', (all) =>
        all.map((one) => (one as HTMLElement).innerText),
      );
      assert.deepEqual(
        lines.map((line) => line.replace(/\s+/g, ' ').trim()),
        ['first', '- Was: second one', '+ Is: second one two'],
      );
      assert.equal((await service.draft(target))?.tests?.length, 2);
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
});
