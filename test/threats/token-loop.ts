import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Frame } from 'puppeteer-core';
import { DemoPage } from '../demo/page-driver.ts';
import { countFrames } from '../support/count-frames.ts';
import { pressKeys } from '../support/press-keys.ts';
import type { World } from './token-world.ts';

const status = (frame: Frame, part: string, start: string) =>
  frame.waitForFunction(
    (selector, text) => document.querySelector(selector)?.textContent?.startsWith(text),
    { polling: 50 },
    part,
    start,
  );

/** Goes once through all that one does with the demo, and all that goes wrong, by one delivery of the token. */
export async function useEverything(world: World, delivery: 'url' | 'message', user: string): Promise<void> {
  const { demo, browser, dataDir } = world;
  const context = await browser.createBrowserContext();
  const tab = new DemoPage(await context.newPage());
  const { page } = tab;
  await world.watch(page);
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(demo.vendor);
  const look = () => world.look(page);

  await tab.signIn(user);
  await tab.chooseDelivery(delivery);
  await tab.choosePlugin('greet-customer');
  await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
  const frame = await tab.launch();
  await look();
  assert.ok(await frame.evaluate(() => 'eventsSaid' in window));

  await frame.locator('.cm-content').click();
  await page.keyboard.type('// one\n');
  await status(frame, '.status', 'Saved');
  await pressKeys(page, 'Control', 'b');
  await status(frame, '.status-built', 'Built');
  await pressKeys(page, 'Control', 'Enter');
  await frame.waitForFunction(() => /\d passed/.test(document.body.innerText), { polling: 50 });
  await pressKeys(page, 'Control', 'Shift', 'd');
  await status(frame, '.status-deployed', 'v1.0.');
  await page.waitForSelector('.editor-bar .live');
  await look();

  // A renewal, and one that the service forces by refusing the token in the middle of a save.
  await page.evaluate(() => document.querySelector('plugin-editor')?.renewToken());
  const database = new DatabaseSync(join(dataDir, 'service.sqlite'), { timeout: 10_000 });
  database.exec('DELETE FROM editor_tokens');
  database.close();
  const refused = page.waitForResponse(
    (response) => response.status() === 401 && response.url().includes('/api/'),
  );
  await frame.locator('.cm-content').click();
  await page.keyboard.type('// two\n');
  await refused;
  await status(frame, '.status', 'Saved');
  await look();

  if (delivery === 'url') {
    const opening = browser.waitForTarget((target) => target.opener() === page.target());
    await page.locator('.tools ::-p-text(Open in new tab)').click();
    const opened = await (await opening).page();
    assert.ok(opened);
    await opened.waitForSelector('.cm-content[contenteditable=true]');
    await world.look(opened);
    await opened.close();
  }

  const fails = async (code: string, attributes: Record<string, string> = {}) => {
    await page.evaluate(async (draft) => {
      const editor = document.querySelector('plugin-editor');
      for (const [name, value] of Object.entries(draft)) editor?.setAttribute(name, value);
      await editor?.updateComplete;
      // What it rejects with is what `error` is; an editor by address is `ready` until it says otherwise.
      await editor?.reload().catch(() => {});
    }, attributes);
    await page.waitForFunction(
      (one) => document.querySelector('plugin-editor')?.error?.code === one,
      {},
      code,
    );
    await look();
  };
  const attribute = (name: string) =>
    page.$eval('plugin-editor', (one, of) => one.getAttribute(of) ?? '', name);
  const editorUrl = await attribute('editor-url');
  const builder = await attribute('builder');
  // The editor is told of a builder that is not its own; a page that the policy forbids; a session that has ended.
  await fails('editor', { builder: 'http://localhost:9' });
  await fails('frame-blocked', { builder, 'editor-url': '/blocked' });
  await page.evaluate(() => fetch('/session', { method: 'DELETE' }));
  await fails('token-unauthorized', { 'editor-url': editorUrl });
  await page.evaluate(
    (who) =>
      fetch('/session', {
        method: 'POST',
        body: JSON.stringify({ user: who }),
        headers: { 'content-type': 'application/json' },
      }),
    user,
  );
  await tab.click('#try-stranger');
  await tab.state('error');
  await look();

  await tab.choosePlugin('greet-customer');
  await tab.click('#run-versions');
  await page.waitForSelector('.runs tbody tr');
  await look();
  await tab.launch();
  await look();
  await tab.click('#sign-out');
  await page.waitForSelector(`[data-user=${user}]`);
  assert.equal(await countFrames(page), 0);
  await look();
  await context.close();
}
