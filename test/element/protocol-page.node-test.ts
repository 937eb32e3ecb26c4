import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { Browser, Page } from 'puppeteer-core';
import { build } from 'vite';

import type { PluginEditorElement } from '../../src/plugin-editor.ts';
import { launchChromium } from '../support/chromium.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';

// Only a whole page in a browser shows the back-forward cache, and the question before leaving.
let browser: Browser;
let code: string;

before(async () => {
  browser = await launchChromium({ isWhole: true });
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const built = await build({
    configFile: false,
    root,
    logLevel: 'error',
    build: { write: false, lib: { entry: 'src/plugin-editor.ts', formats: ['es'] } },
  });
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }];
  ({ code } = output[0]);
});

after(() => browser.close());

const EDITOR = `<!doctype html><title>Editor</title><script>
  const send = (message) => parent.postMessage({ channel: 'plugin-editor', version: 1, ...message }, '*');
  addEventListener('message', ({ data: { type, session } }) => {
    if (type === 'open') {
      send({ type: 'ready', session });
      if (location.search.includes('dirty')) send({ type: 'dirty', session, dirty: true });
    }
    if (type === 'token') parent.postMessage('renewed', '*');
  });
  send({ type: 'hello' });
</script>`;

/** A page that the browser may cache, with a running editor in it. */
async function open({ editor = '/editor' }: { editor?: string }, ...rules: Rule[]) {
  // A page with `no-store` would not be cached.
  const headers = { 'cache-control': 'no-cache' };
  const server = await startScriptedServer(
    ...rules,
    { path: '/token', json: { token: 't' } },
    { path: '/editor*', html: EDITOR, headers },
    { path: '/other', html: '<!doctype html><title>Other</title>', headers },
    { path: '/plugin-editor.js', body: code, headers: { 'content-type': 'text/javascript' } },
  );
  await server.on({
    path: '/page',
    headers,
    html: `<!doctype html><title>Page</title><script>
        self.shown = [];
        addEventListener('pageshow', ({ persisted }) => shown.push(persisted));
        self.isRenewed = false;
        addEventListener('message', ({ data }) => (isRenewed ||= data === 'renewed'));
      </script>
      <script type="module" src="${server.url('/plugin-editor.js')}"></script>
      <plugin-editor token-delivery="message" editor-url="${server.crossSite.url(editor)}" builder="${server.url()}"
        ident="com.example.a" fn="f" token-endpoint="${server.url('/token')}"></plugin-editor>`,
  });
  const page = await browser.newPage();
  await page.goto(server.url('/page'));
  await untilState(page, 'ready');
  return { server, page };
}

const untilState = (page: Page, state: string) =>
  page.waitForFunction(
    (expected) => document.querySelector<PluginEditorElement>('plugin-editor')?.state === expected,
    {},
    state,
  );

/** Leaves the page, and returns to it from the cache. */
async function leaveAndReturn(page: Page, times: number): Promise<void> {
  const address = page.url().replace('/page', '/other');
  await page.goto(address);
  await page.goBack();
  assert.deepEqual(
    await page.evaluate('shown'),
    [false, ...Array<boolean>(times).fill(true)],
    'the page came from the cache',
  );
}

test('a page from the back-forward cache renews its token and keeps the editor, and closes it when the renewal is refused', async () => {
  const { server, page } = await open(
    {},
    { path: '/token', times: 2, json: { token: 't' } },
    { path: '/token', status: 401 },
  );
  await using _ = server;
  await leaveAndReturn(page, 1);
  await page.waitForFunction('isRenewed');
  await untilState(page, 'ready');
  assert.equal((await server.requests({ path: '/token' })).length, 2);
  assert.equal((await server.requests({ path: '/editor' })).length, 1);

  await leaveAndReturn(page, 2);
  await untilState(page, 'idle');
  await page.waitForFunction(
    () => !document.querySelector('plugin-editor')?.shadowRoot?.querySelector('iframe'),
  );
  await page.close();
});

test('leaving with unsaved work asks the user', async () => {
  const { server, page } = await open({ editor: '/editor?dirty' });
  await using _ = server;
  await page.waitForFunction(() => document.querySelector<PluginEditorElement>('plugin-editor')?.dirty);
  // A browser asks only after some interaction with the page.
  await page.mouse.click(5, 5);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    void dialog.accept();
  });
  await page.goto(server.url('/other'));
  assert.deepEqual(dialogs, ['beforeunload']);
  await page.close();
});
