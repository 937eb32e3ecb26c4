import type { Browser } from 'puppeteer-core';
import { type Figure, median } from './figures.ts';
import type { Origins } from './origins.ts';

/** How often the look of the page is changed. */
const CHANGES = 20;

/** An editor that can be told of the page's look, and says when it was, by the clock that all frames of a browser share. */
const EDITOR = `<!doctype html><meta charset="utf-8"><title>Editor</title><script>
  const post = (message) => parent.postMessage({ channel: 'plugin-editor', version: 1, ...message }, '*');
  addEventListener('message', ({ data: { type, session } }) => {
    if (type === 'open') post({ type: 'ready', session });
    if (type === 'configure') parent.postMessage({ toldAt: performance.timeOrigin + performance.now() }, '*');
  });
  post({ type: 'hello', capabilities: ['configure'] });
</script>`;

/** How many frames of the page pass from a change of its look until the editor is told, and what is loaded for it. */
export async function measureAppearance(
  browser: Browser,
  { page: address, editor }: Origins,
): Promise<Figure[]> {
  const page = await browser.newPage();
  await page.setRequestInterception(true);
  let requests = 0;
  page.on('request', (request) => {
    requests++;
    if (request.url().startsWith(editor)) {
      void request.respond({ contentType: 'text/html', body: EDITOR });
    } else void request.continue();
  });
  await page.goto(address);
  await page.evaluate(async (base) => {
    await customElements.whenDefined('plugin-editor');
    const element = document.createElement('plugin-editor');
    const attributes = {
      ident: 'com.acme.a',
      fn: 'f',
      'editor-url': base,
      builder: base,
      'token-endpoint': '/token',
      'token-delivery': 'message',
    };
    const ready = new Promise((resolve) => {
      element.addEventListener('plugin-editor-ready', resolve, { once: true });
    });
    for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
    document.querySelector('main')?.append(element);
    await ready;
  }, editor);
  const before = requests;
  const counts = await page.evaluate(async (changes) => {
    const element = document.querySelector('plugin-editor') as HTMLElement;
    const all: number[] = [];
    for (let change = 1; change <= changes; change++) {
      const frameStarts: number[] = [];
      let isTold = false;
      const note = () => {
        frameStarts.push(performance.timeOrigin + performance.now());
        if (!isTold) requestAnimationFrame(note);
      };
      const reportReceived = new Promise<number>((resolve) => {
        const onMessage = ({ data }: MessageEvent<{ toldAt?: number }>) => {
          if (!data.toldAt) return;
          removeEventListener('message', onMessage);
          isTold = true;
          resolve(data.toldAt);
        };
        addEventListener('message', onMessage);
      });
      await new Promise(requestAnimationFrame);
      element.style.setProperty('--plugin-editor-accent', `rgb(${change}, 0, 0)`);
      requestAnimationFrame(note);
      const toldAt = await reportReceived;
      const frames = frameStarts.filter((start) => start < toldAt).length;
      all.push(frames);
    }
    return all;
  }, CHANGES);
  const loaded = requests - before;
  await page.close();
  return [
    {
      name: 'frames from a change of look to the editor, median',
      value: median(counts),
      limit: 2,
      unit: '',
      note: `at most ${Math.max(...counts)}`,
    },
    { name: 'requests for a change of look', value: loaded, limit: 0, unit: '' },
  ];
}
