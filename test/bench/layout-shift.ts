import type { Browser } from 'puppeteer-core';
import type { Figure } from './figures.ts';
import type { Origins } from './origins.ts';

/** The sum of what the browser counts as layout shift from before the element is connected until it is ready. */
export async function measureLayoutShift(
  browser: Browser,
  { page: address, editor }: Origins,
): Promise<Figure> {
  const page = await browser.newPage();
  await page.goto(address);
  const value = await page.evaluate(async (base) => {
    await customElements.whenDefined('plugin-editor');
    const main = document.querySelector('main') as HTMLElement;
    // Something below that would be pushed, and a frame that shows it before anything is measured.
    main.insertAdjacentHTML('afterend', '<p>Below the editor</p>');
    const element = document.createElement('plugin-editor');
    const attributes = {
      ident: 'com.acme.a',
      fn: 'f',
      'editor-url': base,
      builder: base,
      'token-endpoint': '/token',
    };
    main.append(element);
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    await painted();
    let sum = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += (entry as PerformanceEntry & { value: number }).value;
    });
    observer.observe({ type: 'layout-shift' });
    const ready = new Promise((resolve) => {
      element.addEventListener('plugin-editor-ready', resolve, { once: true });
    });
    for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
    await ready;
    await painted();
    for (const entry of observer.takeRecords()) sum += (entry as PerformanceEntry & { value: number }).value;
    return sum;
  }, editor);
  await page.close();
  return { name: 'layout shift from connect to ready', value, limit: 0, unit: '' };
}
