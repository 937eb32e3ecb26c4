import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginSource } from 'plugin-editor/client.js';
import { COLOUR_RULES, findings, useColours } from '../../support/axe.ts';
import { leavesComposedEnters } from '../../support/composed-enters.ts';
import { eventually } from '../../support/until.ts';
import { buttonNamed, coveredTabs, tabsOutOfView } from '../harness.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { type LauncherPage, reusedLaunchers } from '../launcher-page.ts';

const { service, browser } = await startEditorInBrowser();
const withLauncher = reusedLaunchers(browser, service);
// Types and runs have panels, too.
const everyPanel = { namespace: 'typed', permissions: 'read,write,deploy,runs' };
await service.setNamespace('typed', { input: {} });

let count = 0;

/** Opens a plugin in a page that has an assistant, with its panel in view. */
function withEditor(
  run: (launcher: LauncherPage, session: string, fn: string) => Promise<void>,
  source?: PluginSource,
  { namespace = 'default', permissions }: { namespace?: string; permissions?: string } = {},
) {
  return withLauncher(async (launcher) => {
    const fn = `assisted-${++count}`;
    const plugin = { fn, namespace };
    if (source) await service.save(source, plugin);
    const session = await launcher.open(
      { ...plugin, template: 'javascript' },
      await service.token(plugin, permissions),
    );
    await launcher.waitForMessage('ready', session);
    await launcher.sendMessage({ type: 'configure', session, assistant: true });
    await launcher.frame.locator('#tab-assist').click();
    await launcher.frame.locator('.assist textarea').wait();
    await run(launcher, session, fn);
  });
}

const ask = async ({ frame, page, waitForMessage }: LauncherPage, session: string, prompt: string) => {
  await frame.locator('.assist textarea').click();
  await page.keyboard.sendCharacter(prompt);
  await page.keyboard.press('Enter');
  return waitForMessage('assist', session, (one) => one['prompt'] === prompt);
};
const panelText = ({ frame }: LauncherPage) =>
  frame.$eval('.assist', (panel) => (panel as HTMLElement).innerText);
const sourceOf = ({ frame }: LauncherPage) =>
  frame.$eval('.cm-content', (content) => (content as HTMLElement).innerText);
const untilPanel = (launcher: LauncherPage, part: string) =>
  eventually(
    () => panelText(launcher),
    (text) => text.includes(part),
  );
const press = (launcher: LauncherPage, label: string) =>
  launcher.frame.locator(`.assist ${buttonNamed(label)}`).click();

test('the panel is there while the page has an assistant, and asks nothing by the Enter that ends the composition of a character', async () => {
  await withEditor(async ({ frame, sendMessage }, session) => {
    assert.ok(await leavesComposedEnters(frame, '.assist textarea'));
    await sendMessage({ type: 'configure', session, assistant: false });
    await eventually(
      () => frame.$('#tab-assist'),
      (tab) => !tab,
    );
  });
});

test('a question carries the work, and the answer streams in as text', async () => {
  await withEditor(async (launcher, session, fn) => {
    const asked = await ask(launcher, session, 'What is this?');
    assert.deepEqual(
      [
        asked['ident'],
        asked['namespace'],
        asked['fn'],
        asked['language'],
        asked['problems'],
        asked['failures'],
      ],
      ['com.acme.t1', 'default', fn, 'javascript', [], []],
    );
    assert.match(String(asked['source']), /export function run/);
    const { request } = asked;
    const say = (text: string) => launcher.sendMessage({ type: 'assist-part', session, request, text });
    await say('It greets. <img src=x onerror="alert(1)"> [a link](https://evil.example)\n');
    await untilPanel(launcher, '<img src=x onerror="alert(1)">');
    await say('```js\nlet code;\n```\nThe end.');
    await untilPanel(launcher, 'The end.');
    await launcher.sendMessage({ type: 'assist-end', session, request });
    await untilPanel(launcher, 'Compare with the source');
    assert.equal(
      await launcher.frame.$eval('.assist', (panel) => panel.querySelectorAll('img, a').length),
      0,
    );
    assert.equal(await launcher.frame.$eval('.assist pre', (pre) => pre.textContent), 'let code;');
  });
});

test('the newest text of an answer and Stop stay in view, until the author scrolls up', async () => {
  await withEditor(async (launcher, session) => {
    const { frame } = launcher;
    const { request } = await ask(launcher, session, 'Go on.');
    const say = async (line: string) => {
      await launcher.sendMessage({
        type: 'assist-part',
        session,
        request,
        text: `${'A line.\n'.repeat(60)}${line}\n`,
      });
      await untilPanel(launcher, line);
    };
    const isStopInView = () =>
      frame.$eval('.assist .stop', (stop) => {
        const { top, bottom } = stop.getBoundingClientRect();
        const panel = stop.closest('.dock-panel')!.getBoundingClientRect();
        return top >= panel.top && bottom <= panel.bottom;
      });
    await say('first');
    await eventually(isStopInView, (isInView) => isInView);
    await say('second');
    await eventually(isStopInView, (isInView) => isInView);
    await frame.$eval('.dock-panel:has(.assist)', (panel) => (panel.scrollTop = 100));
    await say('third');
    // The panel has its new size, and what hears of that has run.
    await frame.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    assert.equal(await frame.$eval('.dock-panel:has(.assist)', (panel) => panel.scrollTop), 100);
    // Back at the end, and then in a panel that is higher: the browser scrolls it less, which is not the author's doing.
    await frame.$eval('.dock-panel:has(.assist)', (panel) => (panel.scrollTop = panel.scrollHeight));
    await say('fourth');
    await eventually(isStopInView, (isInView) => isInView);
    const { page } = launcher;
    const { width, height } = page.viewport()!;
    await page.setViewport({ width, height: height + 200 });
    await say('fifth');
    await eventually(isStopInView, (isInView) => isInView);
    await page.setViewport({ width, height });
    await eventually(isStopInView, (isInView) => isInView);
    await launcher.sendMessage({ type: 'assist-end', session, request });
  });
});

test('a proposal is built and tested without being saved, taken by part, and undone as one', async () => {
  await withEditor(async (launcher, session, fn) => {
    const { request, source, tests } = await ask(launcher, session, 'Change it.');
    const before = await sourceOf(launcher);
    await launcher.sendMessage({
      type: 'assist-part',
      session,
      request,
      source: `// first\n${String(source)}// last\n`,
      tests: [
        ...(tests as object[]),
        { name: 'right', payload: 'Ada', expected: `Hello, Ada! This is ${fn} in default.` },
        { name: 'wrong', payload: 'x', expected: 'no' },
      ],
    });
    await launcher.sendMessage({ type: 'assist-end', session, request });
    await untilPanel(launcher, 'It builds, 1 of 2 tests pass. Not passed: wrong. 2 tests ran');
    for (const label of ['Take change 2 of 2', 'Add the test “wrong”'])
      await launcher.frame.locator(`::-p-aria([name="${label}"][role="checkbox"])`).click();
    await untilPanel(launcher, 'It builds, 1 of 1 tests pass. 2 tests ran');
    assert.equal(await service.draft({ fn }), undefined);
    await press(launcher, 'Take what is chosen');
    await untilPanel(launcher, 'You took it.');
    assert.match(await sourceOf(launcher), /^\/\/ first/);
    assert.doesNotMatch(await sourceOf(launcher), /last/);
    const saved = await eventually(
      () => service.draft({ fn }),
      (draft) => draft?.tests?.length === 3,
    );
    assert.deepEqual(
      saved?.tests?.map(({ name }) => name),
      ['Greets by name', 'Greets the world', 'right'],
    );
    // The focus is on the button for that.
    await launcher.page.keyboard.press('Enter');
    await untilPanel(launcher, 'undid');
    assert.equal(await sourceOf(launcher), before);
    await eventually(
      () => service.draft({ fn }),
      (draft) => draft?.tests?.length === 2,
    );
  });
});

test('a problem is explained, a failed test made to pass and a test written where each stands', async () => {
  const tests = [
    { name: 'passes', payload: 'a', expected: 'a' },
    { name: 'fails', payload: 'a', expected: 'b' },
  ];
  const contents = 'export const run = (input) => input;\n';
  const asked = async (launcher: LauncherPage, session: string, name: string) => {
    await launcher.press(name);
    const message = await launcher.waitForMessage('assist', session, ({ prompt }) => prompt === name);
    await launcher.sendMessage({ type: 'assist-end', session, request: message['request'] });
    assert.equal(await launcher.frame.evaluate(() => document.activeElement?.id), 'tab-assist');
    return message;
  };
  const withTests = { contents, lang: 'javascript', tests };
  await withEditor(async (launcher, session) => {
    await launcher.frame.locator('#tab-tests').click();
    await launcher.press('Run all');
    await launcher.until('1 passed, 1 failed');
    await launcher.frame.locator('.test-row:nth-child(2) summary').click();
    assert.deepEqual((await asked(launcher, session, 'Make this test pass: fails'))['failures'], [
      { name: 'fails', payload: 'a', expected: 'b', result: 'a' },
    ]);
    await launcher.type('let broken = ;');
    await launcher.frame.locator('#tab-build').click();
    const label = await launcher.frame
      .locator('.problem-explain')
      .map((button) => button.getAttribute('aria-label') ?? '')
      .wait();
    const { problems } = await asked(launcher, session, label);
    assert.deepEqual(
      (problems as { message: string; line: number }[]).map(({ message, line }) => [message, line]),
      [[label.replace('Explain this problem: ', ''), 2]],
    );
  }, withTests);
  await withEditor(
    async (launcher, session) => {
      await launcher.frame.locator('#tab-tests').click();
      await asked(launcher, session, 'Write a test');
    },
    { ...withTests, tests: [] },
  );
});

const typed = {
  contents: 'export const run = (input) => input;\n',
  lang: 'javascript',
  tests: [{ name: 'one', payload: '1', expected: '1' }],
};

const locales = [
  [
    'en',
    'ltr',
    [
      'Code, part 2 of the answer',
      'Copy',
      'Take change 1 of 1',
      'Take change 1 of 1',
      'Add the test “new”',
      'Add the test “new”',
      'Take what is chosen',
      'Leave it',
      'What do you want to know or change?',
      'Ask',
    ],
  ],
  [
    'de',
    'ltr',
    [
      'Code, Teil 2 der Antwort',
      'Kopieren',
      'Änderung 1 von 1 übernehmen',
      'Änderung 1 von 1 übernehmen',
      'Den Test „new“ hinzufügen',
      'Den Test „new“ hinzufügen',
      'Gewähltes übernehmen',
      'Verwerfen',
      'Was möchten Sie wissen oder ändern?',
      'Fragen',
    ],
  ],
  ['ar', 'rtl', undefined],
] as const;

test('the panel has names and an order for the keyboard, fits, and axe finds nothing, in English, German and from right to left', async () => {
  await withEditor(
    async (launcher, session) => {
      const { frame, page } = launcher;
      const { request, source, tests } = await ask(launcher, session, 'Change it.');
      await launcher.sendMessage({
        type: 'assist-part',
        session,
        request,
        text: 'Some code:\n\n```js\nlet code;\n```\n',
        source: `${String(source)}// last\n`,
        tests: [...(tests as object[]), { name: 'new', payload: 'x' }],
      });
      await launcher.sendMessage({ type: 'assist-end', session, request });
      await frame.waitForSelector('.assist-proposal .button[aria-disabled=false]');
      for (const [scheme, rules] of [
        ['light', undefined],
        ['dark', COLOUR_RULES],
      ] as const) {
        await useColours(page, scheme);
        const found = await findings(frame, { part: '.assist', ...(rules && { rules }) });
        assert.deepEqual(found, [], scheme);
      }
      await page.setViewport({ width: 1960, height: 700 });
      await frame.locator('.actions > .button').click();
      await frame.waitForSelector('#tab-tests .count[data-tone=good]');
      await frame.locator('#tab-assist').click();
      for (const [locale, dir, names] of locales) {
        await launcher.sendMessage({ type: 'configure', session, locale });
        await frame.waitForSelector(`html[lang=${locale === 'ar' ? 'en' : locale}][dir=${dir}]`);
        // Also in the page of a phone, beside its margins.
        for (const width of [323, 360, 760, 1000, 1280, 1536, 1920]) {
          const at = `${locale}, ${width} px`;
          await page.$eval(
            'iframe',
            ({ style }, inlineSize) => Object.assign(style, { inlineSize }),
            `${width}px`,
          );
          await frame.waitForFunction((wanted) => innerWidth === wanted, {}, width);
          assert.deepEqual(await tabsOutOfView(frame), [], at);
          assert.deepEqual(await coveredTabs(frame), [], `covered by their numbers: ${at}`);
          const wider = await frame.$eval('.assist', ({ scrollWidth, clientWidth }) => [
            scrollWidth - clientWidth,
            document.documentElement.scrollWidth - innerWidth,
          ]);
          assert.deepEqual(wider, [0, 0], `wider than its place: ${at}`);
        }
        assert.equal(await frame.$eval('.assist pre', (pre) => getComputedStyle(pre).direction), 'ltr');
        if (!names) continue;
        await frame.focus('.assist pre');
        const found: string[] = [];
        for (const _ of names) {
          const name = await frame.evaluate(() => {
            const element = document.activeElement as HTMLTextAreaElement | null;
            const label = element?.labels?.[0] ?? element;
            return (element?.getAttribute('aria-label') ?? label?.textContent ?? '').trim();
          });
          found.push(name);
          await page.keyboard.press('Tab');
        }
        assert.deepEqual(found, names);
      }
    },
    typed,
    everyPanel,
  );
});

test('a proposal that does not build says so, and one that is left changes nothing', async () => {
  await withEditor(async (launcher, session) => {
    const { request } = await ask(launcher, session, 'Break it.');
    const before = await sourceOf(launcher);
    await launcher.sendMessage({ type: 'assist-part', session, request, source: 'export const run = (' });
    await launcher.sendMessage({ type: 'assist-end', session, request });
    await untilPanel(launcher, 'It does not build. Problems: 1.');
    await press(launcher, 'Leave it');
    await untilPanel(launcher, 'You left it.');
    assert.equal(await sourceOf(launcher), before);
  });
});

test('an answer is stopped by the author, and a failure is said in plain words', async () => {
  await withEditor(async (launcher, session) => {
    const { request } = await ask(launcher, session, 'Go on forever.');
    await launcher.sendMessage({ type: 'assist-part', session, request, text: 'And on' });
    await untilPanel(launcher, 'And on');
    await press(launcher, 'Stop');
    await launcher.waitForMessage('assist-stop', session, (one) => one['request'] === request);
    await untilPanel(launcher, 'You stopped the answer.');
    const said = await launcher.frame.$eval('.assist > [role=status]', (status) => status.textContent);
    assert.equal(said, 'You stopped the answer.');
    for (const [error, words] of [
      ['assistant-timeout', 'The assistant took too long.'],
      ['Quota used up', 'The assistant failed: Quota used up'],
    ] as const) {
      const next = await ask(launcher, session, `Fail by ${error}`);
      await launcher.sendMessage({ type: 'assist-end', session, request: next['request'], error });
      await untilPanel(launcher, words);
    }
    const odd = await ask(launcher, session, 'Say nothing.');
    await launcher.sendMessage({ type: 'assist-part', session, request: odd['request'], more: 1 });
    await untilPanel(launcher, 'answered in a way that cannot be shown');
  });
});
