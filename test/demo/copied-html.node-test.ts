import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'vite';
import { shareDemoInBrowser } from './demo-in-browser.ts';
import { deliverByUrl } from './page-driver.ts';

const { demo, openTab } = await shareDemoInBrowser();

test('the copied HTML does on a separate page what the demo page shows', async (t) => {
  const outDir = await mkdtemp(join(tmpdir(), 'plugin-editor-copied-'));
  t.after(() => rm(outDir, { recursive: true }));
  await build({ mode: 'cdn', logLevel: 'error', build: { outDir } });
  const tab = await openTab(deliverByUrl);
  await tab.signIn('ada');
  await tab.choosePlugin('add-record');
  await tab.chooseLook('sorbet');
  const html = await tab.page.$eval('.source', (element) => element.textContent);

  // The vendor's site with that page and the script on it; all else is the running demo.
  const { page } = tab;
  const script = await readFile(join(outDir, 'plugin-editor.js'), 'utf8');
  const added: Record<string, { contentType: string; body: string }> = {
    '/copied': { contentType: 'text/html', body: `<!doctype html><title>Copied</title>${html}` },
    '/favicon.ico': { contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    '/plugin-editor.js': { contentType: 'text/javascript', body: script },
  };
  // A response made here comes from no address, which Chromium does not let near loopback by itself.
  for (const name of ['local-network-access', 'loopback-network']) {
    const permission = { permission: { name }, state: 'granted' } as const;
    await page.browserContext().setPermission(new URL(demo.vendor).origin, permission);
  }
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const own = added[new URL(request.url()).pathname];
    void (own ? request.respond(own) : request.continue());
  });
  await page.goto(new URL('/copied', demo.vendor).href);
  await tab.state('ready');
  assert.equal(await page.$eval('plugin-features', ({ value }) => value), 'typescript');
  assert.equal(
    await page.$eval('plugin-editor', ({ fn, template }) => `${fn} ${template}`),
    'add-record typescript',
  );
  // With the look that the page had.
  assert.equal(await page.$eval('plugin-editor', (editor) => getComputedStyle(editor).borderRadius), '20px');
  assert.deepEqual(tab.complaints, []);
});
