import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Frame, HTTPRequest, Page } from 'puppeteer-core';
import { launchChromium } from '../demo/harness.ts';
import { isOfNewPlugin } from '../support/chromium.ts';
import { type Pages, startPages } from './pages.ts';
import { blocks, blocksIn, pages as allPages, read, snippet } from './markdown.ts';
import { tscFile } from './package.ts';
import { until } from '../support/until.ts';

let pages: Pages;
let browser: Browser;
let page: Page;
const contexts: BrowserContext[] = [];
/** The lines of the console of the page, by kind. */
let messages: string[];

before(async () => {
  [pages, browser] = await Promise.all([startPages(), launchChromium()]);
});
after(async () => {
  await browser?.close();
  await pages?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

/** A page with cookies and storage of its own. */
async function openPage(): Promise<void> {
  const context = await browser.createBrowserContext();
  contexts.push(context);
  page = await context.newPage();
}

/** A page of the vendor's app, for somebody who is signed in. */
async function open(path: string): Promise<void> {
  await openPage();
  page.setDefaultTimeout(60_000);
  messages = [];
  page.on('console', (message) => {
    if (!isOfNewPlugin(message)) messages.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => messages.push(`uncaught: ${String(error)}`));
  await page.goto(`${pages.vendor}/sign-in`);
  await page.goto(pages.vendor + path);
}

/** Waits for a state; rejects with the reason if it is `error` instead. */
async function inState(wanted: string): Promise<void> {
  await page.waitForFunction(
    (state) => [state, 'error'].includes(document.querySelector('plugin-editor')?.state ?? ''),
    {},
    wanted,
  );
  const { state, error } = await page.$eval('plugin-editor', (editor) => ({
    state: editor.state,
    error: editor.error?.message,
  }));
  assert.equal(state, wanted, error);
}

/** The editor's frame, once it has a text to edit. */
async function editorFrame(): Promise<Frame> {
  await inState('ready');
  const frame = await page.waitForFrame((one) => one.url().startsWith(pages.editor));
  await frame.waitForSelector('textarea:enabled');
  return frame;
}

/** A component for a framework whose types are not among the dependencies: it is parsed. */
const ANGULAR = 'customer-editor.component.ts';

const text = (frame: Frame) => frame.$eval('textarea', ({ value }) => value);

const draftOf = async (fn: string) => {
  const access = await pages.builder.call(
    `/auth/v2/access/com.acme.customer-7/default/${fn}`,
    pages.builder.environmentToken,
  );
  const { token } = (await access.json()) as { token: string };
  const draft = await pages.builder.call(`/api/v1/draft/com.acme.customer-7/default/${fn}`, token);
  return { token, source: draft.ok ? ((await draft.json()) as { contents: string }).contents : undefined };
};

test('every block of TypeScript compiles with the strictest settings', async () => {
  const own = blocks.filter(({ name }) => /\.tsx?$/.test(name) && name !== ANGULAR);
  // What the fixture has written names its own servers.
  for (const { name, code } of own)
    if (!existsSync(join(pages.place.directory, name))) await pages.place.write(name, code);
  // What the guides on rollouts and webhooks take from the guide "From your back end", and that from the vendor.
  const vendor = blocksIn(read('docs/guides/back-end.md')).find(({ name }) => name === 'vendor.ts');
  await pages.place.write('vendor.ts', vendor?.code ?? '');
  await pages.place.write(
    'secrets.ts',
    `export declare const secrets: {
       read: (name: string) => Promise<string>;
       write: (name: string, value: string) => Promise<void>;
     };`,
  );
  await pages.place.write('session.ts', await readFile(new URL('session.ts', import.meta.url), 'utf8'));
  const frameworks = allPages.flatMap((path) =>
    [...read(path).matchAll(/"(plugin-editor\/types\/\w+\.d\.ts)"/g)].map(([, found]) => found),
  );
  assert.equal(frameworks.length, 4);
  // TypeScript knows this tag only with the types of its framework, by which 1 is no name of a plugin.
  await pages.place.write(
    'tags.tsx',
    `const all = { 'editor-url': '/', builder: '/', ident: 'com.acme.customer-7', 'token-endpoint': '/token' };
     export const tag = <plugin-editor {...all} fn="add-record" />;
     // @ts-expect-error
     export const wrong = <plugin-editor {...all} fn={1} />;`,
  );
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom', 'dom.iterable'],
    jsx: 'react-jsx',
    types: ['node', 'plugin-editor', ...frameworks],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  await pages.place.write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions, files: [...own.map(({ name }) => name), 'tags.tsx'] }),
  );
  await pages.place.run(process.execPath, [tscFile, '-p', '.']);
});

describe('the documentation’s page', () => {
  for (const name of ['page.html', 'react.html', 'vue.html'])
    test(`${name} opens its editor, with the languages beside it`, async () => {
      await open(`/${name}`);
      const frame = await editorFrame();
      assert.match(await text(frame), /export/);
      await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
      assert.equal(await page.$$eval('iframe, plugin-editor >>> iframe', (all) => all.length), 1);
      // `message` delivery: the token is in no address.
      assert.doesNotMatch(
        page
          .frames()
          .map((one) => one.url())
          .join(),
        /token/,
      );
      assert.deepEqual(messages, []);
    });

  for (const name of ['react.html', 'vue.html'])
    test(`${name} is told of a deployment`, async () => {
      await open(`/${name}`);
      await editorFrame();
      await page.$eval('plugin-editor', (editor) =>
        editor.dispatchEvent(
          Object.assign(new Event('plugin-editor-deploy', { bubbles: true }), { version: 'v1.0.0' }),
        ),
      );
      await page.waitForFunction(() => document.querySelector('output')?.textContent === 'v1.0.0');
    });
});

test('listen.ts handles every event that it names, and theme.css applies', async () => {
  assert.ok(snippet('theme.css') && snippet('listen.ts'));
  await open('/listening.html');
  const frame = await editorFrame();
  await until('an editor that can be used', () => messages.includes('info: can be used'));
  assert.deepEqual(
    await page.$eval('plugin-editor', (editor) => {
      const { borderRadius, blockSize } = getComputedStyle(editor);
      return [borderRadius, Math.round(parseFloat(blockSize) - innerHeight * 0.8)];
    }),
    ['12px', 0],
  );

  // The plugin changes while there is unsaved work, which the user keeps.
  const renewal = new Promise<string>((resolve) =>
    page.once('dialog', (dialog) => void dialog.dismiss().then(() => resolve(dialog.message()))),
  );
  await frame.type('textarea', '// mine\n');
  await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty);
  await page.$eval('plugin-editor', (editor) => (editor.fn = 'price-rule'));
  assert.equal(await renewal, 'Discard what is not saved in add-record?');
  // Once the work is saved, the change is made in the same frame.
  await frame.locator('button').click();
  await frame.waitForFunction(() => !document.querySelector('textarea')?.value.includes('// mine'));
  assert.match((await draftOf('add-record')).source ?? '', /\/\/ mine/);

  await page.$eval('plugin-editor', (editor) => (editor.ident = 'com.acme.customer-8'));
  await inState('error');
  await until('the warning about the token', () =>
    messages.some((line) => line.startsWith('warn: token-unauthorized ')),
  );
  await page.evaluate(snippet('german.js'));
  await page.waitForSelector('plugin-editor >>> ::-p-text(Sie dürfen dieses Plugin nicht öffnen)');

  await page.$eval('plugin-editor', (editor) => (editor.ident = 'com.acme.customer-7'));
  await inState('ready');
  await page.locator('#sign-out').click();
  await inState('idle');
  await page.waitForFunction(
    () => !document.querySelector('plugin-editor')?.shadowRoot?.querySelector('iframe'),
  );
});

describe('the documentation’s editor', () => {
  test('greets before its own script has loaded, as Vite builds it', async () => {
    const held = Promise.withResolvers<void>();
    pages.holdEditorScript(held.promise);
    let loaded: Promise<unknown>;
    try {
      await openPage();
      page.setDefaultTimeout(60_000);
      const greeted = Promise.withResolvers<void>();
      await page.exposeFunction('greeted', () => greeted.resolve());
      await page.evaluateOnNewDocument(() => {
        addEventListener('message', ({ data }) => {
          if (data.type === 'hello') (globalThis as unknown as { greeted: () => void }).greeted();
        });
      });
      await page.goto(`${pages.vendor}/sign-in`);
      // Waiting for the page would mean waiting for the script that is held: Puppeteer's `load` and `domcontentloaded`
      // both include all frames that are in the page by then.
      loaded = page.goto(`${pages.vendor}/page.html`);
      await Promise.race([
        greeted.promise,
        loaded.then(() => assert.fail('The page loaded, and its editor did not greet before')),
      ]);
    } finally {
      held.resolve();
    }
    await loaded;
    assert.match(await text(await editorFrame()), /export/);
  });

  test('requests a new token when the builder refuses the old one, and saves with it', async () => {
    await open('/page.html');
    await page.$eval('plugin-editor', (editor) => (editor.fn = 'refused-once'));
    const frame = await editorFrame();
    await page.setRequestInterception(true);
    let refused = 0;
    page.on('request', (request) => {
      if (request.method() !== 'POST' || !request.url().includes('/draft/') || refused++)
        void request.continue();
      else void request.respond({ status: 401, headers: { 'access-control-allow-origin': '*' } });
    });
    await frame.waitForFunction(() => document.querySelector('textarea')?.value.includes('refused-once'));
    await frame.type('textarea', '// again\n');
    await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty);
    await frame.locator('button').click();
    await page.waitForFunction(() => document.querySelector('plugin-editor')?.dirty === false);
    assert.match((await draftOf('refused-once')).source ?? '', /\/\/ again/);
    assert.equal(refused, 2);
  });

  test('keeps what is typed while it saves unsaved, and saves once at a time', async () => {
    await open('/page.html');
    await page.$eval('plugin-editor', (editor) => (editor.fn = 'typed-on'));
    const frame = await editorFrame();
    await frame.waitForFunction(() => document.querySelector('textarea')?.value.includes('typed-on'));
    const held = Promise.withResolvers<HTTPRequest>();
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/draft/')) held.resolve(request);
      else void request.continue();
    });
    await frame.type('textarea', '// first\n');
    await frame.locator('button').click();
    const request = await held.promise;
    assert.equal(await frame.$eval('button', (button) => button.disabled), true);
    await frame.type('textarea', '// second\n');
    await page.$eval('plugin-editor', (editor) =>
      editor.addEventListener('plugin-editor-save', () => (editor.dataset['dirty'] = String(editor.dirty))),
    );
    await request.continue();
    await page.waitForSelector('plugin-editor[data-dirty]');
    assert.equal(await page.$eval('plugin-editor', (editor) => editor.dataset['dirty']), 'true');
    assert.equal(await frame.$eval('button', (button) => button.disabled), false);
  });

  test('opens nothing for an unknown builder', async () => {
    await open('/page.html');
    await editorFrame();
    await page.$eval('plugin-editor', (editor) => (editor.builder = 'https://evil.example.com'));
    await inState('error');
    const { code, message } = await page.$eval('plugin-editor', ({ error }) => ({
      code: error?.code,
      message: error?.message,
    }));
    assert.equal(code, 'editor');
    assert.match(String(message), /does not work with that builder/);
  });
});

test('client.ts reads a draft or a template, and run.ts runs what is deployed', async () => {
  const { readSource } = await pages.place.load<{
    readSource: (token: string) => Promise<{ contents: string }>;
  }>('client.ts');
  const { priceOf } = await pages.place.load<{
    priceOf: (customer: string, order: object) => Promise<string>;
  }>('run.ts');
  const { token } = await draftOf('add-record');
  const at = 'com.acme.customer-7/default/add-record';
  assert.match((await readSource(token)).contents, /export|mine/);

  const code = 'export const run = (text) => String(JSON.parse(text).count * 2);';
  const built = await pages.builder.call(`/api/v1/build/javascript/${at}`, token, code);
  assert.equal(built.status, 200);
  const promoted = await pages.builder.call(`/api/v1/draft/${at}/promote`, token, '');
  assert.deepEqual(await promoted.json(), { version: 'v1.0.0', live: 'v1.0.0' });
  assert.equal((await readSource(token)).contents, code);
  assert.equal(await priceOf('customer-7', { count: 21 }), '42');
});
