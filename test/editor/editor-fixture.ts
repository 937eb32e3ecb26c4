import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { ServiceOptions } from '../../service/src/http/create-service.ts';
import type { PluginSource } from 'plugin-editor/client.js';
import {
  type EditorPage,
  type EditorService,
  type Target,
  launchBrowser,
  startEditorService,
  visit,
} from './harness.ts';
import { ReusedPages } from './reused-pages.ts';
import { eventually } from '../support/until.ts';

export interface EditorFixture {
  service: EditorService;
  /** The plugin of the test. */
  target: Target;
  /** Opens the editor, by default on that plugin with a new token, in a page that former tests have used. */
  open: (url?: string) => Promise<EditorPage>;
  /** Opens it in a new page of a new profile, which `prepare` may change. */
  openNew: (prepare?: (page: Page) => Promise<unknown>, url?: string) => Promise<EditorPage>;
  /** Waits until the service's draft has this in its text. */
  saved: (part: string) => Promise<PluginSource | undefined>;
}

/**
 * One service and one browser for the tests of a suite; each test gets a new plugin, pages in which nothing is kept, and finds the
 * service as it should be. At the end no page may have had an error or have broken its policy.
 */
export function editorFixture(
  options: Partial<ServiceOptions> = {},
): (run: (fixture: EditorFixture) => Promise<void>) => Promise<void> {
  let service: EditorService;
  let browser: Browser;
  let reused: ReusedPages;
  let count = 0;

  before(async () => {
    [service, browser] = await Promise.all([startEditorService(options), launchBrowser()]);
    reused = new ReusedPages(browser, service.empty);
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  return async (run) => {
    const target: Target = { fn: `plugin-${++count}`, template: 'typescript' };
    const pages: EditorPage[] = [];
    const newContexts: BrowserContext[] = [];
    const openIn = async (page: Page, url?: string) => {
      const editor = await visit(page, url ?? (await service.url(target)));
      pages.push(editor);
      return editor;
    };
    const open = async (url?: string) => openIn(await reused.take(), url);
    const openNew = async (prepare?: (page: Page) => Promise<unknown>, url?: string) => {
      const context = await browser.createBrowserContext();
      newContexts.push(context);
      const page = await context.newPage();
      await prepare?.(page);
      return openIn(page, url);
    };
    const saved = (part: string) =>
      eventually(
        () => service.draft(target),
        (draft) => draft?.contents.includes(part) ?? false,
      );
    let hasPassed = false;
    try {
      await run({ service, target, open, openNew, saved });
      const problems = pages.flatMap((page) => page.problems);
      assert.deepEqual(problems, []);
      hasPassed = true;
    } finally {
      service.clock.ahead = 0;
      service.script.respond = undefined;
      service.script.hold = undefined;
      await service.restart();
      await Promise.all(newContexts.map((context) => context.close()));
      // Who knows how a test that failed has left its pages.
      await (hasPassed ? reused.putBack() : reused.close());
    }
  };
}
