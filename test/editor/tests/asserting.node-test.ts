import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

const contents = `export function run(input: string): string {
  const { price, count } = JSON.parse(input);
  return JSON.stringify({ total: -price * count });
}
`;
const payload = '{"price":2,"count":3}';

describe('tests with expected answers in the editor', () => {
  const withEditor = editorFixture();

  test('turn the badge red for a wrong answer and name its path, until the answer is accepted', () =>
    withEditor(async ({ service, target, open }) => {
      const tests = [{ name: 'adds up', payload, expected: '{ "total": 6 }' }];
      await service.save({ contents, lang: 'typescript', tests }, target);
      const { page, press, until, untilOpen } = await open();
      await untilOpen();
      await until('Run all');
      await press('Run all');
      await page.waitForSelector('#tab-tests .count[data-tone=bad]');
      await until('1 of 1 tests failed');
      assert.match(
        await page.$eval('.json-differences', (one) => (one as HTMLElement).innerText),
        /total\s+expected 6\s+answered -6/,
      );

      // What one test gave is in view once it has run, however long the test is.
      await page.locator('.test-run').click();
      await page.waitForFunction(() => {
        const panel = document.querySelector('#panel-tests')?.getBoundingClientRect();
        const head = document.querySelector('.test-row .result-head')?.getBoundingClientRect();
        return panel && head && head.top < panel.bottom;
      });
      await press('Accept as expected');
      await until('1 test passed');
      await eventually(
        () => service.draft(target),
        (draft) => draft?.tests?.[0]?.['expected'] === '{"total":-6}',
      );
      await page.waitForSelector('#tab-tests .count[data-tone=good] .icon');
      // The result stands above the inputs, which are folded.
      const [result, inputs] = await Promise.all(
        ['.test .result', '.test-inputs'].map((one) =>
          page.$eval(one, (box) => box.getBoundingClientRect().top),
        ),
      );
      assert.ok((result ?? 0) < (inputs ?? 0));
      assert.equal(await page.$eval('.test-inputs', (one) => (one as HTMLDetailsElement).open), false);
    }));

  test('run by Ctrl+Enter in their payload, which otherwise runs the payload of a run', () =>
    withEditor(async ({ service, target, open }) => {
      const tests = [
        { name: 'one', payload },
        { name: 'two', payload },
      ];
      await service.save({ contents, lang: 'typescript', tests }, target);
      const { page, until, untilOpen } = await open();
      await untilOpen();
      const runs = () =>
        service.seen.filter(({ path }) => path.includes('/api/v1/test/') && path.includes(`/${target.fn}`))
          .length;
      const press = async () => {
        await pressKeys(page, 'Control', 'Enter');
      };
      await page.locator('#tab-run').click();
      await page.type('#run-payload', payload);
      await press();
      await until('-6');
      assert.equal(runs(), 1);
      await page.locator('#tab-tests').click();
      await page.locator('.test-row:nth-child(2) summary').click();
      await page.focus('.test-row:nth-child(2) .field.payload');
      await press();
      await page.waitForSelector('.test-row:nth-child(2) .result');
      assert.equal(runs(), 2);
    }));

  test('mark the old result while something runs, with Stop beside it, and report being offline', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents, lang: 'typescript' }, target);
      const { page, until, untilOpen, untilStatus, press, type } = await open();
      await untilOpen();
      await page.locator('#tab-run').click();
      await page.type('#run-payload', payload);
      await page.locator('.run-payload-button').click();
      await until('-6');
      let pass = () => {};
      service.script.hold = ({ url }) =>
        url.includes('/api/v1/test/') ? new Promise<void>((resolve) => (pass = resolve)) : undefined;
      await page.locator('.run-payload-button').click();
      await until('From the run before.');
      await page.locator('#panel-run .stop').click();
      await until('Not run: stopped');
      service.script.hold = undefined;
      pass();
      await service.stop();
      await page.locator('.run-payload-button').click();
      await until('Not run: connection lost');
      await until('No connection');
      await service.restart();
      await press('Try again');
      await page.waitForFunction(() => !document.body.innerText.includes('No connection'));

      // What stood in the way is not said any longer once it is gone.
      await service.stop();
      await type('// offline');
      await page.locator('.run-payload-button').click();
      await until('Not run: not saved');
      await service.restart();
      await untilStatus('Saved');
      await page.waitForFunction(() => !document.body.innerText.includes('Not run'));
    }));
});
