import type { Browser } from 'puppeteer-core';
import { type Figure, median, show } from './figures.ts';
import type { Origins } from './origins.ts';

const PAIRS = 60;
const WARM_UP = 10;

/** From mount to the start of the frame's navigation, against `fetch` then `iframe.src` by hand, alternating. */
export async function measureMount(browser: Browser, { page: address, editor }: Origins): Promise<Figure> {
  const page = await browser.newPage();
  await page.goto(address);
  const pairs = await page.evaluate(measureInPage, editor, PAIRS + WARM_UP);
  await page.close();
  const measured = pairs.slice(WARM_UP);
  const ours = median(measured.map(([time]) => time));
  const byHand = median(measured.map(([, time]) => time));
  return {
    name: 'mount to frame navigation ÷ fetch then iframe.src',
    value: ours / byHand,
    limit: 1.1,
    unit: '×',
    note: `medians of ${PAIRS}: ${show(ours)} ms, by hand ${show(byHand)} ms`,
  };
}

/** Runs in the page. */
async function measureInPage(editor: string, count: number): Promise<[number, number][]> {
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

  // The quickest way by hand: a frame that is already in the page would have to leave its first page as well.
  const byHand = () => {
    const box = document.createElement('div');
    const frame = document.createElement('iframe');
    const load = async () => {
      const response = await fetch('/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(target),
      });
      const { token } = (await response.json()) as { token: string };
      frame.src = `${editor}/?${new URLSearchParams({ builder: editor, token, ...target }).toString()}`;
      box.append(frame);
    };
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

  const pairs: [number, number][] = [];
  for (let i = 0; i < count; i++) {
    if (i % 2) {
      const hand = await time(byHand);
      pairs.push([await time(ours), hand]);
    } else {
      pairs.push([await time(ours), await time(byHand)]);
    }
  }
  return pairs;
}
