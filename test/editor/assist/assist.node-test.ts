import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/until.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { type LauncherPage, openLauncher } from '../launcher-page.ts';

const { service, browser } = await startEditorInBrowser();

let count = 0;

/** Opens a plugin in a page that has an assistant, with its panel in view. */
async function withEditor(run: (launcher: LauncherPage, session: string, fn: string) => Promise<void>) {
  const launcher = await openLauncher(browser, service);
  try {
    const fn = `assisted-${++count}`;
    const session = await launcher.open({ fn, template: 'javascript' });
    await launcher.waitForMessage('ready', session);
    await launcher.sendMessage({ type: 'configure', session, assistant: true });
    await launcher.frame.locator('#tab-assist').click();
    await launcher.frame.locator('.assist textarea').wait();
    await run(launcher, session, fn);
    assert.deepEqual(launcher.problems, []);
  } finally {
    await launcher.close();
  }
}

const ask = async ({ frame, page, waitForMessage }: LauncherPage, session: string, prompt: string) => {
  await frame.locator('.assist textarea').click();
  await page.keyboard.type(prompt);
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
  launcher.frame.locator(`.assist ::-p-aria([name="${label}"][role="button"])`).click();

test('the panel is there while the page has an assistant', async () => {
  await withEditor(async (launcher, session) => {
    await launcher.sendMessage({ type: 'configure', session, assistant: false });
    await eventually(
      () => launcher.frame.$('#tab-assist'),
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

test('a proposal is checked, taken by part, and undone as one', async () => {
  await withEditor(async (launcher, session) => {
    const { request, source } = await ask(launcher, session, 'Change it.');
    const proposed = `// first\n${String(source)}// last\n`;
    const before = await sourceOf(launcher);
    const part = { type: 'assist-part', session, request };
    await launcher.sendMessage({ ...part, source: proposed, tests: [{ name: 'new', payload: 'x' }] });
    await launcher.sendMessage({ type: 'assist-end', session, request });
    await untilPanel(launcher, 'Checked: it builds.');
    const boxes = await launcher.frame.$$('.assist-part input');
    assert.equal(boxes.length, 3);
    await boxes[1]?.click();
    await press(launcher, 'Take what is chosen');
    await untilPanel(launcher, 'You took it.');
    assert.match(await sourceOf(launcher), /^\/\/ first/);
    assert.doesNotMatch(await sourceOf(launcher), /last/);
    await press(launcher, 'Undo');
    await untilPanel(launcher, 'undid');
    assert.equal(await sourceOf(launcher), before);
  });
});

test('a proposal that does not build says so, and one that is left changes nothing', async () => {
  await withEditor(async (launcher, session) => {
    const { request } = await ask(launcher, session, 'Break it.');
    const before = await sourceOf(launcher);
    await launcher.sendMessage({ type: 'assist-part', session, request, source: 'export const run = (' });
    await launcher.sendMessage({ type: 'assist-end', session, request });
    await untilPanel(launcher, 'Checked: it does not build.');
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
