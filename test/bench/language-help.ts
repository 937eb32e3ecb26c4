import { brotliCompressSync } from 'node:zlib';
import type { Page } from 'puppeteer-core';
import { startEditorService } from '../editor/harness.ts';
import { openBrowser } from './browser.ts';
import { type Figure, median } from './figures.ts';

/** How often each thing is done for a figure, after as many times as warm it up. */
const TIMES = 100;
const WARM_UP = 10;

const AUTHORS = 20;

/** A plugin of some 300 lines, as an author may have it after a while. */
const source = [
  ...Array.from(
    { length: 24 },
    (_, i) => `/**
 * Finds the orders of a customer, newest first.
 * @param {{ orders: { id: string, cents: number, at: string }[] }} customer
 */
function ordersOf${i}(customer, limit = ${i}) {
  const found = customer.orders.filter(({ cents }) => cents > limit);
  const sorted = found.toSorted((a, b) => b.at.localeCompare(a.at));
  return sorted.map((order) => ({ ...order, label: \`\${order.id}: \${(order.cents / 100).toFixed(2)}\` }));
}

/** Adds up what was ordered. */
const total${i} = (customer) => ordersOf${i}(customer).reduce((sum, { cents }) => sum + cents, 0);
`,
  ),
  'export function run(input) {\n  const customer = JSON.parse(input);\n  const text = String(total1(customer));\n  return text;\n}\n',
].join('\n');

const percentile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? NaN;

/** What helping an author costs: in time for one, and for several at once. */
export async function measureLanguageHelp(): Promise<Figure[]> {
  const service = await startEditorService();
  try {
    return [
      ...(await measureRequests(service)),
      ...(await measureAuthors(service)),
      ...(await measureInPage(service)),
    ];
  } finally {
    await service.close();
  }
}

type Service = Awaited<ReturnType<typeof startEditorService>>;

const positionOf = (text: string, place: string, behind: number) => {
  const lines = text.slice(0, text.lastIndexOf(place) + behind).split('\n');
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
};

/** The requests of an author, each with a new text. */
function requestsOf(service: Service, fn: string, token: string) {
  const send = async (operation: string, body: string, type: string) => {
    const start = performance.now();
    const response = await fetch(
      `${service.origin}/api/v1/${operation}/javascript/com.acme.t1/default/${fn}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body,
      },
    );
    await response.text();
    return { took: performance.now() - start, status: response.status };
  };
  const requestHelp = (contents: string, method: string, place: string, behind: number) => {
    const params = { position: positionOf(contents, place, behind) };
    return send(
      'language-help',
      JSON.stringify({ contents, request: { method, params } }),
      'application/json',
    );
  };
  return {
    complete: (i: number) =>
      requestHelp(
        source.replace('  return text;', `  text.\n  return text; // ${i}`),
        'textDocument/completion',
        'text.',
        5,
      ),
    hover: (i: number) => requestHelp(`${source}// ${i}\n`, 'textDocument/hover', 'total1(', 2),
    check: (i: number) => send('check', `${source}// ${i}\n`, 'text/plain'),
  };
}

async function measureRequests(service: Service): Promise<Figure[]> {
  const requests = requestsOf(service, 'one', await service.token({ fn: 'one' }));
  const figures: Figure[] = [];
  for (const [name, label] of [
    ['complete', 'completion after "." in 300 lines'],
    ['hover', 'hover in 300 lines'],
  ] as const) {
    const taken: number[] = [];
    for (let i = -WARM_UP; i < TIMES; i++) {
      const { took, status } = await requests[name](i);
      if (status !== 200) throw new Error(`${label}: ${status}`);
      if (i >= 0) taken.push(took);
    }
    figures.push(
      { name: `${label}, median`, value: median(taken), limit: 60, unit: 'ms' },
      { name: `${label}, 95th percentile`, value: percentile(taken, 0.95), limit: 150, unit: 'ms' },
    );
  }
  return figures;
}

/** All at once, each as fast as the responses come: harder than twenty people type. */
async function measureAuthors(service: Service): Promise<Figure[]> {
  const authors = await Promise.all(
    Array.from({ length: AUTHORS }, async (_, i) => {
      const fn = `author-${i}`;
      return requestsOf(service, fn, await service.token({ fn }));
    }),
  );
  const taken: number[] = [];
  let errors = 0;
  await Promise.all(
    authors.map(async (author) => {
      for (let i = 0; i < 20; i++) {
        for (const name of ['complete', 'hover', 'check'] as const) {
          const { took, status } = await author[name](i);
          if (status !== 200 && status !== 409) errors += 1;
          // The first requests start the processes.
          if (i >= 2 && name !== 'check') taken.push(took);
        }
      }
    }),
  );
  return [
    { name: `${AUTHORS} authors at once: help, median`, value: median(taken), limit: 250, unit: 'ms' },
    { name: `${AUTHORS} authors at once: errors`, value: errors, limit: 0, unit: '' },
  ];
}

/** From a key to what an author sees of it, in the editor. */
async function measureInPage(service: Service): Promise<Figure[]> {
  const target = { fn: 'in-page' };
  await service.save({ contents: source, lang: 'javascript' }, target);
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(await service.url(target));
    await page.waitForSelector('.cm-content');
    await page.waitForNetworkIdle();
    const firstLoad = await loadedScript(page);
    await page.focus('.cm-content');
    await page.keyboard.down('Control');
    await page.keyboard.press('End');
    await page.keyboard.up('Control');
    const completions: number[] = [];
    const problems: number[] = [];
    for (let i = -3; i < 20; i++) {
      await page.keyboard.type('\nconst t = JSON');
      await page.waitForSelector('.cm-tooltip-autocomplete');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('.cm-tooltip-autocomplete'));
      const completed = await timeUntil(page, '.', '.cm-tooltip-autocomplete');
      await page.keyboard.press('Escape');
      await page.keyboard.type('parse("1");');
      await page.waitForFunction(() => !document.querySelector('.cm-lintRange-error'));
      const found = await timeUntil(page, '=', '.cm-lintRange-error');
      for (let back = 0; back < 28; back++) await page.keyboard.press('Backspace');
      await page.waitForFunction(() => !document.querySelector('.cm-lintRange-error'));
      if (i < 0) continue;
      completions.push(completed);
      problems.push(found);
    }
    const note = '(median, in Chromium)';
    return [
      { name: 'script of the first load, compressed', value: firstLoad / 1000, limit: 210, unit: 'KB' },
      {
        name: 'from "." to the list of completions',
        value: median(completions),
        limit: 60,
        unit: 'ms',
        note,
      },
      { name: 'from the last key to its problem', value: median(problems), limit: 300, unit: 'ms', note },
    ];
  } finally {
    await browser.close();
  }
}

/** From the moment that the page gets a key until an element is there, in ms. */
async function timeUntil(page: Page, key: string, selector: string): Promise<number> {
  await page.evaluate((found) => {
    const began = new Promise<number>((resolve) => {
      addEventListener('keydown', ({ timeStamp }) => resolve(timeStamp), { once: true, capture: true });
    });
    const shown = (async () => {
      const start = await began;
      while (!document.querySelector(found)) await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - start;
    })();
    Object.assign(globalThis, { shown });
  }, selector);
  await page.keyboard.type(key);
  return page.evaluate(() => (globalThis as unknown as { shown: Promise<number> }).shown);
}

/** How much script the page has loaded, in bytes as the service's package sends it: with Brotli. */
async function loadedScript(page: Page): Promise<number> {
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  const sizes = await Promise.all(
    names
      .filter((name) => name.endsWith('.js'))
      .map(async (name) => brotliCompressSync(await (await fetch(name)).bytes()).byteLength),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
