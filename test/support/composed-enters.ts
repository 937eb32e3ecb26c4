import type { Frame, Page } from 'puppeteer-core';

const ENTER = { key: 'Enter', bubbles: true, cancelable: true };

/** The `keydown` of an Enter that ends the composition of a character, in most browsers and in Safari. */
export const COMPOSED_ENTERS: readonly KeyboardEventInit[] = [
  { ...ENTER, isComposing: true },
  { ...ENTER, keyCode: 229 },
];

/** Whether a page leaves such an Enter in a field to the browser. */
export const leavesComposedEnters = (page: Page | Frame, field: string): Promise<boolean> =>
  page.$eval(
    field,
    (element, keys) => keys.every((key) => element.dispatchEvent(new KeyboardEvent('keydown', key))),
    COMPOSED_ENTERS,
  );
