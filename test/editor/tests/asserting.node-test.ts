import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { CallMock } from 'plugin-editor/client.js';
import { startUpstream } from '../../service/outbound/upstream.ts';
import { pressKeys } from '../../support/press-keys.ts';
import { type EditorFixture, editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

const contents = `export function run(input: string): string {
  const { price, count } = JSON.parse(input);
  return JSON.stringify({ total: -price * count });
}
`;
const payload = '{"price":2,"count":3}';

const upstream = await startUpstream();
after(() => upstream[Symbol.asyncDispose]());
upstream.handle = (_, response) => response.setHeader('content-type', 'application/json').end('{"rate":2}');
const origin = `http://localhost:${upstream.port}`;

const calling = `export async function run(input: string): Promise<string> {
  const response = await fetch('${origin}/latest?of=' + input);
  return 'rate ' + (await response.json()).rate;
}
`;

describe('tests with expected answers in the editor', () => {
  const withEditor = editorFixture({
    outbound: { allow: [origin] },
    secrets: { keys: [Buffer.alloc(32, 7)] },
    recording: { level: 'payloads' },
    // Time enough for a busy machine.
    runLimits: { time: 20_000, memory: 32 * 2 ** 20 },
  });

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
      await page.focus('#run-payload');
      await page.keyboard.sendCharacter(payload);
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
      await page.focus('#run-payload');
      await page.keyboard.sendCharacter(payload);
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

  /** A plugin that calls, and its test with the payload `EUR`. */
  const openCalling = async ({ service, target, open }: EditorFixture, permissions: string) => {
    const own = { ...target, namespace: 'calling' };
    upstream.requests.length = 0;
    await service.setNamespace('calling', { connections: [{ name: 'rates', origin }] });
    const tests = [{ name: 'one', payload: 'EUR', expected: 'rate 2' }];
    await service.save({ contents: calling, lang: 'typescript', tests }, own);
    const editor = await open(await service.url(own, await service.token(own, permissions)));
    await editor.untilOpen();
    const mocks = (fits: (calls: unknown) => boolean) =>
      eventually(
        () => service.draft(own),
        (draft) => fits(draft?.tests?.[0]?.['calls']),
      );
    return { ...editor, own, mocks };
  };

  test('name the responses to their calls in rows, with a row for a call without one; who may not deploy makes no real calls', () =>
    withEditor(async (fixture) => {
      const { page, press, until, mocks } = await openCalling(fixture, 'read,write');
      await page.waitForSelector('#tab-types');
      await page.locator('#tab-tests').click();
      await page.locator('.test-run').click();
      await page.waitForSelector('.run-calls [data-tone=bad] ::-p-text(call-not-mocked)');
      await page.locator('.test-inputs > summary').click();
      await page.locator('.mock-missing').click();
      await page.waitForSelector('.mock-body:focus');
      await page.keyboard.sendCharacter('{"rate": 3}');
      await page.locator('.mock-status').fill('201');
      await page.locator('.mock-add').click();
      await page.waitForSelector('.mock:nth-of-type(2) .mock-url:focus');
      await page.keyboard.sendCharacter('https://x.example');
      await page.locator('.mock:nth-of-type(2) .mock-method').fill('POST');
      const first = { method: 'GET', url: `${origin}/latest*`, response: { status: 201, body: { rate: 3 } } };
      await mocks((calls) =>
        isDeepStrictEqual(calls, [first, { method: 'POST', url: 'https://x.example', response: {} }]),
      );
      // What was typed is not written anew.
      assert.equal(
        await page.$eval('.mock-body', (field) => (field as HTMLTextAreaElement).value),
        '{"rate": 3}',
      );
      await page.locator('.mock:nth-of-type(2) .mock-remove').click();
      await mocks((calls) => isDeepStrictEqual(calls, [first]));
      await page.locator('.test-run').click();
      await until('rate 3');
      await press('Accept as expected');
      await until('1 test passed');
      assert.equal(upstream.requests.length, 0);
      await page.locator('#tab-run').click();
      await page.waitForSelector('#run-payload');
      assert.equal(await page.$('.make-calls'), null);
    }));

  test('take the responses of real calls and of real runs', () =>
    withEditor(async (fixture) => {
      const permissions = 'read,write,deploy,runs';
      const { page, press, until, deploy, own, mocks } = await openCalling(fixture, permissions);
      await page.locator('#tab-run').click();
      await page.type('#run-payload', 'EUR');
      const box = await page.waitForSelector('.make-calls:not(:checked)');
      const isBesideItsLabel = await box?.evaluate((input) => {
        const middleOf = (element: Element) => {
          const { top, height } = element.getBoundingClientRect();
          return top + height / 2;
        };
        return Math.abs(middleOf(input) - middleOf(input.nextElementSibling!)) <= 1;
      });
      assert.equal(isBesideItsLabel, true);
      await page.locator('.run-payload-button').click();
      await page.waitForSelector('#panel-run .run-calls ::-p-text(call-not-mocked)');
      assert.equal(upstream.requests.length, 0);
      await page.locator('.make-calls').click();
      await until('with the credentials of this tenant');
      await page.locator('.run-payload-button').click();
      await page.waitForSelector(`#panel-run [data-tone=calm] ::-p-text(GET ${origin}/latest)`);
      assert.equal(upstream.requests.length, 1);
      await press('Take from this run');
      const isTaken = (calls: unknown) =>
        Array.isArray(calls) &&
        calls.length === 1 &&
        (calls as CallMock[])[0]?.response.body === '{"rate":2}';
      await mocks(isTaken);
      await page.locator('.test-run').click();
      await until('1 test passed');
      assert.equal(upstream.requests.length, 1);

      await page.locator('.mock-remove').click();
      await mocks((calls) => calls === undefined);
      await deploy();
      await until('v1.0.0 deployed');
      assert.equal(await fixture.service.run('EUR', own), 200);
      await page.locator('#tab-runs').click();
      // A record is written within a second.
      await page.waitForFunction(
        () => {
          const record = document.querySelector('.run-record summary');
          if (!record) document.querySelector<HTMLElement>('.runs-head button')?.click();
          return !!record;
        },
        { polling: 300 },
      );
      await page.locator('.run-record summary').click();
      await page.waitForSelector(`#panel-runs .run-calls ::-p-text(GET ${origin}/latest)`);
      await press('Take from this run');
      await mocks(isTaken);
    }));
});
