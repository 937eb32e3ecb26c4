import type { Page } from 'puppeteer-core';

/**
 * The number of frames in a page, including those in shadow roots. `page.frames()` would include a frame that is
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
