import type { Page } from 'puppeteer-core';
import { startEditorService } from '../editor/harness.ts';
import { openBrowser } from './browser.ts';
import { type Figure, median } from './figures.ts';

const LINES = 3000;

/** How many keys are pressed for the figure, after those that warm it up. */
const KEYS = 100;
const WARM_UP = 20;

const source = Array.from(
  { length: LINES / 6 },
  (_, i) => `/** Adds up the orders of a customer. */
function total${i}(orders, limit = ${i}) {
  const found = orders.filter(({ cents }) => cents > limit);
  return found.reduce((sum, { cents }) => sum + cents, 0);
}
`,
).join('\n');

/** How long it takes from a key until what it typed is painted, in the middle of a long plugin with all its help. */
export async function measureTyping(): Promise<Figure[]> {
  const service = await startEditorService();
  try {
    const target = { fn: 'long' };
    await service.save(
      { contents: `${source}export const run = (input) => input;\n`, lang: 'javascript' },
      target,
    );
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.setViewport({ width: 1280, height: 800 });
      await page.goto(await service.url(target));
      await page.waitForSelector('.cm-content[data-language]');
      await goToMiddle(page);
      // Language help loads with the first keys.
      await page.keyboard.type('// ');
      await page.waitForNetworkIdle();
      const taken: number[] = [];
      for (let i = -WARM_UP; i < KEYS; i++) {
        const took = await timeToPaint(page, 'abcdefghi '[(i + WARM_UP) % 10] ?? 'a');
        if (i >= 0) taken.push(took);
      }
      return [
        {
          name: `typing in ${LINES.toLocaleString('en')} lines, from key to paint`,
          value: median(taken),
          limit: 25,
          unit: 'ms',
          note: '(median, in Chromium)',
        },
      ];
    } finally {
      await browser.close();
    }
  } finally {
    await service.close();
  }
}

/** To a new line, half way down. */
async function goToMiddle(page: Page): Promise<void> {
  await page.focus('.cm-content');
  await page.$eval('.cm-scroller', (scroller) => {
    scroller.scrollTop = scroller.scrollHeight / 2;
  });
  // Only the lines in view are there to be clicked.
  await page.waitForFunction(
    () =>
      Number(document.querySelector('.cm-lineNumbers .cm-gutterElement:nth-child(3)')?.textContent) > 1000,
  );
  const { x, y, height } = await page.$eval(
    '.cm-scroller',
    (scroller) => scroller.getBoundingClientRect().toJSON() as DOMRect,
  );
  await page.mouse.click(x + 200, y + height / 2);
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
}

/** From the moment that the page gets a key until the frame after it is painted, in ms. */
async function timeToPaint(page: Page, key: string): Promise<number> {
  await page.evaluate(() => {
    const painted = new Promise<number>((resolve) => {
      addEventListener(
        'keydown',
        ({ timeStamp }) => {
          requestAnimationFrame(() => {
            // A message that is sent in a frame arrives once that is painted.
            const { port1, port2 } = new MessageChannel();
            port1.addEventListener('message', () => resolve(performance.now() - timeStamp), { once: true });
            port1.start();
            port2.postMessage(undefined);
          });
        },
        { once: true, capture: true },
      );
    });
    Object.assign(globalThis, { painted });
  });
  await page.keyboard.press(key as 'a');
  return page.evaluate(() => (globalThis as unknown as { painted: Promise<number> }).painted);
}
