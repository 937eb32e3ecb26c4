import type { BrowserLauncher } from '@web/test-runner';
import { ChromeLauncher, puppeteerCore } from '@web/test-runner-chrome';

import { CHROMIUM_ARGS } from './chromium.ts';

type LaunchOptions = ConstructorParameters<typeof ChromeLauncher>[0];
type Puppeteer = ConstructorParameters<typeof ChromeLauncher>[3];

/** How long a browser may take to start, and a page to load, in ms: Puppeteer's own 30 s are little on a busy machine. */
const PATIENCE = 180_000;

const FIREFOX_PREFERENCES = {
  // Firefox sends a request up to ten times when its connection is cut, and a test would count all of them.
  'network.http.request.max-attempts': 1,
  // Nothing leaves this machine, whatever URL a test or Firefox itself requests: names lead to loopback
  // (its settings service bypasses the proxy), and IP addresses to a proxy that does not exist.
  'network.dns.forceResolve': '127.0.0.1',
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  // Each page of tests takes one or two processes, and Firefox would start others ahead, which are seldom used.
  'dom.ipc.processPrelaunch.enabled': false,
  // All that is loaded fits into memory, and there is no session to restore.
  'browser.cache.disk.enable': false,
  'browser.sessionstore.interval': 6_000_000,
  'browser.sessionstore.max_tabs_undo': 0,
};

/** Chromium (or Chrome) as the test runner starts it. */
export function chromiumLauncher(
  executablePath: string,
  onStart: (version: string) => void,
): BrowserLauncher {
  // With `browser: 'chrome'` coverage would stay empty.
  const launcher = new FreshPageLauncher({ executablePath, args: CHROMIUM_ARGS }, onStart);
  launcher.name = 'Chromium';
  return launcher;
}

/** Firefox, by WebDriver BiDi. */
export function firefoxLauncher(executablePath: string, onStart: (version: string) => void): BrowserLauncher {
  return new FreshPageLauncher(
    { browser: 'firefox', executablePath, extraPrefsFirefox: FIREFOX_PREFERENCES },
    onStart,
    puppeteerCore,
  );
}

/**
 * Gives each test file a new page. The launcher that it extends reuses one page for all files, so that
 * cookies, storage and the history, which ends at 50 entries, go from one to the next. The pages share the
 * browser's default context: in separate contexts, each would load all modules again, which doubles the time.
 */
class FreshPageLauncher extends ChromeLauncher {
  constructor(options: LaunchOptions, onStart: (version: string) => void, puppeteer?: Puppeteer) {
    super(
      // No test asks for the requests of a page, which cost a browser time to report.
      { timeout: PATIENCE, networkEnabled: false, ...options },
      async ({ browser }) => {
        // "Chrome/156.0.7151.0", "firefox/153.0"
        onStart((await browser.version()).replace(/^\D+/, ''));
        return browser.defaultBrowserContext();
      },
      async ({ context }) => {
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE);
        // A page with a question before leaving would block the whole run.
        page.on('dialog', (dialog) => {
          const answered = dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss();
          // The page may be gone by then. An unhandled rejection would end the whole run.
          answered.catch(() => undefined);
        });
        return page;
      },
      puppeteer,
    );
  }

  override async stopSession(sessionId: string): ReturnType<ChromeLauncher['stopSession']> {
    const page = this.getPage(sessionId);
    await page.evaluate(() => localStorage.clear()).catch(() => undefined);
    const result = await super.stopSession(sessionId);
    // The pages that would be reused. There is no option against this.
    (Reflect.get(this, 'inactivePages') as unknown[]).length = 0;
    const context = page.browserContext();
    await context.deleteCookie(...(await context.cookies()));
    await page.close();
    return result;
  }
}
