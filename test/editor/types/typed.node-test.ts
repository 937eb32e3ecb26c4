import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { editorFixture } from '../editor-fixture.ts';

const input = {
  type: 'object',
  description: 'An article in a basket.',
  required: ['count', 'buyer'],
  additionalProperties: false,
  properties: {
    count: { type: 'integer', minimum: 1, description: 'How many there are' },
    buyer: { enum: ['retail', 'trade'], description: 'Who buys it' },
    note: { type: 'string' },
  },
};
const output = {
  type: 'object',
  required: ['price'],
  additionalProperties: false,
  properties: { price: { type: 'integer', minimum: 0, description: 'In cents' } },
};
const prices = {
  input,
  output,
  samples: [
    { name: 'Three at retail', input: { count: 3, buyer: 'retail' }, output: { price: 30 } },
    { name: 'One for the trade', input: { count: 1, buyer: 'trade' } },
  ],
};

const contents = `export const run = ({ count, buyer }: Input): Output => {
  return { price: buyer === 'trade' ? -1 : count * 10 };
};
`;

describe('a namespace with types in the editor', () => {
  const withEditor = editorFixture();

  test('shows its types and samples; a sample becomes a test, whose payload is checked, completed and run', () =>
    withEditor(async ({ service, target, open }) => {
      await service.setNamespace('prices', prices);
      const place = { ...target, namespace: 'prices' };
      await service.save({ contents, lang: 'typescript' }, place);
      const { page, until, press, untilOpen } = await open(await service.url(place));
      await untilOpen();
      await page.locator('#tab-types').click();
      const code = await page.waitForSelector('.types-code');
      assert.match(
        (await code?.evaluate((pre) => pre.textContent)) ?? '',
        /How many there are[^]*count: number/,
      );
      // In the colours of the text, which a style sheet of the page has.
      const colours = await page.$$eval('.types-code span[class]', (spans) => [
        ...new Set(spans.map((span) => getComputedStyle(span).color)),
      ]);
      assert.ok(colours.length > 1, colours.join());

      await press('Use as a test: Three at retail');
      await page.waitForSelector('json-field.payload .cm-content');
      await press('Run: Three at retail');
      await until('Passed');

      // The price of the trade does not fit: where, and what belongs there.
      await page.locator('#tab-types').click();
      await page.locator('summary ::-p-text(One for the trade)').click();
      await press('Run with it: One for the trade');
      await page.locator('.run-payload-button').click();
      await until('Error: invalid-output');
      assert.match(
        await page.$eval('.misfit', (one) => one.textContent?.replaceAll(/\s+/g, ' ') ?? ''),
        /Output price .*integer In cents/,
      );

      // A payload that does not fit is marked as it is typed, and by the service where it is run all the same.
      await page.focus('#run-payload');
      const write = async (text: string) => {
        await pressKeys(page, 'Control', 'a');
        await page.keyboard.type(text);
      };
      await write('{"cou');
      // Before that the list has what fits the beginning of the word.
      await page.waitForFunction(() => document.querySelectorAll('.cm-tooltip-autocomplete li').length === 1);
      await page.locator('.cm-tooltip-autocomplete li ::-p-text(count)').click();
      await page.keyboard.type('0, "colour": 1');
      await until('“buyer” is missing');
      await until('must be ≥ 1');
      await until('is not known here');
      await page.locator('.run-payload-button').click();
      await until('Error: invalid-input');
      assert.equal(await page.$eval('#run-payload', (field) => field.getAttribute('aria-invalid')), 'true');
    }));

  test('keeps the tabs of all six panels in one line of a narrow page, with the chosen one in view', () =>
    withEditor(async ({ service, target, open }) => {
      await service.setNamespace('prices', prices);
      const place = { ...target, namespace: 'prices' };
      await service.save({ contents, lang: 'typescript' }, place);
      const token = await service.token(place, 'read,write,deploy,runs');
      const { page, untilOpen } = await open(await service.url(place, token));
      await untilOpen();
      await page.setViewport({ width: 310, height: 640 });
      for (const id of ['types', 'runs']) await page.waitForSelector(`#tab-${id}`);
      const tops = await page.$$eval('.dock-tab', (tabs) =>
        tabs.map((tab) => tab.getBoundingClientRect().top),
      );
      assert.equal(tops.length, 6);
      assert.equal(new Set(tops).size, 1, tops.join());

      const untilInView = (selector: string) =>
        page.waitForFunction(
          (wanted) => {
            const { left, right } = document.querySelector(wanted)!.getBoundingClientRect();
            const line = document.querySelector('.dock-tabs')!.getBoundingClientRect();
            return left >= line.left - 1 && right <= line.right + 1;
          },
          { polling: 50 },
          selector,
        );
      await page.focus('#tab-tests');
      await page.keyboard.press('End');
      await untilInView('#tab-runs:focus');
      await page.keyboard.press('ArrowRight');
      await untilInView('#tab-tests:focus');
      // A command chooses a panel without any focus on its tab.
      await page.setViewport({ width: 240, height: 640 });
      await pressKeys(page, 'Control', 'b');
      await untilInView('#tab-build[aria-selected=true]');
      // It stays in view where the page becomes narrower.
      await page.setViewport({ width: 740, height: 640 });
      await page.focus('#tab-tests');
      await page.keyboard.press('End');
      await untilInView('#tab-runs:focus');
      // Of a tab with the focus, the browser itself takes care.
      await page.focus('.cm-content');
      await page.setViewport({ width: 240, height: 640 });
      await page.waitForFunction(() => innerWidth === 240);
      await untilInView('#tab-runs[aria-selected=true]');
    }));

  test('shows what changed since the deployed version, until a deployment, or until the vendor has removed the types', () =>
    withEditor(async ({ service, target, open }) => {
      const place = { ...target, namespace: 'changing' };
      await service.setNamespace('changing', prices);
      await service.save({ contents, lang: 'typescript' }, place);
      await service.deploy(contents, place);

      const { note: _, ...rest } = input.properties;
      const properties = { ...rest, count: { type: 'number' }, since: { type: 'string' } };
      const changed = { input: { ...input, properties }, output };
      await service.setNamespace('changing', changed);
      const { page, until, press, deploy, untilOpen } = await open(await service.url(place));
      const comeBack = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await untilOpen();
      await until('What this plugin gets or gives changed since v1.0.0.');
      await press('Show what changed');
      const changes = await page.$$eval('.types-changes li', (all) =>
        all.map((one) => one.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''),
      );
      assert.deepEqual(changes, [
        '~ Input.count has another typeinteger → number',
        '− Input.note is gonestring',
        '+ Input.since is newstring',
      ]);
      await until('The types changed since v1.0.0, which is live');
      await deploy();
      await until('v1.0.1 deployed');
      await page.waitForFunction(() => !document.querySelector('.types-changes'), { polling: 50 });
      await press('Dismiss');

      await service.setNamespace('changing', { ...changed, output: { ...output, required: [] } });
      await comeBack();
      await until('What this plugin gets or gives changed since v1.0.1.');
      await service.deleteNamespace('changing');
      await comeBack();
      await page.waitForFunction(() => !document.querySelector('.notice, #tab-types'), { polling: 50 });
    }));

  test('begins a payload with a sample that is there, or is added later, and leaves it empty once the user has emptied it', () =>
    withEditor(async ({ service, target, open }) => {
      const place = { ...target, namespace: 'prices-later' };
      const { samples, ...withoutSamples } = prices;
      await service.setNamespace('prices-later', withoutSamples);
      await service.save({ contents, lang: 'typescript' }, place);
      const { page, untilOpen } = await open(await service.url(place));
      const comeBack = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await untilOpen();
      await page.waitForSelector('#tab-types');
      await page.locator('#tab-run').click();
      const field = await page.waitForSelector('#run-payload');
      const typed = () => field?.evaluate(({ textContent }) => textContent);
      await service.setNamespace('prices-later', { ...withoutSamples, samples });
      await comeBack();
      await page.waitForFunction(
        () => document.querySelector('#run-payload')?.textContent?.includes('"count": 3'),
        { polling: 50 },
      );
      await field?.focus();
      await pressKeys(page, 'Control', 'a');
      await page.keyboard.press('Delete');
      // The user comes back from another page, where the payload was copied.
      const loaded = page.waitForResponse((response) => response.url().includes('/api/v1/types/'));
      await comeBack();
      await loaded;
      await page.evaluate(() => new Promise(requestAnimationFrame));
      await page.keyboard.type('7');
      assert.equal(await typed(), '7');
    }));

  test('has a panel of types, which is missing without types, where payloads are text', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: 'export const run = (input) => input;\n', lang: 'javascript' }, target);
      const { page, press, untilOpen } = await open();
      await untilOpen();
      await page.waitForSelector('#tab-run');
      assert.equal(await page.$('#tab-types'), null);
      await press('Add test');
      await page.waitForSelector('textarea.payload');
    }));

  test('says what fetch may reach and what may be imported, with and without types, where the language has it', () =>
    withEditor(async ({ service, target, open }) => {
      const connections = [
        {
          name: 'rates',
          description: 'Exchange rates of today.',
          origin: 'https://rates.example.com',
          pathPrefix: '/v1',
          methods: ['GET', 'POST'],
        },
        { name: 'shop', origin: 'https://*.shops.example.com' },
      ];
      const money = 'export const round = Math.round; export const floor = Math.floor; export default round;';
      await service.publish('money', { contents: money, description: 'Amounts.' });
      await service.setNamespace('reaching', { connections, libraries: { money: '1.0.0' } });
      const place = { ...target, namespace: 'reaching' };
      await service.save({ contents: 'export const run = (input) => input;\n', lang: 'javascript' }, place);
      const { page, press, untilOpen } = await open(await service.url(place));
      await untilOpen();
      await page.locator('#tab-types').click();
      const shown = async () => {
        await page.waitForSelector('.granted ul');
        return page.$$eval('.granted li', (all) => all.map((li) => li.innerText));
      };
      const expected = [
        'GET, POST https://rates.example.com/v1\nExchange rates of today.',
        'GET https://*.shops.example.com/\nshop Grants nothing until this tenant has a host for it.',
        "import { round, floor } from 'money';\nAmounts. (1.0.0) round, floor, default",
      ];
      assert.deepEqual(await shown(), expected);
      assert.equal(await page.$('.types-code'), null);
      // Payloads are text, as without connections.
      await page.locator('#tab-tests').click();
      await press('Add test');
      await page.waitForSelector('textarea.payload');

      await service.setNamespace('reaching', prices);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await page.locator('#tab-types').click();
      await page.waitForSelector('.types-code');
      assert.deepEqual(await shown(), expected);

      const without = { ...place, fn: 'without' };
      await service.save({ contents: '', lang: 'assemblyscript' }, without);
      // Only who may write has the text checked, which would start another compiler.
      const other = await open(await service.url(without, await service.token(without, 'read')));
      await other.untilOpen();
      await other.page.locator('#tab-types').click();
      await other.page.waitForSelector('.types-code');
      assert.equal(await other.page.$('.granted'), null);
    }));
});
