import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser } from 'puppeteer-core';
import type { ServiceOptions } from '../../service/src/http/create-service.ts';
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

export interface EditorFixture {
  service: EditorService;
  /** The plugin of the test. */
  target: Target;
  /** Opens the editor, by default on that plugin with a new token. */
  open: (url?: string) => Promise<EditorPage>;
  /** Waits until the service's draft has this in its text. */
  saved: (part: string) => Promise<PluginSource | undefined>;
}

/**
 * One service and one browser for the tests of a suite; each test gets a new plugin and a new browser profile, and
 * finds the service as it should be. At the end no page may have had an error or have broken its policy.
 */
export function editorFixture(
  options: Partial<ServiceOptions> = {},
): (run: (fixture: EditorFixture) => Promise<void>) => Promise<void> {
  let service: EditorService;
  let browser: Browser;
  let count = 0;

  before(async () => {
    [service, browser] = await Promise.all([startEditorService(options), launchBrowser()]);
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  return async (run) => {
    const context = await browser.createBrowserContext();
    const target: Target = { fn: `plugin-${++count}`, template: 'typescript' };
    const pages: EditorPage[] = [];
    const open = async (url?: string) => {
      const page = await openPage(context, url ?? (await service.url(target)));
      pages.push(page);
      return page;
    };
    const saved = (part: string) =>
      eventually(
        () => service.draft(target),
        (draft) => draft?.contents.includes(part) ?? false,
      );
    try {
      await run({ service, target, open, saved });
      const problems = pages.flatMap((page) => page.problems);
      assert.deepEqual(problems, []);
    } finally {
      service.clock.ahead = 0;
      service.script.respond = undefined;
      service.script.hold = undefined;
      await service.restart();
      await context.close();
    }
  };
}
