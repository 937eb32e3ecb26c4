import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsInBoth } from '../support/axe.ts';
import { pressKeys } from '../support/press-keys.ts';
import { eventually } from '../support/until.ts';
import { shareDemoInBrowser } from './demo-in-browser.ts';

const { openTab } = await shareDemoInBrowser();

test('a plugin can be written and deployed in the editor, and every version run on the vendor’s sample', async () => {
  const tab = await openTab();
  const { page } = tab;
  await tab.signIn('cleo');
  await tab.choosePlugin('greet-customer');
  await tab.click('#run-versions');
  const untilText = (text: string) =>
    page.waitForFunction((part) => document.body.innerText.includes(part), { polling: 50 }, text);
  await untilText('Nothing is deployed yet');

  const frame = await tab.launch();
  const deploy = async (version: string) => {
    await frame.locator('::-p-aria([name="Deploy"][role="button"])').click();
    await frame.waitForSelector('dialog.deploy:not([data-state=testing])');
    await frame.locator('dialog.deploy [type=submit]').click();
    await frame.waitForFunction(
      (text) => document.querySelector('.status-deployed')?.textContent?.startsWith(text),
      { polling: 50 },
      `${version} deployed`,
    );
  };
  await deploy('v1.0.0');
  await frame.locator('.cm-content').click();
  await pressKeys(page, 'Control', 'Home');
  await page.keyboard.type('// second\n');
  await deploy('v1.0.1');
  // The editor keeps its room: what is live is in its bar, and the rest on the plugin's own page.
  await untilText('v1.0.1 is live');

  await tab.click('#leave-editor');
  // What Larder itself makes of the plugin, with its own data, which is run without being asked for.
  await untilText('As v1.0.1 has it');
  assert.match(await tab.text('.work .cases'), /Good morning, Ines![^]*Hallo, Jonas![^]*Bonjour, Margaux!/);
  await tab.click('#run-versions');
  await untilText('2 versions were run, newest first.');
  const rows = await page.$$eval('.runs tbody tr', (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')),
  );
  assert.deepEqual(
    rows.map(([version, output]) => [version, output]),
    ['v1.0.1', 'v1.0.0'].map((version) => [version, '{"greeting":"Good morning, Ines!"}']),
  );
  for (const [, , took] of rows) assert.match(took ?? '', /^[\d.]+ ms$/);

  // Another input; a plugin that was shown before has nothing to do with it.
  const other =
    '{"occasion":"shipped","customer":{"firstName":"Grace","language":"en","orders":1},"hour":15}';
  await page.locator('#run-input').fill(other);
  await tab.click('#run-versions');
  await untilText('Hello, Grace!');
  // One that does not fit runs nothing, and says where.
  await page.locator('#run-input').fill(other.replace('15', '25'));
  await tab.click('#run-live');
  await untilText('invalid-input');
  await untilText('at /hour');
  assert.equal((await tab.text('.runs')).match(/at \/hour/g)?.length, 1);
  assert.deepEqual(await findingsInBoth(page), []);
  // The demo records inputs, so that the editor makes a test of a real run.
  const again = await tab.launch();
  await again.locator('#tab-runs').click();
  await eventually(
    async () => {
      await again.locator('.runs-head button').click();
      return again.$$eval('.run-record', (all) => all.length);
    },
    (count) => count > 0,
  );
  await again.locator('.run-record summary').click();
  await again.locator('.run-record ::-p-text(Save as test)').click();
  await again.waitForFunction(() =>
    document.querySelector<HTMLInputElement>('.test-row .field.name:focus')?.value.startsWith('Run of'),
  );
  await tab.click('#leave-editor');
  await tab.choosePlugin('add-record');
  assert.equal(await page.$('.runs table'), null);
  assert.deepEqual(tab.complaints, []);
});
