import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countFrames } from '../support/count-frames.ts';
import { deployPlugin } from './deploy.ts';
import { Keyboard } from './keyboard.ts';
import { targetOf } from './vendor-setup.ts';
import { shareDemoInBrowser } from './demo-in-browser.ts';

const { demo, openTab } = await shareDemoInBrowser();

const target = targetOf('customer-7', 'greet-customer');

test('everything from signing in to signing out can be done by keyboard alone', async () => {
  const tab = await openTab();
  const { page } = tab;
  const keys = new Keyboard(page);
  await page.waitForSelector('[data-user=ada]');

  await keys.tabTo(/^button .*Ada Lindqvist/);
  await keys.press('Enter');
  await page.waitForSelector('#sign-out');
  await page.waitForFunction(() => document.activeElement?.matches('main h1'));

  await keys.tabTo(/^a greet-customer/);
  assert.ok(await page.$('.card:focus'));
  await keys.press('Enter');
  await page.waitForFunction(() => {
    const { activeElement } = document;
    return activeElement?.matches('main h1') && activeElement.textContent === 'greet-customer';
  });
  await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
  await keys.tabTo(/^input TypeScript/);
  await keys.press('ArrowUp');
  assert.match((await keys.focused()).name, /^input Python/);
  await keys.press('ArrowUp');
  assert.match((await keys.focused()).name, /^input JavaScript/);
  await keys.tabTo(/^button Launch the editor/);
  await keys.press('Space');
  await page.waitForFunction(() => document.activeElement?.closest('.editor-bar'));
  const editor = await tab.editorFrame();

  const status = (which: string, start: string) =>
    editor.waitForFunction(
      (selector, text) => document.querySelector(selector)?.textContent?.startsWith(text),
      { polling: 50 },
      which,
      start,
    );
  const text = () => editor.$eval('.cm-content', (content) => (content as HTMLElement).innerText);

  await keys.tabTo(/Source$/);
  await keys.press('Home', 'Control');
  await keys.type('// By hand\n');
  // In the text, Tab indents.
  await keys.press('Tab');
  await keys.type('// and by foot\n');
  assert.match(await text(), /^\/\/ By hand\n\s+\/\/ and by foot\n/);
  await keys.press('s', 'Control');
  await status('[role=status]', 'Saved');

  await keys.press('b', 'Control');
  await status('.status-built', 'Built');
  await keys.tabTo(/Source$/);
  await keys.press('Enter', 'Control');
  await editor.waitForFunction(() => /\d passed/.test(document.body.innerText), { polling: 50 });
  // From one panel to the next by arrows.
  await keys.tabTo(/^button Tests/);
  await keys.press('ArrowRight');
  assert.match((await keys.focused()).name, /^button Payload/);
  await keys.press('d', 'Control', 'Shift');
  await editor.waitForSelector('#deploy-message:focus');
  await keys.press('Enter');
  await status('.status-deployed', 'v1.0.0 deployed');
  await keys.tabTo(/^button Close/, true);
  await keys.press('Enter');
  await page.waitForSelector('[data-version="v1.0.0"][data-live]');

  await keys.tabTo(/^textarea Sample input/);
  await keys.press('a', 'Control');
  await keys.type(
    '{"occasion":"shipped","customer":{"firstName":"Grace","language":"en","orders":1},"hour":15}',
  );
  await keys.tabTo(/^button Run every version/);
  await keys.press('Enter');
  await page.waitForFunction(
    () => document.querySelector('.runs tbody')?.textContent?.includes('Hello, Grace!'),
    { polling: 50 },
  );
  assert.match((await keys.focused()).name, /^button Run every version/);

  // A version that is older is made live, and the newest again.
  await deployPlugin(demo, 'bram', 'export const run = () => ({ greeting: "two" });\n', { target });
  await keys.tabTo(/^button Refresh/, true);
  await keys.press('Enter');
  await page.waitForSelector('[data-version="v1.0.1"][data-live]');
  await keys.tabTo(/^button Make live v1.0.0/, true);
  await keys.press('Space');
  await page.waitForSelector('[data-version="v1.0.0"][data-live]');
  await keys.tabTo(/^button Let the newest be live/);
  await keys.press('Enter');
  await page.waitForSelector('[data-version="v1.0.1"][data-live]');

  await keys.tabTo(/^button Sign out/);
  await keys.press('Enter');
  await page.waitForSelector('[data-user=ada]');
  assert.equal(await countFrames(page), 0);
  assert.deepEqual(tab.complaints, []);
});
