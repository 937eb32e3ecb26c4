import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'puppeteer-core';
import { build } from 'vite';
import { launchChromium } from '../demo/harness.ts';
import { hostSources, policy } from '../../tools/generate/example-policies.ts';

const MODULE = '<script type="module" src="/plugin-editor.js"></script>';
const CLASSIC = '<script src="/plugin-editor.iife.js"></script>';

let outDir: string;
let server: Server;
let browser: Browser;

before(async () => {
  outDir = await mkdtemp(join(tmpdir(), 'plugin-editor-cdn-'));
  await build({ mode: 'cdn', logLevel: 'error', build: { outDir, emptyOutDir: true } });
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/') {
      // Each copy of Lit creates a policy of that name.
      const names = searchParams.has('copies') ? "lit-html 'allow-duplicates'" : 'lit-html';
      response
        .setHeader('content-security-policy', policy(hostSources, { 'lit-html': names }))
        .setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><title>Page</title>${searchParams.get('scripts')}<plugin-editor></plugin-editor>`,
      );
    } else {
      const changed = searchParams.has('changed') ? '\n' : '';
      readFile(join(outDir, pathname)).then(
        (body) => response.setHeader('content-type', 'text/javascript').end(body + changed),
        () => response.writeHead(404).end(),
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await launchChromium();
});

after(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await rm(outDir, { recursive: true });
});

function urlOf(scripts: string, query = '') {
  const { port } = server.address() as AddressInfo;
  return `http://localhost:${port}/?scripts=${encodeURIComponent(scripts)}${query}`;
}

async function load(scripts: string, query = '') {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(urlOf(scripts, query));
  const found = await page.evaluate(async () => {
    await Promise.all(['plugin-editor', 'plugin-features'].map((name) => customElements.whenDefined(name)));
    const elements = (globalThis as { PluginEditorElements?: Record<string, unknown> }).PluginEditorElements;
    return {
      state: document.querySelector('plugin-editor')?.state,
      global: elements && Object.keys(elements),
      isThatClass: elements?.['PluginEditorElement'] === customElements.get('plugin-editor'),
    };
  });
  await page.close();
  return { ...found, complaints };
}

test('a module script defines both elements and no global', async () => {
  const { state, global, complaints } = await load(MODULE);
  assert.deepEqual({ state, global, complaints }, { state: 'idle', global: undefined, complaints: [] });
});

test('a classic script defines both elements and the global PluginEditorElements', async () => {
  const { state, global, isThatClass, complaints } = await load(CLASSIC);
  assert.deepEqual({ state, isThatClass, complaints }, { state: 'idle', isThatClass: true, complaints: [] });
  for (const name of [
    'PluginEditorElement',
    'PluginFeaturesElement',
    'PluginEditorError',
    'PluginEditorReadyEvent',
  ]) {
    assert.ok(global?.includes(name), name);
  }
});

test('both scripts together, each twice, throw nothing', async () => {
  const twice = CLASSIC + CLASSIC + MODULE + MODULE.replace('.js', '.js?again');
  const { state, complaints } = await load(twice, '&copies');
  assert.deepEqual({ state, complaints }, { state: 'idle', complaints: [] });
});

for (const tag of [MODULE, CLASSIC]) {
  test(`a browser accepts only the script with the hash: ${tag}`, async () => {
    const { files } = JSON.parse(await readFile(join(outDir, 'integrity.json'), 'utf8')) as {
      files: Record<string, string>;
    };
    const [, file = ''] = /\/([\w.-]+\.js)/.exec(tag) ?? [];
    const withHash = tag.replace('<script', `<script integrity="${files[file]}"`);
    const taken = await load(withHash);
    assert.deepEqual([taken.state, taken.complaints], ['idle', []]);

    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    // One of these events comes when the script has run or was blocked.
    await page.goto(urlOf(withHash.replace('.js', '.js?changed')), { waitUntil: 'load' });
    const isDefined = await page.evaluate(() => !!customElements.get('plugin-editor'));
    await page.close();
    assert.equal(isDefined, false);
    assert.match(complaints.join('\n'), /integrity/);
  });
}
