import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { build } from 'vite';

import { launchChromium } from '../support/chromium.ts';
import type { ScriptedServer } from '../support/scripted-server-api.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { App, type AppProps } from './app.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));

let browser: Browser;
let script: string;

before(async () => {
  script = await bundle();
  browser = await launchChromium();
});
after(() => browser?.close());

/** The page's script with React as it is in development, which warns. */
async function bundle(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"development"' },
    build: {
      write: false,
      minify: false,
      lib: { entry: fileURLToPath(new URL('page.ts', import.meta.url)), formats: ['es'] },
    },
  });
  return (result as unknown as [{ output: [{ code: string }] }])[0].output[0].code;
}

/** A page on another site than the editor, with what a server rendered, if anything. */
async function open(rendered?: (editor: Editor, server: ScriptedServer) => AppProps) {
  const server = await startScriptedServer(
    { path: '/token', method: 'POST', json: { token: 't' } },
    { path: '/editor', html: '<!doctype html><title>Editor</title>' },
    {
      path: '/api/v1/features',
      json: {
        features: [],
        languages: ['javascript', 'typescript'].map((identifier) => ({
          identifier,
          pretty: identifier,
          short: identifier,
        })),
      },
    },
    { path: '/page.js', body: script, headers: { 'content-type': 'text/javascript' } },
  );
  const editor = editorOf(server);
  const html = rendered ? renderToString(createElement(App, rendered(editor, server))) : '';
  await server.on({
    path: '/page',
    html: `<!doctype html><title>Page</title><link rel="icon" href="data:," /><div id="app">${html}</div>
      <script type="module" src="page.js"></script>`,
  });
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (!/React DevTools/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(server.url('/page'));
  return {
    page,
    editor,
    server,
    complaints,
    tokenRequests: async () => (await server.requests({ path: '/token' })).length,
    async [Symbol.asyncDispose]() {
      await page.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const editorOf = (server: ScriptedServer) => ({
  editorUrl: server.crossSite.url('/editor'),
  builder: server.url(),
  ident: 'com.example.a',
  fn: 'f',
  tokenEndpoint: 'token',
});
type Editor = ReturnType<typeof editorOf>;

const ready = (page: Page, times = 1) =>
  page.waitForFunction(
    (count) => window.react.log.events.filter(({ type }) => type === 'plugin-editor-ready').length === count,
    {},
    times,
  );

test('importing react.js on a server prints nothing and defines no element', () => {
  const code = `await import('${src}/react.ts'); console.log(customElements.get('plugin-editor'));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' } },
  );
  assert.equal(stderr, '');
  assert.equal(stdout.trim(), 'undefined');
});

test('a server renders attributes by their names but for fn, and no other properties', () => {
  const html = renderToString(
    createElement(App, {
      editor: {
        editorUrl: '/editor/',
        builder: 'https://builder.example.com',
        ident: 'com.example.a',
        fn: 'f',
        tokenEndpoint: '/token',
        timeout: 5000,
        preload: true,
        unguarded: false,
        template: null,
        hidden: true,
        fetchToken: () => Promise.resolve('t'),
        strings: { loading: 'Lade' },
        onPluginEditorReady: () => {},
      },
      features: { htmlFor: 'editor', value: 'typescript', required: true },
    }),
  );
  assert.match(
    html,
    /<plugin-editor id="editor" hidden="" editor-url="\/editor\/" builder="https:\/\/builder\.example\.com" ident="com\.example\.a" token-endpoint="\/token" preload="" timeout="5000" class="wide">Inside</,
  );
  assert.match(html, /<plugin-features id="features" for="editor" value="typescript" required="">/);
});

test('mounting twice, as in StrictMode, makes one frame and one token request, and events arrive', async () => {
  await using opened = await open();
  const { page, editor, complaints, tokenRequests } = opened;
  await page.evaluate((props) => window.react.mount({ editor: props }), { ...editor, unguarded: true });
  await ready(page);
  const found = await page.evaluate(() => {
    const element = window.react.ref.current;
    return {
      frames:
        document.querySelectorAll('plugin-editor').length *
        (element?.shadowRoot?.querySelectorAll('iframe').length ?? 0),
      attributes: element?.getAttributeNames().toSorted(),
      unguarded: element?.unguarded,
      headers: typeof element?.tokenHeaders,
      events: window.react.log.events,
    };
  });
  assert.deepEqual(found, {
    frames: 1,
    attributes: ['builder', 'class', 'editor-url', 'fn', 'id', 'ident', 'token-endpoint', 'unguarded'],
    unguarded: true,
    headers: 'function',
    events: [
      { type: 'plugin-editor-state', detail: 'loading', target: 'editor' },
      { type: 'plugin-editor-state', detail: 'ready', target: 'editor' },
      { type: 'plugin-editor-ready', detail: false, target: 'editor' },
    ],
  });
  assert.equal(await tokenRequests(), 1);
  assert.deepEqual(complaints, []);
});

for (const byFunction of [false, true]) {
  const source = byFunction ? 'a function' : 'an endpoint';
  const isDefined = !byFunction;
  const when = isDefined ? 'before' : 'by';
  test(`a page with an element that is defined ${when} hydration hydrates without a warning, with one token from ${source}`, async () => {
    const props = (editor: Editor): AppProps => ({
      editor: byFunction ? { ...editor, tokenEndpoint: undefined, strings: { loading: 'Lade' } } : editor,
    });
    await using opened = await open(props);
    const { page, editor, server, complaints } = opened;
    const rendered = await page.$('plugin-editor');
    if (isDefined) await page.evaluate(() => window.react.define());
    await page.evaluate((...options) => window.react.hydrate(...options), props(editor), byFunction);
    await ready(page);
    assert.ok(await page.evaluate((element) => element === window.react.ref.current, rendered));
    assert.equal(await page.evaluate(() => window.react.log.tokens), byFunction ? 1 : 0);
    assert.deepEqual(
      (await server.requests({ path: '/token' })).map(({ headers }) => headers['x-from']),
      byFunction ? [] : ['react'],
    );
    assert.equal(
      await page.evaluate(() => window.react.ref.current?.strings?.loading),
      byFunction ? 'Lade' : undefined,
    );
    assert.deepEqual(complaints, []);
  });
}

test('new functions restart nothing, a new plugin does, and a removed property returns to its default', async () => {
  await using opened = await open();
  const { page, editor, complaints } = opened;
  await page.evaluate((props) => window.react.mount({ editor: props }, true), { ...editor, label: 'Mine' });
  await ready(page);
  const frame = await page.evaluateHandle(() =>
    window.react.ref.current?.shadowRoot?.querySelector('iframe'),
  );
  await page.evaluate((props) => {
    for (let i = 0; i < 3; i += 1) window.react.render({ editor: props }, true);
  }, editor);
  await page.waitForFunction(() => !window.react.ref.current?.hasAttribute('label'));
  assert.equal(await page.evaluate(() => window.react.ref.current?.label), '');
  assert.ok(
    await page.evaluate(
      (one) => one === window.react.ref.current?.shadowRoot?.querySelector('iframe'),
      frame,
    ),
  );
  await page.evaluate((props) => window.react.render({ editor: props }, true), { ...editor, fn: 'g' });
  await ready(page, 2);
  assert.equal(await page.evaluate(() => window.react.log.tokens), 2);
  assert.equal(await page.evaluate(() => window.react.ref.current?.getAttribute('fn')), 'g');
  assert.deepEqual(complaints, []);
});

test('an unmounted component leaves no frame, and calls no handler any more', async () => {
  await using opened = await open();
  const { page, editor } = opened;
  await page.evaluate((props) => window.react.mount({ editor: props }), editor);
  await ready(page);
  const left = await page.evaluate(async () => {
    const element = window.react.ref.current;
    const eventsBefore = window.react.log.events.length;
    window.react.unmount();
    element?.dispatchEvent(new Event('plugin-editor-ready'));
    await element?.updateComplete;
    return {
      frame: !!element?.shadowRoot?.querySelector('iframe'),
      ref: window.react.ref.current,
      said: window.react.log.events.length - eventsBefore,
    };
  });
  assert.deepEqual(left, { frame: false, ref: null, said: 0 });
});

test('a choice fires change and can be set by value, even beside an editor that uses it as its template', async () => {
  const props = (editor: Editor): AppProps => ({
    editor: editor,
    features: { htmlFor: 'editor', name: 'language', value: 'javascript' },
  });
  await using opened = await open(props);
  const { page, editor, complaints } = opened;
  await page.evaluate((appProps) => window.react.hydrate(appProps), props(editor));
  const radio = await page.waitForSelector('plugin-features >>> input[value=typescript]');
  await radio?.click();
  await page.waitForFunction(() => document.querySelector('output')?.textContent === 'typescript');
  assert.equal(await page.evaluate(() => window.react.ref.current?.template), 'typescript');
  assert.deepEqual(complaints, []);
});
