import type { Browser, Frame, Page } from 'puppeteer-core';
import { isOfNewPlugin } from '../support/chromium.ts';
import { until } from '../support/until.ts';

/** Whether a frame shows the editor. One that was only just added has no address. */
export const isEditor = (frame: Frame): boolean => URL.parse(frame.url())?.pathname === '/editor/';

/** The size of a tab unless a test asks for another. */
const SIZE = { width: 1440, height: 900 };

/** One browser tab on the demo page, and what it tells of itself. */
export class DemoPage {
  readonly page: Page;
  /** Console errors, page errors and violations of the page's policy. */
  readonly complaints: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (!['error', 'warn'].includes(message.type()) || isOfNewPlugin(message)) return;
      this.complaints.push(message.text());
    });
  }

  async signIn(user: string): Promise<void> {
    await this.click(`[data-user=${user}]`);
    await this.page.waitForSelector('#sign-out');
  }

  /** Returns to the page as it is for a user who is signed out, and forgets the complaints. */
  async signOut(): Promise<void> {
    await this.page.waitForSelector('[data-user], #sign-out');
    await this.page.evaluate(() => (location.hash = ''));
    if (await this.page.$('#sign-out')) await this.click('#sign-out');
    await this.page.waitForSelector('[data-user]');
    // A test may have asked for dark colours or another size.
    await this.page.emulateMediaFeatures();
    await this.page.setViewport(SIZE);
    this.complaints.length = 0;
  }

  async click(selector: string): Promise<void> {
    // A locator waits until the element stands still: a click at where it was a moment ago would be lost.
    await this.page.locator(selector).click();
  }

  async choosePlugin(name: string): Promise<void> {
    await this.page.locator(`nav ::-p-text(${name})`).click();
    // What belongs to the former plugin may be on the page until the new one is shown.
    await this.page.waitForSelector(`nav [aria-current] ::-p-text(${name})`);
    await this.page.waitForSelector('#launch', { visible: true });
  }

  /** Chooses a language as a user does, by its name. */
  async chooseLanguage(name: string): Promise<void> {
    await this.page.locator(`plugin-features >>> label ::-p-text(${name})`).click();
  }

  async openDrawer(): Promise<void> {
    await this.click('#developers');
    await this.page.waitForSelector('.inspector', { visible: true });
  }

  /** Closes the drawer for developers, which in a narrow window covers a part of the page. */
  async closeDrawer(): Promise<void> {
    await this.click('#close-drawer');
    await this.page.waitForSelector('.inspector', { hidden: true });
  }

  /** Chooses how the editor gets its token. */
  async chooseDelivery(delivery: 'url' | 'message'): Promise<void> {
    await this.openDrawer();
    await this.page.locator(`.delivery label ::-p-text(${delivery})`).click();
    await this.page.waitForSelector(`[name=delivery][value=${delivery}]:checked`);
    await this.closeDrawer();
  }

  /** Chooses how the elements look. */
  async chooseLook(look: string): Promise<void> {
    await this.openDrawer();
    await this.page.locator(`.look label:has([value=${look}])`).click();
    await this.page.waitForSelector(`[data-look=${look}]`);
    await this.closeDrawer();
  }

  async launch(): Promise<Frame> {
    await this.click('#launch');
    return this.editorFrame();
  }

  /** The editor's frame, once its text can be edited. `before`: one that it is to take the place of. */
  async editorFrame(before?: Frame): Promise<Frame> {
    // By its element: Puppeteer may hear that a frame has gone a moment after the page.
    const find = async () => {
      const element = await this.page.$('plugin-editor >>> iframe');
      // `null` for an element that has gone meanwhile, too.
      const frame = await element?.contentFrame().catch(() => null);
      return frame && frame !== before && isEditor(frame) ? frame : undefined;
    };
    await until('the frame of the editor', async () => !!(await find()));
    await this.state('ready');
    const found = await find();
    if (!found) throw new Error('The frame of the editor has gone.');
    await found.waitForSelector('.cm-content[contenteditable=true]');
    return found;
  }

  /**
   * Waits until the editor element is in a state; rejects with its error where it fails instead; after the time limit it rejects with
   * a description of the page.
   */
  async state(state: string): Promise<void> {
    const result = await this.page
      .waitForFunction(
        (expected) => {
          const editor = document.querySelector('plugin-editor');
          if (editor?.state === expected) return 'reached';
          return editor?.state === 'error' && `${editor.error?.code}: ${editor.error?.message}`;
        },
        // By a timer, because a page that draws no frames calls no animation callbacks.
        { polling: 50 },
        state,
      )
      .catch(async (cause: unknown) => {
        throw new Error(`The editor is not ${state}: ${await this.#describeEditor()}`, { cause });
      });
    const message = await result.jsonValue();
    if (message !== 'reached') throw new Error(`The editor failed: ${message}`);
  }

  /** What a test that waits in vain says of the editor. Never rejects, because that would hide why the test waited in vain. */
  async #describeEditor(): Promise<string> {
    const { complaints } = this;
    try {
      const element = await this.page.evaluate(() => {
        const editor = document.querySelector('plugin-editor');
        return { state: editor?.state, visibility: document.visibilityState, hash: location.hash };
      });
      const frames = this.page.frames().map((frame) => frame.url());
      return JSON.stringify({ ...element, frames, events: await this.events(), complaints });
    } catch (error) {
      return `the page cannot be asked (${String(error)}). ${JSON.stringify({ complaints })}`;
    }
  }

  /** The attributes of an element as the page has them, without the time limit that tests set. */
  async attributes(selector: string): Promise<Record<string, string>> {
    const { timeout: _, ...attributes } = await this.page.$eval(selector, (element): Record<string, string> =>
      Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
    );
    return attributes;
  }

  text(selector: string): Promise<string> {
    return this.page.$eval(selector, (element) => (element as HTMLElement).innerText);
  }

  /** Whether the page shows that the editor said by itself that it is ready, and what of the plugin. */
  async saidReady(): Promise<boolean> {
    const events = await this.events();
    return events.some((event) => /^plugin-editor-ready confirmed: true, .*\bexists: /.test(event));
  }

  /** The types and fields of the events that the page shows, oldest first. */
  events(): Promise<string[]> {
    return this.page.$$eval('.log li', (items) =>
      items.map((item) =>
        [item.querySelector('.type'), item.querySelector('.fields')]
          .map((part) => part?.textContent ?? '')
          .join(' ')
          .trim(),
      ),
    );
  }
}

/** How long the page waits for its editor, in ms: on a busy machine, loading may take longer than the element's own limit. */
const EDITOR_TIMEOUT = '100000';

/** Runs in the page, and sets the limit of the editor element as soon as it is parsed, which is before any script runs. */
function waitLongForEditors(timeout: string): void {
  new MutationObserver(() => {
    document.querySelector('plugin-editor:not([timeout])')?.setAttribute('timeout', timeout);
  }).observe(document, { childList: true, subtree: true });
}

/**
 * Makes the page deliver tokens by address from its first load on. By message, it loads an editor before one is launched, which is most
 * of what opening the page costs.
 */
export const deliverByUrl = (page: Page): Promise<unknown> =>
  page.evaluateOnNewDocument(() => {
    if (window === top) localStorage.setItem('larder-delivery', 'url');
  });

/** Opens the demo page with cookies and storage of its own. `prepare` has the page before it loads. */
export async function openDemo(
  browser: Browser,
  address: string,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<DemoPage> {
  const context = await browser.createBrowserContext();
  const demo = new DemoPage(await context.newPage());
  await demo.page.setViewport(SIZE);
  await demo.page.evaluateOnNewDocument(waitLongForEditors, EDITOR_TIMEOUT);
  await prepare?.(demo.page);
  await demo.page.goto(address);
  return demo;
}

export const editorText = (frame: Frame): Promise<string> =>
  frame.$eval('.cm-content', (content) => (content as HTMLElement).innerText);
