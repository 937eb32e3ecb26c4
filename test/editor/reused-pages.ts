import type { Browser, BrowserContext, Page } from 'puppeteer-core';

/** The events of a page that tests listen to. */
const EVENTS = ['console', 'dialog', 'error', 'pageerror', 'response'] as const;

/**
 * Pages that one test after the other uses, all in one browser profile: another renderer for each test costs twice as much. A test finds
 * a page of the usual size and colours without listeners, and a profile in which nothing is kept but its cache. A test that leaves
 * anything else behind, or needs an empty cache or history, opens a new page in a new profile.
 */
export class ReusedPages {
  readonly #browser: Browser;
  readonly #rest: string;
  #context: BrowserContext | undefined;
  #resting: Page[] = [];

  /** @param rest the address of an empty page of the editor's origin, or of one that has such a page in a frame */
  constructor(browser: Browser, rest: string) {
    this.#browser = browser;
    this.#rest = rest;
  }

  async take(): Promise<Page> {
    this.#context ??= await this.#browser.createBrowserContext();
    const page = this.#resting.pop() ?? (await this.#context.newPage());
    await page.bringToFront();
    return page;
  }

  /** Takes back all pages that a test had. */
  async putBack(): Promise<void> {
    const resting = new Set(this.#resting);
    const pages = (await this.#context?.pages())?.filter((page) => !resting.has(page)) ?? [];
    // All of them before any is emptied: a page keeps what is not saved while it is left.
    for (const page of pages) {
      for (const event of EVENTS) page.removeAllListeners(event);
      page.on('dialog', (dialog) => void dialog.accept());
      await page.goto(this.#rest);
      page.removeAllListeners('dialog');
    }
    for (const page of pages) {
      for (const frame of page.frames()) {
        await frame.evaluate(() => {
          localStorage.clear();
          sessionStorage.clear();
        });
      }
      await page.emulateMediaFeatures();
      await page.setViewport({ width: 800, height: 600 });
    }
    this.#resting.push(...pages);
  }

  /** Closes them; the next one is in another profile. */
  async close(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
    this.#resting = [];
  }
}
