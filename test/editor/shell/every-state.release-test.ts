import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { COLOUR_RULES, findings, findingsInBoth, useColours } from '../../support/axe.ts';
import { pressKeys } from '../../support/press-keys.ts';
import { type EditorPage } from '../harness.ts';
import { type EditorFixture, editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

const contents = `let count = 0;
export function run(input: string): string {
  console.log('got', input);
  console.info(new Map([['a', 1]]));
  console.warn('careful');
  console.error('wrong');
  if (input === 'bad') throw new Error('No ' + input);
  return input.startsWith('{') ? input : 'Hi ' + input + ++count + Math.random();
}
`;
const tests = [
  { name: 'the same', description: 'What goes in comes out', payload: '{"a":1}', expected: '{"a":1}' },
  { name: 'another', payload: '{"a":{"b":[1]}}', expected: '{"a":{"b":[2]},"c":3}' },
  { name: 'a text', payload: 'Ada', expected: 'Hi Eva' },
  { name: 'an error', payload: 'bad', expected: 'x' },
  { name: 'only looks', payload: 'Ada' },
  { name: 'was not run' },
];

/** What axe finds in forced colours, where the browser chooses nearly all of them. */
async function findingsInForced({ page }: EditorPage, part = 'body'): Promise<string[]> {
  // Else the page keeps the dark colours that it has.
  await useColours(page, 'light');
  const session = await page.createCDPSession();
  // Without movement: a colour on its way to another is neither.
  const features = [
    { name: 'forced-colors', value: 'active' },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ];
  await session.send('Emulation.setEmulatedMedia', { features });
  const found = await findings(page, { part, rules: COLOUR_RULES });
  await session.detach();
  return found;
}

/** Runs a command by its name, as the palette lists it. */
async function command({ page }: EditorPage, name: string): Promise<void> {
  await page.keyboard.press('F1');
  await page.waitForSelector('dialog.palette[open] input:focus');
  await page.keyboard.sendCharacter(name);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.querySelector('dialog.palette'));
}

const used = { fn: 'used', template: 'typescript' };
let isUsed = false;

/** Opens a plugin that has tests, two versions and real runs. All tests have the same, with its source as it was. */
async function openUsedPlugin({ service, open }: EditorFixture): Promise<EditorPage> {
  const source = { contents, lang: 'typescript', tests };
  if (!isUsed) {
    await service.save(source, used);
    await service.deploy(contents, used);
    await service.run('Ada', used);
    await service.run('bad', used);
    await service.deploy(`${contents}// second\n`, used);
    isUsed = true;
  }
  await service.save({ ...source, contents: `${contents}// second\n` }, used);
  const token = await service.token(used, 'read,write,deploy,runs');
  const editor = await open(await service.url(used, token));
  await editor.untilOpen();
  await editor.until('v1.0.1 deployed');
  return editor;
}

/** Shows the list of runs once both are recorded, which takes up to a second. */
async function untilRuns({ page }: EditorPage): Promise<void> {
  await page.locator('#tab-runs').click();
  await eventually(
    async () => {
      await page.locator('.runs-head button').click();
      await page.waitForSelector('#panel-runs .history, #panel-runs .panel-wait');
      return page.$$eval('.run-record', (all) => all.length);
    },
    (count) => count === 2,
  );
}

describe('in every state of the editor', () => {
  const withEditor = editorFixture();

  test('axe finds nothing in light and dark colours, and in forced ones where colours tell states apart', () =>
    withEditor(async (context) => {
      const { service, open } = context;
      const editor = await openUsedPlugin(context);
      const { page, until, press: click } = editor;
      const look = async (state: string, part?: string) =>
        assert.deepEqual(await findingsInBoth(page, part), [], state);

      await page.locator('#tab-tests').click();
      await click('Run all');
      await until('1 passed, 3 failed');
      await page.$$eval('.test', (all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
      await page.waitForSelector('.json-differences');
      await page.waitForSelector('.difference');
      await look('tests, each open, passed, failed and not run');
      assert.deepEqual(await findingsInForced(editor), []);
      await editor.type('// third\n');
      await click('Deploy');
      await page.waitForSelector('dialog.deploy[data-state=failed] .difference');
      await look('the sheet that deploys, with failed tests', 'dialog[open]');
      await page.keyboard.press('Escape');
      await click('Remove: was not run');
      await look('a test that was removed', '.notices');

      await page.locator('#tab-versions').click();
      await page.waitForSelector('.history-item');
      await click('Make live: v1.0.0');
      await until('v1.0.0 is live now.');
      await look('versions, one of them made live', '.dock');
      await click('Roll out: v1.0.1');
      await page.waitForSelector('dialog.ask [name=percent]:focus');
      await look('the terms of a rollout', 'dialog[open]');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.rollout');
      await look('a rollout', '.dock');
      assert.deepEqual(await findingsInForced(editor, '.dock'), []);
      await click('End the rollout: v1.0.1');
      await until('all runs went back to v1.0.0.');
      await page.select('#compared-to', 'v1.0.0');
      await click('Compare with v1.0.0: v1.0.1');
      await page.waitForSelector('dialog.compare[open] .cm-content');
      await look('two versions compared', 'dialog[open]');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { hidden: true });

      await untilRuns(editor);
      await page.locator('.run-record summary').click();
      await page.waitForSelector('.run-record .log-entry[data-level=error]');
      await click('Try on real runs');
      await until('The inputs of runs are not kept here');
      await look('runs, one open, and no inputs to try the text on', '.dock');

      await page.locator('#tab-run').click();
      await page.type('#run-payload', 'bad');
      await page.locator('.run-payload-button').click();
      await page.waitForSelector('#panel-run .trace .place');
      await look('a payload that made an error', '.dock');

      await editor.type('const x: number = "";\nlet unused = 1;\n');
      await page.waitForSelector('.cm-lintRange-error');
      await page.locator('#tab-build').click();
      await look('problems of the text', '.middle');
      assert.deepEqual(await findingsInForced(editor), []);
      await editor.build();
      await until('The build failed.');
      await look('a build that failed', '.dock');

      for (const [name, selector] of [
        ['Settings', 'dialog[open]'],
        ['Start over in another', 'dialog[open] .languages, dialog[open] button.language, dialog.ask[open]'],
        ['Keyboard help', 'dialog[open]'],
        ['About this plugin', 'dialog[open]'],
      ] as const) {
        await command(editor, name);
        await page.waitForSelector(selector);
        await look(name, 'dialog[open]');
        await page.keyboard.press('Escape');
        await page.waitForSelector('dialog', { hidden: true });
      }
      await page.keyboard.press('F1');
      await page.waitForSelector('dialog.palette[open] input:focus');
      await page.keyboard.sendCharacter('nothing is called this');
      await look('a search for a command that is not there', 'dialog[open]');
      await page.keyboard.press('Escape');
      await click('Menu');
      await page.waitForSelector('[role=menu]', { visible: true });
      await look('the menu', '[role=menu]');
      await page.keyboard.press('Escape');

      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'h');
      await page.waitForSelector('.find');
      await page.keyboard.type('run');
      await look('find and replace', '.find');
      await page.keyboard.press('Escape');
      await page.setViewport({ width: 360, height: 640 });
      await look('a narrow page');
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
      await page.setViewport({ width: 1100, height: 700 });

      await service.stop();
      await editor.type('// offline');
      await until('No connection');
      await look('no connection', '.notices, .bottom');
      await service.restart();
      await editor.untilStatus('Saved');

      const readOnly = await open(await service.url(used, await service.token(used, 'read')));
      await readOnly.until('Read-only');
      assert.deepEqual(await findingsInBoth(readOnly.page), [], 'read-only');
    }));

  test('everything that a panel offers can be reached by the Tab key', () =>
    withEditor(async (context) => {
      const editor = await openUsedPlugin(context);
      const { page } = editor;
      await page.locator('#tab-tests').click();
      await page.locator('.test summary').click();
      await untilRuns(editor);
      await page.locator('.run-record summary').click();
      await page.waitForSelector('.run-record .log-entry');
      for (const panel of ['tests', 'run', 'build', 'versions', 'runs']) {
        await page.locator(`#tab-${panel}`).click();
        await page.waitForSelector(`#panel-${panel}:not([hidden])`);
        if (panel === 'versions') await page.waitForSelector('.history-item');
        await page.focus(`#tab-${panel}`);
        const missed = await page.evaluate((id) => {
          const inPanel = document.querySelectorAll<HTMLElement>(
            `#panel-${id} :is(button, input, textarea, select, summary, [tabindex])`,
          );
          const wanted = [...inPanel].filter((one) => one.checkVisibility() && !one.matches(':disabled'));
          Object.assign(window, { wanted: new Set(wanted) });
          return wanted.length;
        }, panel);
        // As many steps as there are things to reach, and the button beside the tabs.
        for (let step = 0; step <= missed; step++) {
          await page.keyboard.press('Tab');
          await page.evaluate(() => {
            (window as unknown as { wanted: Set<Element | null> }).wanted.delete(document.activeElement);
          });
        }
        const rest = await page.evaluate(() =>
          [...(window as unknown as { wanted: Set<Element> }).wanted].map((one) => one.outerHTML),
        );
        assert.deepEqual(rest, [], panel);
      }
    }));

  test('every command of the page can be run by its name and the Enter key', () =>
    withEditor(async (context) => {
      const editor = await openUsedPlugin(context);
      const { page, type } = editor;
      const until = (holds: string) => page.waitForFunction(holds);
      const focusIn = (selector: string) =>
        until(`document.activeElement?.matches(${JSON.stringify(selector)})`);
      const shows = async (selector: string) => {
        await page.waitForSelector(selector);
        await page.keyboard.press('Escape');
        await page.waitForSelector(selector, { hidden: true });
      };
      await type('const x: number = "";\n');
      await page.waitForSelector('.cm-lintRange-error');
      const effects: Record<string, () => Promise<unknown>> = {
        Save: () => editor.untilStatus('Saved'),
        Build: () => editor.until('Build failed'),
        'Next problem': () => until(`document.querySelector('.cursor').textContent.startsWith('Line 11,')`),
        'Previous problem': () =>
          until(`document.querySelector('.cursor').textContent.startsWith('Line 11,')`),
        'Find and replace': () => shows('.find'),
        Find: () => shows('.find'),
        'Go to the tests': () => focusIn('#tab-tests'),
        'Run a payload': () => focusIn('#tab-run'),
        'Go to the problems': () => focusIn('#tab-build'),
        'Go to the versions': () => focusIn('#tab-versions'),
        'Go to the runs': () => focusIn('#tab-runs'),
        'Go to the text': () => focusIn('.cm-content'),
        'Start over in another language': () => shows('dialog.ask[open]'),
        Settings: () => shows('dialog[open]'),
        'Keyboard help': () => shows('dialog[open]'),
        'About this plugin': () => shows('dialog[open]'),
      };
      for (const [name, effect] of Object.entries(effects)) {
        await command(editor, name);
        await effect();
      }
      // What is wrong in the text is taken out, so that the rest can be done.
      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'a');
      await page.keyboard.press('Backspace');
      await type('export const run = (input: string) => input;');
      await command(editor, 'Run all tests');
      await editor.until('tests failed');
      await command(editor, 'Deploy');
      await page.waitForSelector('dialog.deploy[open]');
      await page.keyboard.press('Escape');
      let pass = () => {};
      context.service.script.hold = ({ url }) =>
        url.includes('/api/v1/test/') ? new Promise<void>((resolve) => (pass = resolve)) : undefined;
      await command(editor, 'Run all tests');
      await editor.until('Testing, 0 of 6');
      await command(editor, 'Stop what is running');
      await page.waitForFunction(() => !document.body.innerText.includes('Testing'));
      pass();
    }));

  test('a choice between two edits is accessible', () =>
    withEditor(async ({ service, target: plugin, open }) => {
      const editor = await open();
      const { page } = editor;
      await editor.untilOpen();
      await editor.save();
      await editor.untilStatus('Saved');
      await service.save({ contents: 'export const x = 1;\n', lang: 'typescript' }, plugin);
      await editor.type('// mine');
      await editor.untilStatus('Not saved: changed elsewhere');
      assert.deepEqual(await findingsInBoth(page), []);
      for (const width of [1100, 360]) {
        await page.setViewport({ width, height: 640 });
        await editor.press('Compare and choose');
        await page.waitForSelector('dialog[open] .cm-content');
        assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'DIALOG');
        assert.deepEqual(await findingsInBoth(page, 'dialog[open]'), []);
        await page.keyboard.press('Escape');
        await page.waitForSelector('dialog', { hidden: true });
      }
    }));

  test('forced colours show what a search finds, and which completion is chosen', () =>
    withEditor(async ({ service, target: plugin, openNew }) => {
      const source = { contents: 'const one = 1;\nexport const run = () => one;\n', lang: 'typescript' };
      await service.save(source, plugin);
      const editor = await openNew();
      const { page } = editor;
      await editor.untilOpen();
      const session = await page.createCDPSession();
      const features = [{ name: 'forced-colors', value: 'active' }];
      await session.send('Emulation.setEmulatedMedia', { features });
      // In one step: the list of completions is drawn anew when more of them arrive.
      const outlines = (selector: string) =>
        page.evaluate(
          (all) => [...document.querySelectorAll(all)].map((one) => getComputedStyle(one).outlineStyle),
          selector,
        );
      await page.focus('.cm-content');
      await pressKeys(page, 'Control', 'f');
      await page.waitForSelector('.find input:focus');
      await page.keyboard.type('one');
      // While it is typed, there are more.
      const found = await eventually(
        () => outlines('.cm-searchMatch'),
        ({ length }) => length === 2,
      );
      assert.deepEqual(found, ['solid', 'solid']);
      await page.keyboard.press('Escape');
      await editor.type('on');
      await pressKeys(page, 'Control', 'Space');
      await page.waitForSelector('.cm-tooltip-autocomplete li[aria-selected]');
      assert.deepEqual(await outlines('.cm-tooltip-autocomplete li[aria-selected]'), ['solid']);
    }));
});
