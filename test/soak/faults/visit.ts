import assert from 'node:assert/strict';
import type { CDPSession, Frame, HTTPRequest, Page } from 'puppeteer-core';
import { DemoPage } from '../../demo/page-driver.ts';
import { editorIn } from '../../editor/harness.ts';
import type { Fault } from './kinds.ts';
import type { Hits } from './proxy.ts';
import { IDENT, type Lane } from './world.ts';
import { until } from '../../support/until.ts';

/** What the element tells of itself. */
export interface Shown {
  state: string;
  code?: string | undefined;
  attempts?: number | undefined;
  dirty: boolean;
  /** The text of its error view. */
  message: string;
}

type ObservedRequest = Parameters<Hits>[0];

/** The text of a plugin before anybody types. */
const CONTENTS = 'export function run(input) {\n  return `Hi ${input}`;\n}\n';

/** Waits of the editor and of `<plugin-features>` above this, in ms, are made shorter where nothing answers. */
const LONG = 14_000;
const SHORTER = 4;

/** One user with one plugin on the real demo page, from opening it to the end of one faultCase. */
export class Visit {
  readonly lane: Lane;
  readonly fault: Fault;
  readonly fn: string;
  readonly demo: DemoPage;
  /** All that this user typed. */
  readonly typed: string[] = [];
  /** Sent by the page and its frames, also where no server listens. */
  readonly #requests: HTTPRequest[] = [];
  /** The same but for the first of each of the browser's processes, with the time at which it was sent there. */
  readonly #sendings: { request: ObservedRequest; ms: number }[] = [];
  readonly #observed = new Set<CDPSession>();

  private constructor(lane: Lane, fault: Fault, fn: string, page: Page) {
    this.lane = lane;
    this.fault = fault;
    this.fn = fn;
    this.demo = new DemoPage(page);
    page.on('request', (request) => {
      this.#requests.push(request);
      this.#observe(request.client);
    });
  }

  /** The times are by the clock of the sender: how late this process learns of a request says nothing about the pauses between two. */
  #observe(client: CDPSession): void {
    if (this.#observed.has(client)) return;
    this.#observed.add(client);
    client.on('Network.requestWillBeSent', ({ request: { method, url, postData = '' }, timestamp }) => {
      const { pathname, search } = new URL(url);
      this.#sendings.push({
        request: { method, path: pathname + search, body: postData },
        ms: timestamp * 1000,
      });
    });
  }

  static async begin(lane: Lane, fault: Fault, fn: string): Promise<Visit> {
    await lane.world.save(fn, {
      contents: CONTENTS,
      lang: 'javascript',
      tests: [{ name: 'one', description: '', payload: 'Ada' }],
    });
    const page = await lane.context.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    // What is not saved is asked about on the way out.
    page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
    if (fault.effect === 'late') await page.evaluateOnNewDocument(shortenTimers, LONG, SHORTER);
    return new Visit(lane, fault, fn, page);
  }

  get page(): Page {
    return this.demo.page;
  }

  /** Opens the plugin's page in the vendor's app. */
  async goTo(): Promise<void> {
    await this.page.goto(`${this.lane.world.vendor}#/${IDENT}/${this.fn}`);
    await this.page.waitForSelector('#launch', { visible: true });
    await this.preloaded();
  }

  /** The frame that the page loads ahead is there: what befalls it is another step. */
  async preloaded(): Promise<void> {
    const frame = () => this.page.frames().find((one) => one.url().endsWith('/editor/'));
    await until('the frame of the editor', () => !!frame());
    await frame()?.waitForSelector('.message-box');
  }

  /** Waits until the editor can be used; notes from then on what its status line and messages say. */
  async editor(): Promise<Frame> {
    const frame = await this.demo.editorFrame();
    await frame.evaluate(recordStatusTexts);
    return frame;
  }

  async open(): Promise<Frame> {
    await this.goTo();
    await this.demo.click('#launch');
    return this.editor();
  }

  /** Types a new line at the end of the text. */
  async type(what: string): Promise<void> {
    const line = `// ${what} ${this.fn}`;
    const frame = await this.demo.editorFrame();
    await editorIn(frame, this.page.keyboard).type(`\n${line}`);
    this.typed.push(line);
  }

  async press(name: string): Promise<void> {
    const frame = await this.demo.editorFrame();
    await editorIn(frame, this.page.keyboard).press(name);
  }

  async build(): Promise<void> {
    await editorIn(await this.demo.editorFrame(), this.page.keyboard).build();
  }

  async deploy(): Promise<void> {
    await editorIn(await this.demo.editorFrame(), this.page.keyboard).deploy();
  }

  async deployAgain(): Promise<void> {
    await this.press('Try again');
    await editorIn(await this.demo.editorFrame(), this.page.keyboard).confirmDeploy();
  }

  /** Waits until a part of the status line starts with a text. */
  async fact(part: 'saved' | 'built' | 'deployed', start: string): Promise<void> {
    const frame = await this.demo.editorFrame();
    await frame.waitForFunction(
      (selector, text) => document.querySelector(selector)?.textContent?.startsWith(text),
      { polling: 50 },
      `.status-${part}`,
      start,
    );
  }

  /** Waits until the editor has said something, now or before. */
  async untilMessage(message: RegExp): Promise<void> {
    const frame = await this.demo.editorFrame();
    await frame
      .waitForFunction(
        (source) => window.notes.some((text) => new RegExp(source).test(text)),
        { polling: 50 },
        message.source,
      )
      .catch(async () => assert.fail(`Never said ${message}: ${JSON.stringify(await this.notes())}`));
  }

  async notes(): Promise<string[]> {
    const frame = await this.demo.editorFrame();
    return frame.evaluate(() => window.notes);
  }

  shown(): Promise<Shown> {
    return this.page.$eval('plugin-editor', (element) => ({
      state: element.state,
      code: element.error?.code,
      attempts: element.error?.attempts,
      dirty: element.dirty,
      message: element.shadowRoot?.querySelector<HTMLElement>('[part=error]')?.innerText ?? '',
    }));
  }

  /** Waits until the editor element is no longer `loading`. */
  async settled(): Promise<Shown> {
    await this.page.waitForFunction(() =>
      /ready|error/.test(document.querySelector('plugin-editor')?.state ?? ''),
    );
    return this.shown();
  }

  /** Sets the time limit for token and frame. */
  async limit(ms: number): Promise<void> {
    await this.page.$eval(
      'plugin-editor',
      (element, timeout) => {
        element.setAttribute('timeout', `${timeout}`);
      },
      ms,
    );
  }

  /** How many requests of a kind the browser has sent. */
  sent(hits: Hits, origin?: string): number {
    return this.#requests.filter((request) => {
      const url = new URL(request.url());
      const fits = origin === undefined || url.origin === origin;
      const observed = {
        method: request.method(),
        path: url.pathname + url.search,
        body: request.postData() ?? '',
      };
      return fits && hits(observed);
    }).length;
  }

  /** When the requests of a kind were sent, in ms on the browser's clock, whether they were answered or not. */
  times(hits: Hits): number[] {
    return this.#sendings.filter(({ request: asked }) => hits(asked)).map(({ ms }) => ms);
  }

  /** What was typed is in the editor, and in the end at the service, and the browser has no need of copies. */
  async checkSaved(): Promise<void> {
    const frame = await this.demo.editorFrame();
    const editor = editorIn(frame, this.page.keyboard);
    const text = await editor.text();
    for (const line of this.typed) assert.ok(text.includes(line), `${line} is not in the editor: ${text}`);
    const missing = async () => {
      const { contents } = await this.lane.world.draft(this.fn);
      return this.typed.filter((line) => !contents.includes(line));
    };
    await until('all changes saved', async () => !(await missing()).length).catch(async () =>
      assert.fail(
        `Not saved in the end: ${(await missing()).join(', ')}; ${(await this.notes()).join(' | ')}`,
      ),
    );
    await until('an editor without unsaved work', async () => !(await this.shown()).dirty);
    await until(
      'a browser that keeps no copy',
      async () => !(await editor.kept()).some(({ key }) => key.includes(this.fn)),
    );
  }

  async end(): Promise<void> {
    await this.page.close();
  }
}

declare global {
  interface Window {
    /** All that the editor's status line and messages said. */
    notes: string[];
  }
}

/** Runs in the editor's page. */
function recordStatusTexts(): void {
  if (window.notes) return;
  window.notes = [];
  const note = () => {
    for (const { innerText } of document.querySelectorAll<HTMLElement>('.status, .notice p, .summary')) {
      if (innerText && !window.notes.includes(innerText)) window.notes.push(innerText);
    }
  };
  note();
  new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
}

/** Runs in each page before all else: what would wait for long for a response waits for less. */
function shortenTimers(long: number, shorter: number): void {
  const quicker = (ms: number) => (ms >= long ? ms / shorter : ms);
  const setTimeout = window.setTimeout.bind(window);
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  window.setTimeout = ((code: () => void, ms = 0) => setTimeout(code, quicker(ms))) as typeof setTimeout;
  AbortSignal.timeout = (ms) => timeout(quicker(ms));
}
