import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leavesComposedEnters } from '../../support/composed-enters.ts';
import { pressKeys } from '../../support/press-keys.ts';
import type { EditorPage, EditorService, Target } from '../harness.ts';
import { editorFixture } from '../editor-fixture.ts';

const half = 'export const run = (input: string): string => String(Number(input) * 0.5);\n';
const tests = [
  { name: 'halves', payload: '4', expected: '2' },
  { name: 'halves nothing', payload: '0', expected: '0' },
];

const untilState = ({ page }: EditorPage, state: string) =>
  page.waitForSelector(`dialog.deploy[data-state=${state}]`);

const sheetText = ({ page }: EditorPage) =>
  page.$eval('.deploy-parts', (one) => (one as HTMLElement).innerText);

const untilClosed = ({ page }: EditorPage) => page.waitForFunction(() => !document.querySelector('dialog'));

/** Holds the runs of tests until the returned function is called. */
function holdTests({ script }: EditorService): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  script.hold = ({ url }) => (url.includes('/api/v1/test/') ? promise : undefined);
  return resolve;
}

const deployments = ({ seen }: EditorService, { fn }: Target) =>
  seen.filter(({ path }) => path.includes(`/${fn}/`) && path.endsWith('/promote')).length;

describe('the sheet that deploys', () => {
  const withEditor = editorFixture();

  test('runs the tests that never ran, deploys by Enter once they have passed, and then compares with what is live', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: half, lang: 'typescript', tests }, target);
      const editor = await open();
      const { page, untilOpen, until, press, type } = editor;
      await untilOpen();
      // It is opened and confirmed before a test has ended.
      const pass = holdTests(service);
      await press('Deploy');
      await untilState(editor, 'testing');
      await page.waitForSelector('#deploy-message:focus');
      await page.keyboard.sendCharacter('The first one');
      // Such an Enter does not confirm.
      assert.ok(await leavesComposedEnters(page, '#deploy-message'));
      await page.keyboard.press('Enter');
      await until('Deploys once the tests have passed.');
      assert.equal(deployments(service, target), 0);
      pass();
      await until('Deployed as v1.0.0');
      await untilClosed(editor);

      await press('Deploy');
      await until('The draft is the same as v1.0.0, which is live.');
      assert.match(await sheetText(editor), /Goes to\s+Nothing changes/);
      await page.keyboard.press('Escape');
      await untilClosed(editor);

      await type('// more');
      await press('Deploy');
      await untilState(editor, 'settled');
      await page.waitForSelector('.deploy-parts .difference');
      const shown = await sheetText(editor);
      assert.match(shown, /It replaces v1\.0\.0\./);
      assert.match(shown, /Is:\s+\/\/ more/);
      assert.match(shown, /2 tests passed/);
      // The message of the former version is not this one's.
      assert.equal(await page.$eval('#deploy-message', (one) => (one as HTMLTextAreaElement).value), '');
    }));

  test('claims nothing of what is live while the service does not say it, and stops a wait for the service', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: half, lang: 'typescript', tests }, target);
      await service.deploy(half, target);
      const [features, plugin] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      service.script.hold = ({ url }) => {
        if (url.includes('/api/v1/plugin/')) return plugin.promise;
        return url.endsWith('/features') ? features.promise : undefined;
      };
      service.script.respond = ({ url }) =>
        url.includes('/api/v1/plugin/') ? new Response('', { status: 400 }) : undefined;
      const editor = await open();
      const { page, untilOpen, until, press } = editor;
      await untilOpen();
      await press('Deploy');
      await until('unless another version stays live');
      assert.match(await sheetText(editor), /Loading/);
      plugin.resolve();
      await until('What is live could not be loaded');
      assert.match(await sheetText(editor), /Everyone, .* unless another version stays live/);
      await untilState(editor, 'testing');
      await page.locator('.deploy-tests ::-p-text(Stop)').click();
      await untilState(editor, 'untested');
      await until('2 tests did not run: stopped.');
      const actions = () =>
        service.seen.filter(
          ({ path }) => /^\/api\/v1\/(build|test)\//.test(path) && path.includes(`/${target.fn}`),
        ).length;
      const before = actions();
      features.resolve();
      await page.waitForSelector('#tab-run');
      // What would have been requested before this has come to the service.
      await page.evaluate(async (url) => (await fetch(url)).text(), `${service.origin}/api/v1/features`);
      assert.equal(actions(), before);
      await untilState(editor, 'untested');
      await page.keyboard.press('Escape');
      await untilClosed(editor);
      service.script.respond = undefined;
      await press('Deploy');
      await until('The draft is the same as v1.0.0, which is live.');
    }));

  test('asks about tests that fail with a change, and about those that could not run', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: half, lang: 'typescript', tests }, target);
      const editor = await open();
      const { page, untilOpen, until, press } = editor;
      await untilOpen();
      await press('Run all');
      await until('2 passed');
      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'a');
      await page.keyboard.sendCharacter(half.replace('0.5', '0.6').trim());
      const pass = holdTests(service);
      await press('Deploy');
      await page.waitForSelector('#deploy-message:focus');
      assert.match(await sheetText(editor), /Enter deploys\. Shift\+Enter begins a line\./);
      await page.keyboard.press('Enter');
      pass();
      await untilState(editor, 'failed');
      assert.match(await sheetText(editor), /One test fails:\s+halves/);
      assert.doesNotMatch(await sheetText(editor), /Enter deploys/);
      // Enter was meant for "Deploy": it does not answer the question.
      assert.equal(
        await page.$eval('dialog [type=submit]', (one) => one.textContent?.trim()),
        'Deploy all the same',
      );
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog [type=submit]:focus');
      assert.equal(deployments(service, target), 0);
      await press('Show the tests');
      await page.waitForSelector('#tab-tests:focus');

      await page.setOfflineMode(true);
      await editor.type('// later');
      await press('Deploy');
      await untilState(editor, 'untested');
      assert.match(await sheetText(editor), /2 tests did not run: not saved\./);
      await page.setOfflineMode(false);
      await page.locator('.deploy-tests .button').click();
      await untilState(editor, 'failed');
      await press('Deploy all the same');
      await until('Deployed as v1.0.0');
    }));

  test('compares with what is live once the service can be reached again', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: half, lang: 'typescript' }, target);
      await service.deploy(half, target);
      const editor = await open();
      const { page, untilOpen, until, press } = editor;
      await untilOpen();
      await press('Deploy');
      await until('The draft is the same as v1.0.0, which is live.');
      await page.keyboard.press('Escape');
      await untilClosed(editor);
      await page.setOfflineMode(true);
      await press('Deploy');
      await until('What is live could not be loaded');
      await page.setOfflineMode(false);
      await until('The draft is the same as v1.0.0, which is live.');
    }));

  test('says that the same text replaces what is live once its namespace has no types any more', () =>
    withEditor(async ({ service, target, open }) => {
      const place = { ...target, namespace: 'losing' };
      await service.setNamespace('losing', { input: { type: 'string' }, output: { type: 'string' } });
      const contents = 'export const run = (input: string): string => input;\n';
      await service.save({ contents, lang: 'typescript' }, place);
      await service.deploy(contents, place);
      const editor = await open(await service.url(place));
      const { untilOpen, until, press } = editor;
      await untilOpen();
      await press('Deploy');
      await until('The draft is the same as v1.0.0, which is live.');
      assert.match(await sheetText(editor), /Goes to\s+Nothing changes/);
      await editor.page.keyboard.press('Escape');
      await untilClosed(editor);
      await service.setNamespace('losing', {});
      await press('Deploy');
      await until('The draft is the same as v1.0.0, which is live.');
      assert.match(await sheetText(editor), /Goes to\s+Everyone[^]*It replaces v1\.0\.0\./);
    }));

  test('runs the tests once more where the types changed since they passed', () =>
    withEditor(async ({ service, target, open }) => {
      const place = { ...target, namespace: 'tightening' };
      const integer = { type: 'integer' };
      await service.setNamespace('tightening', { input: integer, output: integer });
      const contents = 'export const run = (input: Input): Output => input;\n';
      const passing = [{ name: 'one', payload: '5', expected: '5' }];
      await service.save({ contents, lang: 'typescript', tests: passing }, place);
      const editor = await open(await service.url(place));
      const { page, untilOpen, until, press } = editor;
      await untilOpen();
      await press('Run all');
      await until('1 passed');
      await service.setNamespace('tightening', { input: integer, output: { ...integer, minimum: 10 } });
      await page.evaluate(() => window.dispatchEvent(new Event('focus')));
      await until('Changed since the build');
      await until('Tests ran before the last change');
      await press('Deploy');
      await untilState(editor, 'failed');
    }));

  test('loses nothing when Escape closes it, and gives the focus back', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: half, lang: 'typescript' }, target);
      const editor = await open();
      const { page, untilOpen, until } = editor;
      await untilOpen();
      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'Shift', 'd');
      await page.waitForSelector('#deploy-message:focus');
      await until('This is the first version.');
      assert.match(await sheetText(editor), /This is the first version\.[^]*This plugin has no tests\./);
      await page.keyboard.sendCharacter('What is new');
      await pressKeys(page, 'Shift', 'Enter');
      await page.keyboard.sendCharacter('and why');
      await page.keyboard.press('Escape');
      await untilClosed(editor);
      await page.waitForSelector('.cm-content:focus');
      assert.equal(deployments(service, target), 0);
      await pressKeys(page, 'Control', 'Shift', 'd');
      await page.waitForSelector('#deploy-message:focus');
      await page.keyboard.press('Enter');
      await until('Deployed as v1.0.0');
      await page.locator('#tab-versions').click();
      await until('What is new\nand why');
    }));

  test('opens again with its message when a failed deployment is tried again', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: half, lang: 'typescript', tests }, target);
      const editor = await open();
      const { page, untilOpen, until, press, type } = editor;
      await untilOpen();
      service.script.respond = ({ url }) =>
        url.endsWith('/promote') ? Response.json({ error: {} }, { status: 500 }) : undefined;
      await press('Deploy');
      await untilState(editor, 'settled');
      await page.keyboard.sendCharacter('What is new');
      await page.keyboard.press('Enter');
      await untilClosed(editor);
      await page.waitForSelector('.notice.alert');
      const before = deployments(service, target);
      service.script.respond = undefined;

      // The text that is deployed now is another one than the user has seen in the sheet.
      await type('// more');
      await press('Try again');
      await untilState(editor, 'settled');
      assert.match(await sheetText(editor), /2 tests passed/);
      assert.equal(
        await page.$eval('#deploy-message', (one) => (one as HTMLTextAreaElement).value),
        'What is new',
      );
      assert.equal(deployments(service, target), before);
      await page.focus('#deploy-message');
      await page.keyboard.press('Enter');
      await until('Deployed as v1.0.0');
    }));
});
