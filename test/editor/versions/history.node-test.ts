import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BuilderClient } from 'plugin-editor/client.js';
import { type EditorFixture, editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

const contents = `export function run(input: string): string {
  console.warn("got " + input);
  if (input === "bad") throw new Error("No " + input);
  return "Hi " + input;
}
`;

describe('versions and runs in the editor', () => {
  const withEditor = editorFixture({ recording: { level: 'payloads' } });

  /** A client of a plugin's author, who may see its runs, and where the service has the plugin. */
  const authorOf = async ({ service, target }: EditorFixture) => {
    const token = await service.token(target, 'read,write,deploy,runs');
    const location = { environment: 'com.acme', userID: 't1', pluginName: target.fn ?? '' };
    return { token, location, client: new BuilderClient({ baseUrl: service.origin, token }) };
  };

  test('show who deployed a version and why; it can be compared, restored and made live, and runs are not shown without the permission', () =>
    withEditor(async ({ service, target, open, saved }) => {
      await service.save({ contents, lang: 'typescript' }, target);
      const token = await service.token(target, 'read,write,deploy');
      const editor = await open(await service.url(target, token));
      const { page, press, deploy, until, untilOpen, type } = editor;
      await untilOpen();
      // Before anything is deployed, the panel explains itself.
      await page.locator('#tab-versions').click();
      await until('Nothing is deployed yet.');
      await press('Deploy');
      await page.waitForSelector('#deploy-message:focus');
      await page.keyboard.sendCharacter('The first one');
      await page.keyboard.press('Enter');
      await until('v1.0.0 deployed');
      await type('// second');
      await deploy();
      await until('Deployed as v1.0.1');
      await until('The first one');
      await until('by ada');
      assert.equal(await page.$('#tab-runs'), null);
      await page.waitForFunction(() => document.querySelectorAll('.history-item').length === 2);

      await press('Compare with the draft: v1.0.0');
      await page.waitForSelector('dialog.compare[open]');
      await until('// second');
      await page.locator('dialog.compare footer .button').click();
      await until('v1.0.0 is in the draft now.');
      await eventually(
        () => service.draft(target),
        (draft) => draft?.contents === contents,
      );
      await press('Compare with the draft: v1.0.0');
      await until('The draft is the same as v1.0.0.');
      await press('Dismiss');
      await press('Bring the former text back');
      await saved('// second');

      // In forced colours, buttons have borders, which do not touch.
      const session = await page.createCDPSession();
      const features = [{ name: 'forced-colors', value: 'active' }];
      await session.send('Emulation.setEmulatedMedia', { features });
      const gaps = await page.$$eval('.history-actions .button + .button', (all) =>
        all.map((one) => {
          const before = one.previousElementSibling?.getBoundingClientRect();
          const { left, top } = one.getBoundingClientRect();
          // One that is in the next line is below the one before.
          return before ? Math.max(left - before.right, top - before.bottom) : 0;
        }),
      );
      assert.ok(gaps.length > 0 && gaps.every((gap) => gap >= 4), gaps.join());
      await session.detach();

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
      await service.deploy(contents, target);
      const { page, press, deploy, until, untilOpen, type } = await open();
      await untilOpen();
      await until('nearly full: 460 of 500 MB');
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
      await until('v1.0.0 is live, rolled out or the newest version, and stays.');
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

  test('show when a run was, how long it took, what it logged and where it failed', () =>
    withEditor(async ({ service, target, open }) => {
      const withLongOutput = contents.replace(
        'return',
        'if (input === "long") return "x".repeat(2 ** 21);\n  return',
      );
      await service.save({ contents: withLongOutput, lang: 'typescript' }, target);
      await service.deploy(withLongOutput, target);
      assert.equal(await service.run('Ada', target), 200);
      assert.equal(await service.run('bad', target), 422);
      assert.equal(await service.run('long', target), 422);
      const token = await service.token(target, 'read,write,deploy,runs');
      const { page, untilOpen } = await open(await service.url(target, token));
      await untilOpen();
      await page.locator('#tab-runs').click();
      // Runs are recorded within a second of their answers.
      await eventually(
        async () => {
          // Whoever comes back to the panel sees what ran meanwhile. A list that is still being loaded would be given up.
          await page.waitForSelector('.runs-head button[aria-disabled=false]');
          await page.locator('#tab-tests').click();
          await page.locator('#tab-runs').click();
          await page.waitForSelector('.runs-head button[aria-disabled=false]');
          return page.$$eval('.run-record', (all) => all.length);
        },
        (count) => count === 3,
      );
      await page.select('.runs-head select', 'failed');
      await page.waitForFunction(() => document.querySelectorAll('.run-record').length === 2);
      await page.waitForFunction(() =>
        document
          .querySelector('li:nth-child(2) > .run-record summary')
          ?.textContent?.includes('Error: No bad'),
      );
      await page.locator('li:nth-child(2) > .run-record summary').click();
      await page.waitForSelector('.run-record .trace');
      await page.waitForSelector('.log-entry[data-level=warn]');
      const namesVersion = () =>
        page.$eval('#panel-runs', (panel) =>
          (panel as HTMLElement).innerText.includes('The lines are those of v1.0.0'),
        );
      assert.equal(await namesVersion(), true);
      await page.locator('.run-record .place').click();
      await page.waitForFunction(() => document.querySelector('.cursor')?.textContent?.startsWith('Line 3,'));
      // An error that names no line.
      await page.locator('li:first-child > .run-record summary').click();
      await page.waitForSelector('li:first-child > .run-record .trace');
      assert.equal(await namesVersion(), false);
    }));

  test('deploy to a share of the runs, which can be changed, ended, begun again and made live', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents, lang: 'typescript' }, target);
      await service.deploy(contents, target);
      const { page, press, until, untilOpen, type } = await open();
      await untilOpen();
      await until('v1.0.0 deployed');
      await type('// second');
      await press('Deploy');
      await page.waitForSelector('dialog.deploy [type=radio]:checked');
      await page.focus('dialog.deploy [type=radio]:checked');
      await page.keyboard.press('ArrowDown');
      await page.locator('dialog [name=percent]').fill('99');
      await page.keyboard.press('Enter');
      await until('Deployed as v1.0.1. It gets 99% of the runs; the others stay on v1.0.0.');
      await page.locator('#tab-versions').click();
      await until('v1.0.1 gets 99% of the runs');
      await until('once both versions have 100 runs');
      // Of eight runs, one at least gets the version.
      for (let i = 0; i < 8; i++) await service.run('bad', target);
      await page.waitForFunction(() =>
        /100% failed: [5-8] of [5-8] runs/.test(document.querySelector('.rates')?.textContent ?? ''),
      );

      await press('Change: v1.0.1');
      await page.waitForSelector('dialog.ask [name=percent]:focus');
      await page.keyboard.type('50');
      await page.locator('dialog [name=stop]').click();
      await page.waitForFunction(() => !document.querySelector('dialog [name=runs]'));
      await page.focus('dialog [name=percent]');
      await page.keyboard.press('Enter');
      await until('v1.0.1 gets 50% of the runs');
      await page.waitForFunction(() => !document.body.innerText.includes('It ends by itself'));
      await press('End the rollout: v1.0.1');
      await until('all runs went back to v1.0.0.');
      await page.waitForSelector('versions-panel :focus');

      await press('Roll out: v1.0.1');
      await page.waitForSelector('dialog.ask [name=percent]:focus');
      await page.keyboard.press('Enter');
      await until('v1.0.1 gets 10% of the runs');
      // In the sheet, it says what a deployment changes meanwhile.
      await type('// third');
      await press('Deploy');
      await page.waitForSelector('dialog.deploy .rollout');
      await until('while v1.0.1 is being rolled out');
      assert.equal(await page.$('dialog.deploy [type=radio]'), null);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { hidden: true });
      await press('Make live for everyone: v1.0.1');
      await until('v1.0.1 is live now.');
      await until('when a version was made live');
      // To deploy the text of the newest version makes no version, so none can be made live later.
      const deployAgain = async (version: string) => {
        await press(`Bring back into the draft: ${version}`);
        await until(`${version} is in the draft now.`);
        await press('Deploy');
      };
      await deployAgain('v1.0.1');
      await until('Nothing changes: what is live is the same.');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { hidden: true });
      // To deploy the text of an older one that is live makes a version.
      await press('Make live: v1.0.0');
      await until('v1.0.0 is live now.');
      await deployAgain('v1.0.0');
      await until('v1.0.0 stays live');
    }));

  test('try the text on real runs, and show first what would end in another way', () =>
    withEditor(async (fixture) => {
      const { service, target, open } = fixture;
      const { token, location, client } = await authorOf(fixture);
      await client.build({ ...location, language: 'typescript' }, contents);
      await client.deploy(location);
      for (const input of ['Ada', 'bad', 'Eva']) await service.run(input, target);
      await eventually(
        () => client.listRuns(location),
        ({ runs }) => runs.length === 3,
      );
      const changed = contents.replace('=== "bad"', '!== "Ada"').replace('return "Hi "', 'return "Hello "');
      await service.save({ contents: changed, lang: 'typescript' }, target);
      const { page, press, until, untilOpen, type } = await open(await service.url(target, token));
      await untilOpen();
      await page.locator('#tab-runs').click();
      await press('Try on real runs');
      await until('3 runs: one fails now, one ends in another way, 1 as before.');
      const found = await page.$$eval('.replay .entry summary', (all) =>
        all.map((one) => one.innerText.replaceAll(/\s+/g, ' ').trim()),
      );
      // The time alone, because a narrow panel has no room for the date before it.
      assert.equal(found.length, 2);
      assert.match(found[0] ?? '', /^Fails now Run of \d+:\d\d:\d\d/);
      assert.match(found[1] ?? '', /^Differs Run of \d+:\d\d:\d\d/);
      await page.locator('.replay li:last-child summary').click();
      await until('Is:');
      assert.match(
        await page.$eval('.replay .difference', (one) => (one as HTMLElement).innerText),
        /Hi Ada[^]*Hello Ada/,
      );
      await page.waitForSelector('.replay long-text');
      // An error names lines of the text that was tried.
      await page.locator('.replay li:first-child summary').click();
      await page.locator('.replay li:first-child .trace .place').click();
      await page.waitForSelector('.cm-content:focus');
      assert.equal(await page.$('.replay > .panel-hint'), null);
      await type(' ');
      await page.waitForFunction(
        () => document.querySelector('.replay > .panel-hint')?.textContent === 'From before the last change.',
      );

      await press('Deploy');
      await page.waitForSelector('dialog.deploy[data-state=settled] .replay');
      const { promise, resolve } = Promise.withResolvers<void>();
      service.script.hold = ({ url }) => (url.endsWith('/replay') ? promise : undefined);
      await page.locator('dialog .replay-head .button').click();
      await until('Trying the text on real runs: 0 so far…');
      await page.focus('dialog .stop');
      await page.keyboard.press('Enter');
      await until('Stopped after 0 runs.');
      resolve();
      await page.waitForSelector('dialog .replay-head .button:focus');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { hidden: true });

      await type('%%%');
      await press('Try again');
      await until('The text could not be saved or built, so it cannot be tried.');
    }));
});
