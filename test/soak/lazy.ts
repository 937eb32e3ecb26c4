import type { Browser, Page } from 'puppeteer-core';
import { median } from '../bench/figures.ts';
import type { Figure } from '../bench/figures.ts';
import { launchChromium } from '../support/chromium.ts';
import { COUNT, startLazyPages } from './lazy-pages.ts';
import type { LazyPages, Layout, Way } from './lazy-pages.ts';
import { scriptTime } from './script-time.ts';
import { until } from '../support/until.ts';

const LAYOUTS: Record<Layout, string> = {
  list: 'one below the other',
  gap: 'two in view, the others far below, so that both ways load the same frames',
};

/**
 * 100 lazy elements on a page against 100 plain frames with `loading=lazy`, whose addresses stand in the page with their
 * tokens, so that they need no script at all; by turns, on the same editor. Script time is the time in which a thread of
 * the browser compiles or runs script, microtasks included, in all processes: the page's and its frames'.
 */
export async function measureLazy(turns = 9): Promise<Figure[]> {
  const pages = await startLazyPages();
  try {
    const figures: Figure[] = [];
    const browser = await launchChromium();
    try {
      for (const layout of ['list', 'gap'] as const)
        figures.push(...(await compare(browser, pages, layout, turns)));
      figures.push(await measureFarRequests(browser, pages));
    } finally {
      await browser.close();
    }
    return figures;
  } finally {
    await pages.close();
  }
}

async function compare(browser: Browser, pages: LazyPages, layout: Layout, turns: number): Promise<Figure[]> {
  const taken: Record<Way, number[]> = { elements: [], frames: [] };
  const own: number[] = [];
  const loaded: Record<Way, number> = { elements: 0, frames: 0 };
  // One of each to warm up.
  for (let turn = -1; turn < turns; turn++) {
    for (const way of ['elements', 'frames'] as const) {
      const before = pages.loads();
      const { whole, page } = await settle(browser, pages, way, layout);
      if (turn < 0) continue;
      taken[way].push(whole);
      if (way === 'elements') own.push(page);
      loaded[way] = pages.loads() - before;
    }
    // Where they differ, so does the work, and the one says nothing about the other.
    if (layout === 'gap' && loaded.elements !== loaded.frames) {
      throw new Error(`${loaded.elements} elements loaded an editor, and ${loaded.frames} plain frames.`);
    }
  }
  if (!loaded.frames || !loaded.elements) throw new Error('No frame was loaded.');
  const [ours, raw] = [median(taken.elements), median(taken.frames)];
  return [
    {
      name: `script time of ${COUNT} lazy elements ÷ frames, ${layout}`,
      value: ours / raw,
      limit: 2,
      unit: '×',
      note:
        `${LAYOUTS[layout]}: ${ours.toFixed(0)} ms with ${loaded.elements} editors, ${median(own).toFixed(0)} ms of it ` +
        `the page's own; plain ${raw.toFixed(0)} ms with ${loaded.frames}; medians of ${turns}`,
    },
  ];
}

async function settle(browser: Browser, pages: LazyPages, way: Way, layout: Layout) {
  const page = await browser.newPage();
  try {
    await page.setViewport({ width: 1280, height: 800 });
    await page.tracing.start({ categories: ['devtools.timeline', 'v8'] });
    await page.goto(pages.address(way, layout));
    await editorsOpen(page, pages);
    const trace = await page.tracing.stop();
    if (!trace) throw new Error('The browser gave no trace.');
    return scriptTime(trace, pages.origin);
  } finally {
    await page.close();
  }
}

/** Resolves once every editor page that began to load has got its plugin's text, and nothing more is asked for. */
async function editorsOpen(page: Page, pages: LazyPages): Promise<void> {
  const idle = () => page.waitForNetworkIdle({ idleTime: 1000, timeout: 120_000 });
  await idle();
  await until('as many editors as loads', () => pages.templates() >= pages.loads());
  await idle();
}

/** Which elements asked for a token without ever having been within a screen of the viewport, on a way down the page. */
async function measureFarRequests(browser: Browser, pages: LazyPages): Promise<Figure> {
  const page = await browser.newPage();
  try {
    await page.setViewport({ width: 1280, height: 800 });
    pages.requests.clear();
    await page.goto(pages.address('elements', 'list'));
    const near = new Set<string>();
    const inView = new Set<string>();
    for (const place of [0, 40, 99]) {
      await page.evaluate((i) => document.querySelectorAll('plugin-editor')[i]?.scrollIntoView(), place);
      await editorsOpen(page, pages);
      const seen = await page.evaluate(() =>
        [...document.querySelectorAll('plugin-editor')].map((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          const within = (screens: number) =>
            top < innerHeight * (1 + screens) && bottom > -innerHeight * screens;
          return { fn: element.fn ?? '', near: within(1), inView: within(0) };
        }),
      );
      for (const { fn, near: isNear, inView: isInView } of seen) {
        if (isNear) near.add(fn);
        if (isInView) inView.add(fn);
      }
    }
    const far = [...pages.requests.keys()].filter((fn) => !near.has(fn));
    const missing = [...inView].filter((fn) => !pages.requests.has(fn));
    const twice = [...pages.requests.values()].filter((times) => times > 1);
    return {
      name: `of ${COUNT} elements, those that asked wrongly for a token`,
      value: far.length + missing.length + twice.length,
      limit: 0,
      unit: '',
      note: `at three places of the page ${inView.size} came into view, ${near.size} near, and ${pages.requests.size} asked`,
    };
  } finally {
    await page.close();
  }
}
