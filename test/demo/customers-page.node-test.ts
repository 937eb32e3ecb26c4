import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findings } from '../support/axe.ts';
import { shareDemoInBrowser, shareTab } from './demo-in-browser.ts';
import { deployPlugin } from './deploy.ts';
import type { DemoPage } from './page-driver.ts';
import { targetOf } from './vendor-setup.ts';

const demoInBrowser = await shareDemoInBrowser();
const { demo } = demoInBrowser;
const staffTab = shareTab(demoInBrowser);
const customerTab = shareTab(demoInBrowser);

const BAKERY = '[data-customer="com.example.customer-7"]';

describe('the vendor’s staff', () => {
  const untilText = ({ page }: DemoPage, selector: string, text: string) =>
    page.waitForFunction(
      (query, part) => document.querySelector(query)?.textContent?.includes(part),
      { polling: 50 },
      selector,
      text,
    );

  test('suspend and resume a customer, whose people are told in plain words', async () => {
    await deployPlugin(demo, 'ada', 'export const run = () => ({ accept: false, reason: "one" });\n', {
      message: 'Before the suspension',
    });
    const { tab: staff } = staffTab;
    await staff.signIn('mia');
    await untilText(staff, BAKERY, 'One plugin');
    const { tab: author } = customerTab;
    await author.signIn('ada');
    await author.choosePlugin('add-record');
    await author.page.waitForSelector('[data-live]');
    await staff.click(`${BAKERY} [data-action=suspend]`);
    await untilText(staff, `${BAKERY} .badge`, 'Suspended');
    // The audit log says who it was, and the service tells Larder of it.
    // Ada's page may have read runs since, which is noted, too.
    await staff.page.waitForFunction(
      (parts) =>
        [...document.querySelectorAll('.audit li')].some((entry) =>
          parts.every((part) => entry.textContent?.includes(part)),
        ),
      { polling: 50 },
      ['tenant.suspended', 'Juniper Bakery', 'Mia Holt'],
    );
    await staff.click('#developers');
    await untilText(staff, '.webhooks', 'tenant.suspended');
    // Other files may have deployed this plugin, too.
    const deployed = await staff.page.waitForSelector(
      '.webhooks li ::-p-text(message: Before the suspension)',
    );
    assert.match(
      (await deployed?.evaluate((one) => one.closest('li')?.textContent)) ?? '',
      /plugin\.deployed\s+ident: com\.example\.customer-7, name: add-record, version: v1\.0\.0, actor: Ada Lindqvist, message: Before/,
    );
    assert.deepEqual(await findings(staff.page), []);
    await staff.click('#close-drawer');

    // On a page that was open before, by what it asks for next.
    await author.click('#run-live');
    await untilText(author, '.runs .failure', 'This customer is suspended');
    await author.click('#launch');
    await author.state('error');
    await untilText(author, '.suspended', 'Juniper Bakery is suspended. Its plugins are kept');
    await author.click('#leave-editor');
    await author.signOut();
    await author.signIn('dan');
    await untilText(author, '.suspended', 'they cannot be opened and do not run');
    assert.deepEqual(await findings(author.page), []);
    await author.signOut();
    await author.signIn('ada');
    await author.choosePlugin('add-record');
    await untilText(author, '.suspended', 'Juniper Bakery is suspended');

    await staff.click(`${BAKERY} [data-action=resume]`);
    await untilText(staff, `${BAKERY} .badge`, 'Active');
    await author.click('#refresh');
    await author.page.waitForSelector('.suspended', { hidden: true });
    await author.click('#run-live');
    await untilText(author, '.runs tbody', '"reason":"one"');
  });

  test('delete a customer, of whom nothing is left', async () => {
    const target = targetOf('customer-8');
    await deployPlugin(demo, 'cleo', 'export const run = () => ({ accept: true });\n', { target });
    const oysters = '[data-customer="com.example.customer-8"]';
    const { tab: author } = customerTab;
    await author.signIn('cleo');
    await author.choosePlugin('add-record');
    await author.page.waitForSelector('[data-live]');
    const { tab: staff } = staffTab;
    await staff.signIn('mia');
    await staff.click(`${oysters} [data-action=delete]`);
    await staff.page.waitForSelector(`${oysters} .question`);
    await staff.click('[data-action=keep]');
    await staff.page.waitForSelector(`${oysters} .question`, { hidden: true });
    assert.match(await staff.text(`${oysters} .badge`), /Active/);
    await staff.click(`${oysters} [data-action=delete]`);
    await staff.click('[data-action=delete-for-good]');
    await untilText(staff, `${oysters} .badge`, 'Deleted');

    // The page may have learnt of it from its own requests, and then has nothing to open.
    await author.page.evaluate(() => document.querySelector<HTMLElement>('#launch')?.click());
    await untilText(author, '.gone', 'Saltmarsh Oysters was deleted, with its plugins');
    assert.equal(await author.page.$('.plugin-link'), null);
    await author.signOut();
    await author.signIn('bram');
    const tenants = await author.page.$$eval('[name=tenant] option', (all) => all.map(({ text }) => text));
    assert.deepEqual(tenants, ['Juniper Bakery']);
    await assert.rejects(deployPlugin(demo, 'cleo', '', { target }), /cleo got no token: 403/);

    // Taken on again it begins with nothing.
    await staff.click(`${oysters} [data-action=restore]`);
    await untilText(staff, `${oysters} .badge`, 'Active');
    await author.signOut();
    await author.signIn('cleo');
    await author.choosePlugin('add-record');
    await untilText(author, '.versions', 'Nothing is deployed yet');
    assert.equal(await author.page.$('.entries li'), null);
  });
});
