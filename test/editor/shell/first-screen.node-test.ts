import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage } from '../harness.ts';
import { openLauncher } from '../launcher-page.ts';
import { eventually } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();

/** Requests wait here until they are let through, so that their order says what depends on what, and no clock has to. */
function createGate() {
  const waiting: { path: string; pass: () => void }[] = [];
  let passes = (_path: string) => false;
  return {
    hold: (request: Request): Promise<void> | undefined => {
      const { pathname: path } = new URL(request.url);
      if (path === '/editor/' || passes(path)) return undefined;
      return new Promise((pass) => waiting.push({ path, pass }));
    },
    waiting: () => waiting.map(({ path }) => path),
    /** From now on these requests pass, and so do those of them that wait. */
    pass: (which: RegExp | string) => {
      const former = passes;
      passes = (path) => former(path) || (typeof which === 'string' ? which === path : which.test(path));
      const passing = waiting.filter(({ path }) => passes(path));
      for (const one of passing) {
        waiting.splice(waiting.indexOf(one), 1);
        one.pass();
      }
    },
  };
}

/** The files that the page names. */
async function namedFiles(): Promise<string[]> {
  const html = await (await fetch(`${service.origin}/editor/`)).text();
  return [...html.matchAll(/(?:src|href)="(\/editor\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
}

const PAGE = /\/assets\/page-/;

describe("the editor's first screen", () => {
  const target = { fn: 'add-record' };
  /** Whether the requests for the draft and for the editor wait, whichever came first. */
  const isWaitingForBoth = (paths: string[]) =>
    paths.includes(service.draftPath(target)) && paths.some((path) => PAGE.test(path));
  before(async () => {
    await service.save({ contents: '// The draft', lang: 'typescript' }, target);
  });

  test('needs only files that the page names, and requests the draft before the editor is there', async () => {
    const gate = createGate();
    const named = await namedFiles();
    const address = await service.url(target);
    for (const path of named) if (!PAGE.test(path)) gate.pass(path);
    service.script.hold = gate.hold;
    const context = await browser.createBrowserContext();
    try {
      const opening = openPage(context, address);
      await eventually(gate.waiting, isWaitingForBoth);
      gate.pass(/\/api\/v1\/draft\//);
      gate.pass(PAGE);
      const page = await opening;
      await page.page.waitForSelector('.cm-content[contenteditable=true]');
      await page.until('The draft');
      // What comes later still waits.
      await eventually(gate.waiting, (paths) => paths.some((path) => path.includes('/typing-help-')));
      assert.deepEqual(page.problems, []);
    } finally {
      gate.pass(/./);
      service.script.hold = undefined;
      await context.close();
    }
  });

  test('requests the draft before the editor is there when the launcher opens it by message', async () => {
    const gate = createGate();
    const token = await service.token(target);
    for (const path of await namedFiles()) if (!PAGE.test(path)) gate.pass(path);
    service.script.hold = gate.hold;
    // It has greeted by the time this resolves.
    const launcher = await openLauncher(browser, service);
    try {
      const session = await launcher.open(target, token);
      await eventually(gate.waiting, isWaitingForBoth);
      gate.pass(/./);
      await launcher.waitForMessage('ready', session);
      await launcher.until('The draft');
      const drafts = service.seen.filter(({ path }) => path === service.draftPath(target));
      // One in this test, and one in the test before: what was asked for early is not asked for again.
      assert.equal(drafts.length, 2);
    } finally {
      gate.pass(/./);
      service.script.hold = undefined;
      await launcher.close();
    }
  });

  test('prefers a token that arrives while the editor loads to the one in the address', async () => {
    const gate = createGate();
    const [former, token] = ['ended', await service.token(target)];
    for (const path of await namedFiles()) if (!PAGE.test(path)) gate.pass(path);
    gate.pass(/\/api\//);
    service.script.hold = gate.hold;
    const launcher = await openLauncher(browser, service, await service.url(target, former));
    try {
      // The service refuses the one in the address, and there is no launcher yet to ask for another.
      await launcher.waitForMessage('hello');
      const session = await launcher.open({ ...target, builder: service.origin }, token);
      gate.pass(/./);
      await launcher.waitForMessage('ready', session);
      await launcher.until('The draft');
    } finally {
      gate.pass(/./);
      service.script.hold = undefined;
      await launcher.close();
    }
  });

  test('stays small enough for a slow line', async () => {
    const paths = await namedFiles();
    const sizes = await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(service.origin + path);
        return gzipSync(await response.bytes()).byteLength;
      }),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total < 210_000, `${total} bytes: ${paths.map((path, i) => `${path} ${sizes[i]}`).join(', ')}`);
  });
});
