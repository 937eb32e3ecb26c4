import type { Browser, CDPSession, Page } from 'puppeteer-core';
import type { Figure } from './figures.ts';
import type { Origins } from './origins.ts';

const MOUNTS = 1000;
const WARM_UP = 100;

/** 1,000 mounts and removals, half of them in the midst of loading: what is left of them. */
export async function measureLeaks(browser: Browser, { page: address, editor }: Origins): Promise<Figure[]> {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(countTimers);
  await page.goto(address);
  const session = await page.createCDPSession();
  await session.send('Performance.enable');
  await mountAndRemove(page, editor, WARM_UP);
  const before = await countObjects(session, page);
  await mountAndRemove(page, editor, MOUNTS);
  const after = await countObjects(session, page);
  await page.close();
  const left = (name: keyof typeof after): Figure => ({
    name: `${name} left after ${MOUNTS} mounts and removals`,
    value: after[name] - before[name],
    limit: 0,
    unit: '',
  });
  return [
    left('frames'),
    left('listeners'),
    left('timers'),
    {
      name: `heap growth over ${MOUNTS} mounts and removals`,
      value: Math.max(0, after.heap - before.heap) / 2 ** 20,
      limit: 1,
      unit: 'MB',
    },
  ];
}

async function countObjects(session: CDPSession, page: Page) {
  // A frame's document is let go of in a later task than the one that removed it.
  for (let i = 0; i < 3; i++) {
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    await session.send('HeapProfiler.collectGarbage');
  }
  const { metrics } = await session.send('Performance.getMetrics');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const metric = (name: string) => metrics.find((one) => one.name === name)?.value ?? NaN;
  return {
    frames: metric('Frames'),
    listeners: metric('JSEventListeners'),
    timers: await page.evaluate(() => (globalThis as unknown as { liveTimers: Set<number> }).liveTimers.size),
    heap: usedSize,
  };
}

/** Runs in the page before its scripts: keeps the timers that have neither fired nor been cleared. */
function countTimers() {
  const live = new Set<number>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const counted = (handler: () => void, ms?: number) => {
    const id = set(() => {
      live.delete(id);
      handler();
    }, ms) as unknown as number;
    live.add(id);
    return id;
  };
  const uncounted = (id: number) => {
    live.delete(id);
    clear(id);
  };
  Object.assign(globalThis, { liveTimers: live, setTimeout: counted, clearTimeout: uncounted });
}

function mountAndRemove(page: Page, editor: string, count: number): Promise<void> {
  return page.evaluate(
    async (base, times) => {
      await customElements.whenDefined('plugin-editor');
      const main = document.querySelector('main') as HTMLElement;
      for (let i = 0; i < times; i++) {
        const element = document.createElement('plugin-editor');
        const attributes = {
          ident: 'com.acme.a',
          fn: 'f',
          'editor-url': base,
          builder: base,
          'token-endpoint': '/token',
        };
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        const reached = i % 2 ? 'plugin-editor-ready' : 'plugin-editor-state';
        const event = new Promise((resolve) => {
          element.addEventListener(reached, resolve, { once: true });
        });
        main.append(element);
        await event;
        element.remove();
      }
    },
    editor,
    count,
  );
}
