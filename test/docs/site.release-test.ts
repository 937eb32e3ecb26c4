import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'puppeteer-core';
import { findings } from '../support/axe.ts';
import { launchChromium } from '../demo/harness.ts';
import { editorIn } from '../editor/harness.ts';
import { isOfNewPlugin } from '../support/chromium.ts';

/** The path of the site on the server, which the build has to know. */
const BASE = '/products/plugin-editor/docs/';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const types: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

let folder: string;
let server: Server;
let origin: string;
let browser: Browser;
let page: Page;
/** The failed requests of the page, and the lines of its console. */
let faults: string[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugin-editor-site-'));
  const args = [
    '--disable-warning=ExperimentalWarning',
    'tools/site/run.ts',
    'build',
    '--base',
    BASE,
    '--outDir',
    folder,
  ];
  // The build fails if a link is broken.
  const built = promisify(execFile)(process.execPath, args, { cwd: repository });
  server = createServer(
    (request, response) =>
      void serve(request.url ?? '').then((one) => response.writeHead(...one.head).end(one.body)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  browser = await launchChromium();
  await built;
  page = await browser.newPage();
  page.on('console', (message) => {
    // The element warns about an editor on the origin of the page, which is a stand-in here.
    if (!message.text().includes('sandbox') && !isOfNewPlugin(message))
      faults.push(`${message.text()} ${message.location().url ?? ''}`.trim());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // Who leaves a page ends what it still loads: its failure comes after the next page was asked for.
    if (reason !== 'net::ERR_ABORTED') faults.push(`${request.url()} ${reason}`);
  });
});
after(async () => {
  await browser?.close();
  server?.close().closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** A file of the site, from the folder that it was built for and from no other. */
async function serve(
  url: string,
): Promise<{ head: [number, Record<string, string>]; body: Buffer | string }> {
  const path = decodeURI(url.split('?')[0] ?? '');
  const file = path.startsWith(BASE) ? path.slice(BASE.length).replace(/(^|\/)$/, '$1index.html') : undefined;
  const body = file === undefined ? undefined : await readFile(join(folder, file)).catch(() => undefined);
  if (body === undefined) return { head: [path === '/favicon.ico' ? 204 : 404, {}], body: '' };
  const type = types[file?.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { head: [200, { 'content-type': type }], body };
}

async function open(path: string): Promise<void> {
  faults = [];
  await page.goto(origin + BASE + path);
  // VitePress has hydrated the page: from then on its links do not reload it.
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}));
}

const addresses = async () =>
  (await readdir(folder, { recursive: true }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.html') && !/^(?:stand-in-editor\/|try\/|404)/.test(path))
    .toSorted();

test('every page of the site works in a sub-folder, fits on a phone and passes axe', async () => {
  const all = await addresses();
  assert.ok(all.length > 50, `${all.length} pages`);
  const found: string[] = [];
  await page.setViewport({ width: 360, height: 800 });
  for (const [i, path] of all.entries()) {
    // Every other page in the dark.
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: i % 2 ? 'dark' : 'light' }]);
    await open(path);
    const { tooWide, unseen } = await page.evaluate(() => ({
      tooWide: document.documentElement.scrollWidth > innerWidth,
      unseen: [...document.querySelectorAll('.diagram :is(path, line):not(.tip)')].filter(
        (line) => getComputedStyle(line).stroke === 'none',
      ).length,
    }));
    if (tooWide) found.push(`${path}: is wider than a telephone`);
    if (unseen) found.push(`${path}: lines of a diagram without a colour: ${unseen}`);
    // What is around the content is the same on all pages but the first.
    const seen = await findings(page, path === all[0] ? {} : { part: '#VPContent' });
    for (const one of [...seen, ...faults]) found.push(`${path}: ${one}`);
  }
  assert.deepEqual(found, []);
});

describe('the site on a wide screen', () => {
  before(() => page.setViewport({ width: 1300, height: 900 }));

  test('runs the elements on the pages that describe them', async () => {
    await open('reference/plugin-editor.html');
    await page.waitForSelector('plugin-editor:state(ready)');
    await page.locator('::-p-text(A deploy)').click();
    await page.waitForSelector('output ::-p-text(plugin-editor-deploy)');
    await open('reference/plugin-features.html');
    await page.waitForSelector('plugin-features >>> ::-p-text(AssemblyScript)');
    await open('guides/theming.html');
    await page.waitForSelector('plugin-editor:state(ready)');
    assert.deepEqual(faults, []);
  });

  test('shows the real editor on its front page, which tests and deploys without a service', async () => {
    await open('index.html');
    await page.waitForSelector('plugin-editor:state(ready)');
    await page.$eval('plugin-editor', (one) => one.scrollIntoView({ block: 'center' }));
    const frame = await page.waitForFrame((one) => one.url().includes('/try/editor/'));
    const editor = editorIn(frame, page.keyboard);
    await editor.press('Test');
    await editor.until('2 passed');
    await editor.deploy();
    await editor.until('v1.0.2 deployed');
    await frame.locator('#tab-versions').click();
    await editor.until('Regulars save 20 cents');
    assert.deepEqual(faults, []);
    const icon = await page.$eval('link[rel=icon]', ({ href }: HTMLLinkElement) => href);
    assert.equal((await fetch(icon)).headers.get('content-type'), 'image/svg+xml');
    // What is typed is saved, and what was not recorded is answered with a reason.
    await editor.type('//');
    await editor.save();
    await editor.untilStatus('Saved');
    await editor.build();
    await editor.until('plays a recording');
  });

  test('finds a page by its search, without a server', async () => {
    await open('index.html');
    await page.locator('.DocSearch-Button').click();
    const field = await page.waitForSelector('#localsearch-input');
    await field!.type('OFFLINE_RUN_SECONDS');
    // Before that it shows what it finds for the beginning of the word.
    await page.waitForFunction(() =>
      /docs\/service\/\w+\.html/.test(document.querySelector<HTMLAnchorElement>('.results a')?.href ?? ''),
    );
  });
});

test('npm run docs starts without a warning', async () => {
  const args = ['--disable-warning=ExperimentalWarning', 'tools/site/run.ts', 'dev', '--port', '0'];
  const child = spawn(process.execPath, args, { cwd: repository, env: { ...process.env, NO_COLOR: '1' } });
  let output = '';
  try {
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('Local:')) resolve();
        });
      child.on('close', () => reject(new Error(`It ended: ${output}`)));
    });
  } finally {
    child.kill();
  }
  assert.doesNotMatch(output, /warn|failed/i);
});
