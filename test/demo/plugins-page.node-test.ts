import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findings, findingsInBoth } from '../support/axe.ts';
import { eventually } from '../support/until.ts';
import { shareDemoInBrowser, shareTab } from './demo-in-browser.ts';
import { deployPlugin, editorTokenOf } from './deploy.ts';
import { targetOf } from './vendor-setup.ts';

const demoInBrowser = await shareDemoInBrowser();
const { demo } = demoInBrowser;
const shared = shareTab(demoInBrowser);

/** A greeting of the form that the mail's namespace has. */
const greeting = (word: string) =>
  `export const run = ({ customer }) => ({ greeting: '${word} ' + customer.firstName });\n`;

const FAILING = `export const run = (input) => {
  console.log('Weighing', input);
  throw new Error('no flour <b>left</b>');
};
`;

describe('the plugins of a customer', () => {
  const open = async (user: string) => {
    const { tab } = shared;
    await tab.signIn(user);
    return tab;
  };
  const live = (version: string) => shared.tab.page.waitForSelector(`[data-version="${version}"][data-live]`);
  const untilText = (selector: string, text: string) =>
    shared.tab.page.waitForFunction(
      (query, part) => [...document.querySelectorAll(query)].some((one) => one.textContent?.includes(part)),
      { polling: 50 },
      selector,
      text,
    );
  /** Waits for a run to be recorded, looking again as a user would. */
  const refreshUntil = async (text: string) => {
    const { tab } = shared;
    for (;;) {
      const shown = await tab.page.$eval('.recent', (one) => one.textContent ?? '');
      if (shown.includes(text)) return;
      await tab.click('#refresh');
      // A further click would take the place of the request of this one.
      await tab.page.waitForNetworkIdle({ idleTime: 50 });
    }
  };

  test('show what is live, who deployed each version and why; every version can be run, and rolling back changes what runs', async () => {
    const target = targetOf('customer-7', 'greet-customer');
    const tab = await open('ada');
    const { page } = tab;
    await tab.choosePlugin('greet-customer');
    await tab.click('#run-versions');
    await untilText('.runs', 'Nothing is deployed yet');
    await deployPlugin(demo, 'ada', greeting('one'), { target, message: 'For the opening' });
    await deployPlugin(demo, 'bram', greeting('two'), { target, message: 'With <em>feeling</em>' });
    await page.locator('nav h2 a').click();
    await untilText('.card', 'v1.0.1 is live');
    await untilText('.card', 'JavaScript');
    await tab.choosePlugin('greet-customer');
    await live('v1.0.1');
    await untilText('.work', 'As v1.0.1 has it');
    await untilText('.work .letter', 'two Ines');
    const versions = await page.$$eval('.versions li', (all) => all.map((one) => one.innerText));
    assert.match(versions[0] ?? '', /v1\.0\.1[^]*Bram Okafor, [^]*With <em>feeling<\/em>/);
    assert.match(versions[1] ?? '', /v1\.0\.0[^]*Ada Lindqvist, [^]*For the opening/);

    await tab.click('#run-versions');
    await untilText('.runs', '2 versions were run, newest first.');
    const rows = await page.$$eval('.runs tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')),
    );
    assert.deepEqual(
      rows.map(([version, output]) => [version, output]),
      [
        ['v1.0.1', '{"greeting":"two Ines"}'],
        ['v1.0.0', '{"greeting":"one Ines"}'],
      ],
    );
    for (const [, , took] of rows) assert.match(took ?? '', /^[\d.]+ ms$/);
    // Another input; what was run before stays in view until then.
    const other = await page.$eval('#run-input', (input) =>
      (input as HTMLTextAreaElement).value.replace('Ines', 'Grace'),
    );
    await page.locator('#run-input').fill(other);
    await tab.click('#run-live');
    await untilText('.runs tbody', 'two Grace');
    // One that does not fit runs nothing, and says where.
    await page.locator('#run-input').fill(other.replace(/"hour": *\d+/, '"hour": 25'));
    await tab.click('#run-live');
    await untilText('.runs', 'invalid-input');
    assert.equal((await tab.text('.runs')).match(/at \/hour/g)?.length, 1);
    assert.deepEqual(await findingsInBoth(page), []);
    // A plugin that was shown before has nothing to do with the next.
    await tab.choosePlugin('add-record');
    assert.equal(await page.$('.runs table'), null);
    await tab.choosePlugin('greet-customer');
    await untilText('.work .letter', 'two Ines');

    await tab.click('[data-version="v1.0.0"] [data-make-live]');
    await live('v1.0.0');
    await untilText('.work .letter', 'one Ines');
    assert.match(await tab.text('.versions [role=status]'), /^v1\.0\.0 is live, chosen by Ada Lindqvist, /);
    await tab.click('#run-live');
    await untilText('.runs tbody', 'one Ines');
    assert.equal(await tab.text('.runs tbody th'), 'v1.0.0');
    // A deploy does not change what runs, until the newest is live again.
    await deployPlugin(demo, 'bram', greeting('three'), { target });
    const ran = page.waitForResponse((response) => response.url().endsWith('/plugins/runs'));
    await tab.click('#run-live');
    await ran;
    await page.waitForSelector('#run-live[aria-disabled=false]');
    assert.match(await tab.text('.runs tbody'), /one Ines/);
    await page.locator('nav h2 a').click();
    await untilText('.card', 'v1.0.0 is live, v1.0.2 is newer');
    await tab.choosePlugin('greet-customer');
    // The preview moves the versions below it: a click at where they were would be lost.
    await untilText('.work .letter', 'one Ines');
    await tab.click('#newest-again');
    await live('v1.0.2');
    await tab.click('#run-live');
    await untilText('.runs tbody', 'three Ines');
    assert.deepEqual(tab.complaints, []);
  });

  test('show of a failed run its message, line and logs, but to a reader only that it failed', async () => {
    await deployPlugin(demo, 'ada', FAILING);
    const tab = await open('ada');
    const { page } = tab;
    await tab.choosePlugin('add-record');
    await live('v1.0.0');
    await tab.click('#run-live');
    await untilText('.runs tbody .problem', 'Error: no flour <b>left</b>');
    // The preview runs the plugin too, with other orders: any of them may be recorded first.
    await refreshUntil('"number":1042');
    for (const section of ['.runs tbody', '.recent']) {
      const shown = await page.$eval(section, (one) => one.textContent?.replaceAll(/\s+/g, ' ') ?? '');
      assert.match(shown, /plugin-error Error: no flour <b>left<\/b> Line 3/, section);
      assert.match(shown, /One line of logs.*Weighing \{.*1042/, section);
    }
    await page.locator('nav h2 a').click();
    await untilText('.card .last-failure', 'plugin-error');
    await tab.choosePlugin('add-record');
    await page.waitForSelector('.recent details');
    await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(tab.complaints, []);
    await tab.signOut();

    await tab.signIn('dan');
    await tab.choosePlugin('add-record');
    await untilText('.recent li', 'plugin-error');
    assert.doesNotMatch(await page.content(), /no flour|Weighing/);
  });

  test('can be read but not deployed by a reader', async () => {
    const target = targetOf('customer-7', 'price-rule');
    await deployPlugin(demo, 'ada', 'export const run = () => ({ unitPrice: 1 });\n', { target });
    await deployPlugin(demo, 'ada', 'export const run = () => ({ unitPrice: 2 });\n', { target });
    const tab = await open('dan');
    const { page } = tab;
    await tab.choosePlugin('price-rule');
    await live('v1.0.1');
    const controls = '[data-make-live], #newest-again, #run-live, #run-versions, .new-plugin';
    assert.equal(await page.$(controls), null);
    assert.deepEqual(await findings(page), []);

    // Neither the token that the page got nor the vendor's back end lets a reader change what runs.
    const token = await editorTokenOf(demo, 'dan', target);
    const draft = `${demo.service}api/v1/draft/${target.ident}/${target.namespace}/${target.fn}`;
    const headers = { authorization: `Bearer ${token}` };
    assert.match(await (await fetch(draft, { headers })).text(), /unitPrice: 2/);
    const refused = await fetch(`${draft}/promote`, { method: 'POST', headers });
    const { error } = (await refused.json()) as { error: { code: string } };
    assert.deepEqual([refused.status, error.code], [403, 'not-permitted']);
    const own = await page.evaluate(async () => {
      const type = { 'content-type': 'application/json' };
      const body = '{"ident":"com.example.customer-7","name":"price-rule","version":"v1.0.0"}';
      return (await fetch('/plugins/live', { method: 'PUT', headers: type, body })).status;
    });
    assert.equal(own, 403);
  });

  test('leave the editor as much height as the page allows, at 1280 by 800 pixels, with the recorded inputs, of which it makes tests', async () => {
    const target = targetOf('customer-8');
    await deployPlugin(demo, 'bram', 'export const run = () => ({ accept: true });\n', { target });
    const tab = await open('bram');
    const { page } = tab;
    await page.setViewport({ width: 1280, height: 800 });
    await page.select('[name=tenant]', 'com.example.customer-8');
    await tab.choosePlugin('add-record');
    await tab.click('#run-live');
    await untilText('.runs tbody', '"accept":true');
    const frame = await tab.launch();
    const height = () =>
      page.$eval('plugin-editor >>> iframe', (element) => element.getBoundingClientRect().height);
    assert.ok((await height()) > 650);
    await untilText('.editor-bar .live', 'v1.0.0 is live');
    assert.ok((await height()) > 650);

    await frame.locator('#tab-runs').click();
    await eventually(
      async () => {
        await frame.locator('.runs-head button').click();
        return frame.$$eval('.run-record', (all) => all.length);
      },
      (count) => count > 0,
    );
    // What the last click loads may move the list.
    await frame.waitForSelector('.runs-head button[aria-disabled=false]');
    await frame.locator('.run-record summary').click();
    await frame.locator('.run-record ::-p-text(Save as test)').click();
    await frame.waitForFunction(() =>
      document.querySelector<HTMLInputElement>('.test-row .field.name:focus')?.value.startsWith('Run of'),
    );

    // Others, and the author in the editor, change what is live.
    for (const [event, version] of [
      ['plugin-editor-deploy', 'v1.0.1'],
      ['plugin-editor-live', 'v1.0.2'],
    ] as const) {
      await deployPlugin(
        demo,
        'bram',
        `export const run = () => ({ accept: false, reason: '${version}' });\n`,
        { target },
      );
      await page.evaluate((type) => document.dispatchEvent(new Event(type)), event);
      await untilText('.editor-bar .live', `${version} is live`);
    }
  });
});
