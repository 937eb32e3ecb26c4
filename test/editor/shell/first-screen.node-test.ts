import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
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
    pass: (which: RegExp) => {
      const former = passes;
      passes = (path) => former(path) || which.test(path);
      const passing = waiting.filter(({ path }) => passes(path));
      for (const one of passing) {
        waiting.splice(waiting.indexOf(one), 1);
        one.pass();
      }
    },
  };
}

/** The name of a file without its hash: `main.js`. */
const plainName = (path: string) => path.replace(/^.*\//, '').replace(/-[\w-]{8}\./, '.');

/** As many as a browser asks for at once with HTTP/1.1. */
const FIRST_SCREEN = ['index.css', 'loader.js', 'main.js', 'page.js', 'text.js', 'view.js'];

describe("the editor's first screen", () => {
  const target = { fn: 'add-record' };
  before(async () => {
    await service.save({ contents: '// The draft', lang: 'typescript' }, target);
  });

  test('is requested at once, with the draft before CodeMirror is there, and needs nothing else', async () => {
    const gate = createGate();
    const address = await service.url(target);
    service.script.hold = gate.hold;
    const context = await browser.createBrowserContext();
    try {
      const opening = openPage(context, address);
      const names = () => gate.waiting().map(plainName).toSorted();
      // None of them has come, so none of them was found in another one.
      assert.deepEqual(
        (await eventually(names, ({ length }) => length >= FIRST_SCREEN.length)).filter(
          (name) => name !== 'icon.svg',
        ),
        FIRST_SCREEN,
      );
      gate.pass(/\/(?:index|loader|main)-/);
      await eventually(gate.waiting, (paths) => paths.includes(service.draftPath(target)));
      assert.ok(names().includes('view.js'));
      gate.pass(/\/api\/v1\/draft\//);
      gate.pass(/\/(?:page|text|view)-/);
      const page = await opening;
      await page.page.waitForSelector('.cm-content[contenteditable=true]');
      await page.until('The draft');
      // What comes later still waits.
      assert.ok(names().includes('typing-help.js'));
      assert.deepEqual(page.problems, []);
    } finally {
      gate.pass(/./);
      service.script.hold = undefined;
      await context.close();
    }
  });

  test('requests the draft before CodeMirror is there when the launcher opens it by message', async () => {
    const gate = createGate();
    const token = await service.token(target);
    gate.pass(/\/(?:index|loader|main)-/);
    service.script.hold = gate.hold;
    // It has greeted by the time this resolves.
    const launcher = await openLauncher(browser, service);
    try {
      const session = await launcher.open(target, token);
      const waiting = await eventually(gate.waiting, (paths) => paths.includes(service.draftPath(target)));
      assert.ok(waiting.some((path) => plainName(path) === 'view.js'));
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
    gate.pass(/\/(?:index|loader|main)-/);
    gate.pass(/\/api\//);
    service.script.hold = gate.hold;
    const launcher = await openLauncher(browser, service, await service.url(target, former));
    try {
      // The service refuses the one in the address, and nobody is there yet to ask for another.
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
    const html = await (await fetch(`${service.origin}/editor/`)).text();
    const paths = [...html.matchAll(/(?:src|href)="(\/editor\/assets\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    const sizes = await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(service.origin + path);
        return brotliCompressSync(await response.bytes()).byteLength;
      }),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    // With Brotli, as the service sends it: 140 KB when this was written; 1 Mbit/s carries 125 KB in a second.
    assert.ok(total < 144_000, `${total} bytes: ${paths.map((path, i) => `${path} ${sizes[i]}`).join(', ')}`);
  });
});
