import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareDemoInBrowser } from './demo-in-browser.ts';
import { deployPlugin, editorTokenOf } from './deploy.ts';
import { targetOf } from './vendor-setup.ts';

const { demo, openTab } = await shareDemoInBrowser();

/** Deploys the template of a plugin, as somebody does who changes nothing. */
async function deployTemplate(fn: string): Promise<string> {
  const target = targetOf('customer-7', fn);
  const token = await editorTokenOf(demo, 'ada', target);
  const response = await fetch(
    `${demo.service}api/v2/template/javascript/${fn}?namespace=${target.namespace}`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  );
  const { contents } = (await response.json()) as { contents: string };
  await deployPlugin(demo, 'ada', contents, { target });
  return contents;
}

test('plugins call the vendor’s API and one with a key, and the editor shows what was called', async () => {
  const origins = new Map<string, string>();
  for (const fn of ['check-stock', 'convert-price']) {
    const contents = await deployTemplate(fn);
    origins.set(fn, /http:\/\/127\.0\.0\.1:\d+/.exec(contents)?.[0] ?? '');
  }
  const tab = await openTab();
  const { page } = tab;
  await tab.signIn('ada');
  const expected = [
    ['convert-price', '$4.86', '/latest'],
    ['check-stock', 'Of C-220 there are only 2.', '/api/stock/C-220'],
  ] as const;
  for (const [fn, output] of expected) {
    await tab.choosePlugin(fn);
    await tab.click('#run-live');
    await page.waitForFunction(
      (text) => document.querySelector('.runs tbody')?.textContent?.includes(text),
      { polling: 50 },
      output,
    );
  }
  for (const [fn, , path] of expected) {
    await tab.choosePlugin(fn);
    const frame = await tab.launch();
    await frame.locator('#tab-types').click();
    await frame.waitForSelector(`.granted ::-p-text(${origins.get(fn)})`);
    await frame.locator('#tab-runs').click();
    // A record is written within a second.
    await frame.waitForFunction(
      () => {
        const record = document.querySelector<HTMLElement>('.run-record summary');
        if (!record) document.querySelector<HTMLElement>('.runs-head button')?.click();
        return !!record;
      },
      { polling: 300 },
    );
    await frame.locator('.run-record summary').click();
    const calls = await frame.waitForSelector('.run-calls li');
    const text = await calls?.evaluate((li) => (li as HTMLElement).innerText);
    assert.match(text ?? '', new RegExp(`^GET ${origins.get(fn)}${path} 200`));
    await tab.click('#leave-editor');
  }
  assert.deepEqual(tab.complaints, []);
});

test('the vendor’s API answers no one but plugins', async () => {
  for (const authorization of ['', 'Bearer x.y.z', 'Basic eDp5']) {
    const response = await fetch(`${demo.vendor}api/stock/B-104`, { headers: { authorization } });
    assert.equal(response.status, 401);
  }
});
