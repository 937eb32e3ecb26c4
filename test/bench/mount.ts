import type { Browser } from 'puppeteer-core';
import { type Figure, median, show } from './figures.ts';
import type { Origins } from './origins.ts';

const TURNS = 60;
const WARM_UP = 10;

/**
 * From mount to the start of the frame's navigation, in turns with the same by hand: `fetch`, then `iframe.src` of a
 * frame that is in the page, as it is mostly written. A third measure is the quickest by hand: a frame that is put into the page
 * with its address set, so that it has no first page to leave.
 */
export async function measureMount(browser: Browser, { page: address, editor }: Origins): Promise<Figure> {
  const page = await browser.newPage();
  await page.goto(address);
  const turns = await page.evaluate(measureInPage, editor, TURNS + WARM_UP);
  await page.close();
  const [ours, byHand, quickest] = [0, 1, 2].map((way) =>
    median(turns.slice(WARM_UP).map((turn) => turn[way] as number)),
  ) as [number, number, number];
  return {
    name: 'mount to frame navigation ÷ fetch then iframe.src',
    value: ours / byHand,
    limit: 1.1,
    unit: '×',
    note:
      `medians of ${TURNS}: ${show(ours)} ms, by hand ${show(byHand)} ms; ` +
      `${show(ours / quickest)} × the quickest by hand, ${show(quickest)} ms`,
  };
}

/** Runs in the page. */
async function measureInPage(editor: string, count: number): Promise<number[][]> {
  await customElements.whenDefined('plugin-editor');
  const main = document.querySelector('main') as HTMLElement;
  const target = { ident: 'com.acme.customer-7', namespace: 'default', fn: 'add-record' };

  const ours = () => {
    const element = document.createElement('plugin-editor');
    const attributes = { ...target, 'editor-url': editor, builder: editor, 'token-endpoint': '/token' };
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    main.append(element);
    return element;
  };

  const byHand = (isInPage: boolean) => {
    const box = document.createElement('div');
    const frame = document.createElement('iframe');
    frame.style.cssText = 'display: block; inline-size: 100%; block-size: 36rem; border: 0';
    const load = async () => {
      const response = await fetch('/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(target),
      });
      const { token } = (await response.json()) as { token: string };
      frame.src = `${editor}/?${new URLSearchParams({ builder: editor, token, ...target }).toString()}`;
      if (!isInPage) box.append(frame);
    };
    if (isInPage) box.append(frame);
    void load();
    main.append(box);
    return box;
  };

  const time = async (mount: () => HTMLElement) => {
    const navigated = new Promise<number>((resolve) => {
      addEventListener(
        'message',
        ({ data }: MessageEvent<{ navigated: number }>) => resolve(data.navigated),
        {
          once: true,
        },
      );
    });
    const start = performance.timeOrigin + performance.now();
    const element = mount();
    const end = await navigated;
    element.remove();
    // Each turn starts from a quiet page.
    await new Promise((resolve) => requestIdleCallback(resolve));
    return end - start;
  };

  const ways = [ours, () => byHand(true), () => byHand(false)];
  const turns: number[][] = [];
  for (let i = 0; i < count; i++) {
    // Each way goes first as often as the others.
    const turn: number[] = [];
    for (let k = 0; k < ways.length; k++) {
      const way = (i + k) % ways.length;
      turn[way] = await time(ways[way] as () => HTMLElement);
    }
    turns.push(turn);
  }
  return turns;
}
