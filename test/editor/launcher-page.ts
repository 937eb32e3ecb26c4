import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'puppeteer-core';
import { type EditorService, type Target, editorIn } from './harness.ts';
import { eventually } from '../support/until.ts';

/** A message of the editor, and in answer to which `open`. */
export interface EditorMessage {
  type: string;
  session?: string;
  [field: string]: unknown;
}

/** The parts of the page's window that the tests use. */
interface LauncherWindow {
  receivedMessages: EditorMessage[];
  sendMessage(message: object): void;
  loadEditor(): void;
  /** Why every request for a token is refused, while it is. */
  refusal?: string | undefined;
}

const html = (editor: string) => `<!doctype html><title>Launcher</title>
<iframe style="inline-size: 1000px; block-size: 600px" title="Editor"></iframe>
<script>
  const frame = document.querySelector('iframe');
  const receivedMessages = [];
  addEventListener('message', ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== ${JSON.stringify(new URL(editor).origin)}) return;
    receivedMessages.push(data);
    if (data.type === 'token-request' && window.refusal)
      sendMessage({ type: 'token-failed', session: data.session, code: window.refusal });
  });
  const sendMessage = (message) =>
    frame.contentWindow.postMessage(
      { channel: 'plugin-editor', version: 1, ...message },
      ${JSON.stringify(new URL(editor).origin)},
    );
  const loadEditor = () => (frame.src = ${JSON.stringify(editor)});
  Object.assign(window, { receivedMessages, sendMessage, loadEditor });
</script>`;

let listening: Promise<number> | undefined;

/** The address of a page for an editor at this address. */
async function addressFor(editor: string): Promise<string> {
  listening ??= (async () => {
    const server = createServer(({ url = '' }, response) => {
      const address = new URL(url, 'http://localhost').searchParams.get('editor') ?? '';
      response.setHeader('content-type', 'text/html').end(html(address));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return (server.address() as AddressInfo).port;
  })();
  return `http://localhost:${await listening}/?editor=${encodeURIComponent(editor)}`;
}

/**
 * A page of another origin that has the editor in a frame and speaks the frame protocol with it by hand: what is sent
 * and heard is what is on the wire. It is a new page in a new profile.
 */
export async function openLauncher(browser: Browser, service: EditorService, editor?: string) {
  const context = await browser.createBrowserContext();
  const launcher = await launcherIn(await context.newPage(), service, editor);
  return { ...launcher, close: () => context.close() };
}

/**
 * Runs with such a page, too, but with one that former tests of the file have used: each opens a plugin of its own in an editor that
 * was loaded once. A test finds that no plugin is open, the panel of tests chosen, nothing kept, and the usual size and colours. At
 * the end the page may have had no error, and the editor may not have been loaded again.
 */
export function reusedLaunchers(browser: Browser, service: EditorService) {
  let launcher: Awaited<ReturnType<typeof openLauncher>> | undefined;
  return async (run: (launcher: LauncherPage) => Promise<void>): Promise<void> => {
    const present = (launcher ??= await openLauncher(browser, service));
    // Who knows how a test that fails leaves its page.
    launcher = undefined;
    try {
      await run(present);
      await present.forget();
      assert.deepEqual(present.problems, []);
      assert.equal(await present.loads(), 1);
      launcher = present;
    } finally {
      if (!launcher) await present.close();
    }
  };
}

const SIZE = { width: 1060, height: 660 };

async function launcherIn(page: Page, service: EditorService, editor = `${service.origin}/editor/`) {
  await page.setViewport(SIZE);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(await addressFor(editor));
  // Not before: `goto` would wait for the frame's scripts, too, which some tests hold back.
  const loadEditor = () => page.evaluate(() => (window as unknown as LauncherWindow).loadEditor());
  await loadEditor();

  const receivedMessages = () => page.evaluate(() => (window as unknown as LauncherWindow).receivedMessages);
  const waitForMessage = async (
    type: string,
    session?: string,
    among: (one: EditorMessage) => boolean = () => true,
  ) => {
    const fits = (one: EditorMessage) =>
      one.type === type && (session === undefined || one.session === session) && among(one);
    const all = await eventually(receivedMessages, (messages) => messages.some(fits));
    return all.findLast(fits) as EditorMessage;
  };
  /** The session of the last `open`. */
  let session: unknown;
  const sendMessage = (message: { type: string; [field: string]: unknown }) => {
    if (message.type === 'open') session = message['session'];
    return page.evaluate((one) => (window as unknown as LauncherWindow).sendMessage(one), message);
  };
  let opens = 0;
  await waitForMessage('hello');
  const frame = await page.waitForFrame((one) => one.url().startsWith(service.origin));
  const inFrame = editorIn(frame, page.keyboard);

  /** Closes the plugin that is open, and leaves the page as it was. */
  const forget = async () => {
    // Which panel is in view is remembered for the next plugin.
    await frame.evaluate(() => document.getElementById('tab-tests')?.click());
    await sendMessage({ type: 'close', session });
    await frame.waitForSelector('.workspace, .start', { hidden: true });
    await frame.evaluate(() => localStorage.clear());
    await page.emulateMediaFeatures();
    await page.setViewport(SIZE);
    await page.evaluate(() => {
      const { receivedMessages: all } = window as unknown as LauncherWindow;
      all.splice(0, all.length, ...all.filter(({ type }) => type === 'hello'));
      (window as unknown as LauncherWindow).refusal = undefined;
      document.querySelector('iframe')!.style.cssText = 'inline-size: 1000px; block-size: 600px';
    });
  };

  return {
    page,
    /** Errors of the page. */
    problems,
    ...inFrame,
    frame,
    forget,
    /** Types at the end of the text, as a user who clicks into it first. */
    type: async (text: string) => {
      await frame.locator('.cm-content').click();
      await inFrame.type(text);
    },
    receivedMessages,
    waitForMessage,
    sendMessage,
    loadEditor,
    /** How often the frame's page was loaded: each greets. */
    loads: async () => (await receivedMessages()).filter(({ type }) => type === 'hello').length,
    refuseTokens: (code: string | undefined) =>
      page.evaluate((why) => void ((window as unknown as LauncherWindow).refusal = why), code),
    /** Asks for a plugin; answers with the session. */
    open: async (target: Target, givenToken?: string) => {
      const opened = `session-${++opens}`;
      const { fn = 'add-record', namespace = 'default', template, builder = service.origin } = target;
      const token = givenToken ?? (await service.token(target));
      const plugin = { builder, ident: 'com.acme.t1', namespace, fn, template };
      await sendMessage({ type: 'open', session: opened, ...plugin, token });
      return opened;
    },
  };
}

export type LauncherPage = Awaited<ReturnType<typeof launcherIn>>;
