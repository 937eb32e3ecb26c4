import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser, Dialog, Page } from 'puppeteer-core';
import type { ServiceOptions } from '../../service/src/http/app.ts';
import type { PluginSource } from 'plugin-editor/client.js';
import {
  type EditorPage,
  type EditorService,
  type Target,
  launchBrowser,
  openPage,
  startEditorService,
} from './harness.ts';
import { eventually } from '../support/until.ts';

export interface Scene {
  service: EditorService;
  /** A plugin of the test's own. */
  target: Target;
  /** Opens the editor, by default on that plugin with a new token. */
  open: (url?: string) => Promise<EditorPage>;
  /** Waits until the service's draft has this in its text. */
  saved: (part: string) => Promise<PluginSource | undefined>;
}

export interface SceneOptions extends Partial<ServiceOptions> {
  /**
   * The tests load the editor one after another in the same page, whose storage is emptied between them: that takes half of what
   * a new page takes, because its process has the compiled code. Not for tests that change anything of the page that outlives
   * what it loads, like its size or its emulated media. Files stay in the cache of the browser, so a test that needs them to be
   * requested asks for a new profile. (default: false)
   */
  onePage?: boolean;
}

/**
 * One service and one browser for the tests of a suite; each test gets a plugin and a browser profile of its own, and
 * finds the service as it should be. At the end no page may have had an error or have broken its policy.
 */
export function scenes({ onePage = false, ...options }: SceneOptions = {}): (
  run: (scene: Scene) => Promise<void>,
  needs?: 'a new profile',
) => Promise<void> {
  let service: EditorService;
  let browser: Browser;
  let count = 0;
  /** The page that the next test is to use. */
  let idle: Page | undefined;

  before(async () => {
    [service, browser] = await Promise.all([startEditorService(options), launchBrowser()]);
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  const closeIdle = async () => {
    await idle?.browserContext().close();
    idle = undefined;
  };

  return async (run, needs) => {
    // Nothing is left of what the browser has cached.
    if (needs === 'a new profile') await closeIdle();
    const context = idle?.browserContext() ?? (await browser.createBrowserContext());
    const target: Target = { fn: `plugin-${++count}`, template: 'typescript' };
    const pages: EditorPage[] = [];
    const open = async (url?: string) => {
      const given = idle;
      idle = undefined;
      const page = await openPage(context, url ?? (await service.url(target)), given);
      pages.push(page);
      return page;
    };
    const saved = (part: string) =>
      eventually(
        () => service.draft(target),
        (draft) => draft?.contents.includes(part) ?? false,
      );
    let passed = false;
    try {
      await run({ service, target, open, saved });
      const problems = pages.flatMap((page) => page.problems);
      assert.deepEqual(problems, []);
      passed = true;
    } finally {
      service.clock.ahead = 0;
      service.script.respond = undefined;
      service.script.hold = undefined;
      await service.restart();
      if (onePage && passed && pages[0]) idle = await emptied(pages[0].page, service.origin);
      await Promise.all(pages.slice(1).map(({ page }) => page.close()));
      if (!idle) await context.close();
    }
  };
}

/** Leaves the editor, and deletes what its origin has stored. */
async function emptied(page: Page, origin: string): Promise<Page> {
  // It asks before work is lost that a test has not saved.
  const leave = (dialog: Dialog) => void dialog.accept();
  page.on('dialog', leave);
  await page.goto('about:blank');
  page.off('dialog', leave);
  const session = await page.createCDPSession();
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  return page;
}
