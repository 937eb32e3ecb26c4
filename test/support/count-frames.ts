import type { Page } from 'puppeteer-core';

/**
 * How many frames a page holds now, those in shadow roots included. Not by `page.frames()`, which names a frame that is
 * gone until Puppeteer hears of that.
 */
export function countFrames(page: Page): Promise<number> {
  return page.evaluate(() => {
    const countIn = (root: ParentNode): number =>
      [...root.querySelectorAll('*')].reduce(
        (sum, { localName, shadowRoot }) =>
          sum + (localName === 'iframe' ? 1 : 0) + (shadowRoot ? countIn(shadowRoot) : 0),
        0,
      );
    return countIn(document);
  });
}
