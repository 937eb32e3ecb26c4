import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scenes } from '../scenes.ts';

describe('a button and a tab', () => {
  const scene = scenes();

  test('keep the focus, and the click that is on its way, when others appear before them', () =>
    scene(async ({ service, open }) => {
      const gate = Promise.withResolvers<void>();
      // Only with this response the editor knows that the service runs plugins, and so has the button and the tab for that.
      service.script.hold = ({ url }) => (url.endsWith('/features') ? gate.promise : undefined);
      const { page } = await open();
      const deploy = await page.waitForSelector('.actions .primary');
      const build = await page.waitForSelector('#tab-build');
      const panel = await page.waitForSelector('#panel-build');
      assert.equal(await page.$('#tab-run'), null);
      await deploy?.focus();
      gate.resolve();
      await page.waitForSelector('#tab-run');
      assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Deploy');
      assert.equal(await deploy?.evaluate((element) => element.textContent?.trim()), 'Deploy');
      assert.deepEqual(
        [await build?.evaluate(({ id }) => id), await panel?.evaluate(({ id }) => id)],
        ['tab-build', 'panel-build'],
      );
    }));
});
