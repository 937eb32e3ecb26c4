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
import { hostSources, policy } from '../policies.ts';

const FILES = { cdn: 'plugin-editor.js', iife: 'plugin-editor.iife.js' };
const MODULE = '<script type="module" src="/plugin-editor.js"></script>';
const CLASSIC = '<script src="/plugin-editor.iife.js"></script>';

let outDir: string;
let server: Server;
let browser: Browser;

before(async () => {
  outDir = await mkdtemp(join(tmpdir(), 'plugin-editor-cdn-'));
  for (const mode of Object.keys(FILES)) await build({ mode, logLevel: 'error', build: { outDir } });
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/') {
      // Each copy of Lit makes the policy of that name.
      const names = searchParams.has('copies') ? "lit-html 'allow-duplicates'" : 'lit-html';
      response
        .setHeader('content-security-policy', policy(hostSources, { 'lit-html': names }))
        .setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><title>Page</title>${searchParams.get('scripts')}<plugin-editor></plugin-editor>`,
      );
    } else {
      readFile(join(outDir, pathname)).then(
        (body) => response.setHeader('content-type', 'text/javascript').end(body),
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

async function load(scripts: string, query = '') {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  const { port } = server.address() as AddressInfo;
  await page.goto(`http://localhost:${port}/?scripts=${encodeURIComponent(scripts)}${query}`);
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

test('both together, and each twice, throw nothing', async () => {
  const twice = CLASSIC + CLASSIC + MODULE + MODULE.replace('.js', '.js?again');
  const { state, complaints } = await load(twice, '&copies');
  assert.deepEqual({ state, complaints }, { state: 'idle', complaints: [] });
});

test('the files come with source maps that name the sources', async () => {
  for (const file of Object.values(FILES)) {
    assert.match(
      await readFile(join(outDir, file), 'utf8'),
      new RegExp(`//# sourceMappingURL=${file}\\.map$`),
    );
    const map = JSON.parse(await readFile(join(outDir, `${file}.map`), 'utf8')) as { sources: string[] };
    assert.ok(map.sources.some((source) => source.endsWith('src/element/session.ts')));
  }
});
