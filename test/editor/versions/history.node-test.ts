import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BuilderClient } from 'plugin-editor/client.js';
import { editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

const contents = `export function run(input: string): string {
  console.warn("got " + input);
  if (input === "bad") throw new Error("No " + input);
  return "Hi " + input;
}
`;

describe('versions and runs in the editor', () => {
  const withEditor = editorFixture();

  test('show who deployed a version and why; it can be compared, restored and made live', () =>
    withEditor(async ({ service, target, open, saved }) => {
      await service.save({ contents, lang: 'typescript' }, target);
      const token = await service.token(target, 'read,write,deploy');
      const editor = await open(await service.url(target, token));
      const { page, press, deploy, until, untilOpen, type } = editor;
      await untilOpen();
      await press('Deploy');
      await page.waitForSelector('#deploy-message:focus');
      await page.keyboard.type('The first one\n');
      await until('v1.0.0 deployed');
      await type('// second');
      await deploy();
      await until('Deployed as v1.0.1');
      await page.locator('#tab-versions').click();
      await until('The first one');
      await until('by ada');
      assert.equal(await page.$$eval('.history-item', (all) => all.length), 2);

      await press('Compare with the draft: v1.0.0');
      await page.waitForSelector('dialog.compare[open]');
      await until('// second');
      await page.locator('dialog.compare footer .button').click();
      await until('v1.0.0 is in the draft now.');
      await eventually(
        () => service.draft(target),
        (draft) => draft?.contents === contents,
      );
      await press('Bring the former draft back');
      await saved('// second');

      await page.select('#compared-to', 'v1.0.0');
      assert.deepEqual(
        await page.$$eval('.history-actions [aria-label^=Compare]', (all) =>
          all.map(({ ariaLabel }) => ariaLabel),
        ),
        ['Compare with v1.0.0: v1.0.1'],
      );
      await press('Compare with v1.0.0: v1.0.1');
      await page.waitForSelector('dialog.compare[open]');
      await until('v1.0.0 and v1.0.1');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { hidden: true });

      await press('Make live: v1.0.0');
      await until('v1.0.0 is live now.');
      // One confirmation takes the place of another.
      assert.equal(await page.$$eval('.notice', (all) => all.length), 1);
      await until('v1.0.1 deployed, v1.0.0 is live');
      await press('Let the newest be live');
      await until('The newest version is live: v1.0.1.');
      await until('v1.0.1 deployed and live');
    }));

  test('make room by deleting a version, of which the editor says when storage is nearly full', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents, lang: 'typescript' }, target);
      let storageMb = 460;
      service.script.respond = ({ url }) => {
        if (new URL(url).pathname !== '/api/v1/session') return undefined;
        const usage = { storageMb, recordsMb: 1, allowedStorageMb: 500 };
        return Response.json({ environment: 'com.acme', permissions: ['read', 'write', 'deploy'], usage });
      };
      const token = await service.token(target);
      const client = new BuilderClient({ baseUrl: service.origin, token });
      const location = { environment: 'com.acme', userID: 't1', pluginName: target.fn ?? '' };
      const { page, press, deploy, until, untilOpen, type } = await open();
      await untilOpen();
      await until('nearly full: 460 of 500 MB');
      await deploy();
      await until('Deployed as v1.0.0');
      await type('// second');
      await deploy();
      await until('Deployed as v1.0.1');
      // One notice is in view at a time.
      await press('Dismiss');
      await press('Show versions');
      await page.waitForSelector('.history-item');
      const deleteFirst = async () => {
        await press('Delete: v1.0.0');
        await page.waitForSelector('dialog.ask[open]');
        await page.locator('dialog.ask .primary').click();
      };
      // Another page made it live meanwhile.
      await client.setLive(location, 'v1.0.0');
      await deleteFirst();
      await until('v1.0.0 is live or the newest version, and stays.');
      await client.setLive(location, null);
      storageMb = 300;
      await deleteFirst();
      await until('v1.0.0 is deleted.');
      const { versions } = await client.listVersions(location);
      assert.deepEqual(
        versions.map(({ version }) => version),
        ['v1.0.1'],
      );
      await page.waitForFunction(() => !document.body.innerText.includes('nearly full'));
      assert.equal(await page.$$eval('.history-item', (all) => all.length), 1);
    }));

  test('show when a run was, how long it took, what it logged and where it failed, to users with the permission', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents, lang: 'typescript' }, target);
      const first = await open();
      await first.untilOpen();
      // Before anything is deployed, the panel explains itself.
      await first.page.locator('#tab-versions').click();
      await first.until('Nothing is deployed yet.');
      await first.deploy();
      await first.until('v1.0.0 deployed');
      await first.page.waitForSelector('#tab-versions');
      assert.equal(await first.page.$('#tab-runs'), null);

      assert.equal(await service.run('Ada', target), 200);
      assert.equal(await service.run('bad', target), 422);
      const token = await service.token(target, 'read,write,deploy,runs');
      const { page, untilOpen } = await open(await service.url(target, token));
      await untilOpen();
      await page.locator('#tab-runs').click();
      // Runs are recorded within a second of their answers.
      await eventually(
        async () => {
          // Whoever comes back to the panel sees what ran meanwhile.
          await page.locator('#tab-tests').click();
          await page.locator('#tab-runs').click();
          await page.waitForFunction(() =>
            document.querySelector('#panel-runs .history, #panel-runs .panel-wait'),
          );
          return page.$$eval('.run-record', (all) => all.length);
        },
        (count) => count === 2,
      );
      await page.select('.runs-head select', 'failed');
      await page.waitForFunction(() => document.querySelectorAll('.run-record').length === 1);
      await page.waitForFunction(() =>
        document.querySelector('.run-record summary')?.textContent?.includes('Error: No bad'),
      );
      await page.locator('.run-record summary').click();
      await page.waitForSelector('.run-record .trace');
      await page.waitForSelector('.log-entry[data-level=warn]');
      await page.locator('.run-record .place').click();
      await page.waitForFunction(() => document.querySelector('.cursor')?.textContent?.startsWith('Line 3,'));
    }));
});
