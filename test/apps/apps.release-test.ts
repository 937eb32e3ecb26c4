import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'puppeteer-core';

import { launchChromium } from '../support/chromium.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { run } from '../support/programs.ts';
import { type InstalledApps, installApps, serveFolder } from './harness.ts';
import { hydrateFromServer, remountWhileLoading, useSilentEditor, useProtocolEditor } from './scenarios.ts';
import type { Place } from './visit.ts';

let installed: InstalledApps;
let browser: Browser;

before(async () => {
  installed = await installApps();
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await installed?.[Symbol.asyncDispose]();
});

/** Builds an app as its users would, and checks its types meanwhile. */
async function build(app: string, ...scripts: string[]): Promise<Rule[]> {
  await Promise.all(['build', ...scripts].map((script) => installed.runScript(app, script)));
  return serveFolder(installed.at(app, 'dist'));
}

/** Far longer than any test takes, so that none waits for ever. */
const timeout = 720_000;

for (const app of ['react-19', 'react-18']) {
  it(
    `${app} uses the components under StrictMode, mounted and mounted again, with types`,
    { timeout },
    async () => {
      const files = await build(app, 'check');
      await useProtocolEditor(browser, app, files);
      await useSilentEditor(browser, app, files);
      await remountWhileLoading(browser, app, files);
    },
  );
}

for (const app of ['vue-3', 'svelte-5', 'angular']) {
  it(
    `${app} uses attributes, properties, events and the choice of a language, with types`,
    { timeout },
    async () => {
      const files = await build(app, 'check');
      await useProtocolEditor(browser, app, files);
      await useSilentEditor(browser, app, files);
    },
  );
}

for (const app of ['server-react', 'server-vue', 'server-lit']) {
  it(
    `${app} renders on a server and hydrates in the browser without repeating anything`,
    { timeout },
    async () => {
      const files = await build(app);
      const render = async (place: Place) => {
        const code = `const { render } = await import('./dist-server/server.js');
        process.stdout.write(await render(${JSON.stringify(place)}));`;
        const args = ['--input-type=module', '--eval', code];
        const { stdout, stderr } = await run(process.execPath, args, { cwd: installed.at(app), env: {} });
        assert.equal(stderr, '');
        return stdout;
      };
      await hydrateFromServer(browser, app, files, render);
    },
  );
}

it('the lock file names no registry, and pins no build of this package', async () => {
  const text = await readFile(new URL('package-lock.json', import.meta.url), 'utf8');
  assert.doesNotMatch(text, /"resolved": "https?:/);
  const { packages } = JSON.parse(text) as { packages: Record<string, { integrity?: string }> };
  for (const folder of ['', 'react-18/']) {
    const own = packages[`${folder}node_modules/plugin-editor`];
    assert.ok(own);
    assert.equal(own.integrity, undefined);
  }
});

describe('a page without build tools', () => {
  const cdn = () => installed.at('node_modules/plugin-editor/dist/cdn');

  /** The page with a tag for one of the two files, as in the README, with its hash if there is one. */
  async function pageWith(file: string, attributes: string): Promise<Rule[]> {
    const [list, page] = [`${cdn()}/integrity.json`, installed.at('classic/index.html')];
    const hashes = existsSync(list)
      ? (JSON.parse(await readFile(list, 'utf8')) as { files: Record<string, string> }).files
      : undefined;
    if (hashes) assert.match(hashes[file] ?? '', /^sha384-/);
    const integrity = hashes ? ` integrity="${hashes[file]}" crossorigin="anonymous"` : '';
    const html = (await readFile(page, 'utf8')).replace(
      '<!--script-->',
      `<script ${attributes} src="${file}"${integrity}></script>`,
    );
    assert.ok(html.includes(file));
    return [{ path: '/index.html', html }, ...(await serveFolder(cdn()))];
  }

  it('works with a classic script', { timeout }, async () => {
    const files = await pageWith('plugin-editor.iife.js', '');
    await useProtocolEditor(browser, 'classic', files);
    await useSilentEditor(browser, 'classic', files);
  });

  it('works with a module script', { timeout }, async () => {
    const files = await pageWith('plugin-editor.js', 'type="module"');
    await useProtocolEditor(browser, 'classic', files);
    await useSilentEditor(browser, 'classic', files);
  });
});
