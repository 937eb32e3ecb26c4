import type { Readable } from 'node:stream';

import type { BrowserLauncher } from '@web/test-runner';

import type { WebKit } from '../../tools/setup/find-browsers.js';
import { freePort } from './free-port.ts';
import { startProgram, WebDriverSession } from './webdriver.ts';
import { webDriverPage } from './webdriver-page.ts';

type Page = ReturnType<typeof webDriverPage>;

interface Running {
  session: WebDriverSession;
  stop: () => Promise<void>;
}

/**
 * Runs tests in WebKitGTK: its small browser, on an X server without a screen, through its WebDriver. Each test
 * file gets a new window, one after the other (so `concurrency` is 1).
 */
export function webkitLauncher(
  programs: WebKit,
  onStart: (version: string) => void,
): BrowserLauncher & { getPage(sessionId: string): Page } {
  let running: Promise<Running> | undefined;
  let active: { id: string; page: Page } | undefined;

  return {
    name: 'WebKitGTK',
    // Not "webdriver": the page has puppeteer's shape, with which more of the runner's commands work.
    type: 'puppeteer',
    concurrency: 1,

    async startSession(id, url) {
      running ??= start(programs);
      const { session } = await running;
      onStart(String(session.capabilities['browserVersion']));
      active = { id, page: webDriverPage(session) };
      await active.page.setViewport({ width: 800, height: 600 });
      await session.post('/url', { url });
    },

    isActive: (id) => active?.id === id,

    async getBrowserUrl() {
      return String(await (await running)?.session.get('/url'));
    },

    async stopSession() {
      active = undefined;
      const session = (await running)?.session;
      if (session) await openNextWindow(session);
      return {};
    },

    startDebugSession() {
      return Promise.reject(new Error('Debugging is not possible in WebKit: use Chromium or Firefox.'));
    },

    getPage(id) {
      if (active?.id !== id) throw new Error(`No page for session ${id}`);
      return active.page;
    },

    async stop() {
      await (await running)?.stop();
    },
  };
}

/** Leaves nothing of the test file behind: no page, no other window, no history, no cookies, no storage. */
async function openNextWindow(session: WebDriverSession): Promise<void> {
  await session.post('/execute/sync', { script: 'localStorage.clear()', args: [] }).catch(() => undefined);
  await session.delete('/cookie').catch(() => undefined);
  const old = (await session.get('/window/handles')) as string[];
  const { handle } = (await session.post('/window/new', { type: 'window' })) as { handle: string };
  for (const other of old) {
    try {
      await session.post('/window', { handle: other });
      await session.delete('/window');
    } catch (error) {
      // One that a test has closed may still have been in the list.
      if (!/no such window/.test(String(error))) throw error;
    }
  }
  await session.post('/window', { handle });
}

async function start({ driver, miniBrowser, xvfb }: WebKit): Promise<Running> {
  const screen = startProgram(xvfb, ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const display = await Promise.race([firstLine(screen.child.stdio[3] as Readable), screen.failed]);

  const port = await freePort();
  const webDriver = startProgram(driver, ['--host=127.0.0.1', `--port=${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      DISPLAY: `:${display}`,
      GDK_BACKEND: 'x11',
      // There are no desktop services, and waiting for them is slow.
      NO_AT_BRIDGE: '1',
      GSETTINGS_BACKEND: 'memory',
      // Without the user's own settings, by which a page would be scaled or dark.
      GDK_SCALE: '1',
      GDK_DPI_SCALE: '1',
      GTK_THEME: 'Adwaita',
      // Nothing leaves this machine: all but loopback goes to a proxy that does not exist.
      http_proxy: 'http://127.0.0.1:9',
      https_proxy: 'http://127.0.0.1:9',
      no_proxy: 'localhost,127.0.0.1',
    },
  });

  const session = await Promise.race([
    WebDriverSession.open(`http://127.0.0.1:${port}`, {
      // The runner itself limits the time that a page has to start.
      pageLoadStrategy: 'none',
      'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] },
    }),
    webDriver.failed,
  ]);

  return {
    session,
    stop: async () => {
      await session.delete('');
      await webDriver.stop();
      await screen.stop();
    },
  };
}

async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim();
}
