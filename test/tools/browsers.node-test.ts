import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { browserAdvice } from '../../tools/setup/browser-advice.js';
import { engines } from '../support/engines.ts';
import { findBrowsers, thisMachine, type Machine } from '../../tools/setup/find-browsers.js';
import { packagesFor } from '../../tools/setup/install-browsers.js';

const all = ['chromium', 'firefox', 'webkit'];

/** A machine with only these files. */
function machine(files: string[], rest: Partial<Machine> = {}): Machine {
  return {
    env: { PATH: '/usr/local/bin:/usr/bin' },
    platform: 'linux',
    home: '/people/u',
    exists: (path) => files.includes(path),
    list: (folder) => [
      ...new Set(
        files
          .filter((file) => file.startsWith(`${folder}/`))
          .map((file) => file.slice(folder.length + 1).split('/')[0]!),
      ),
    ],
    isSnap: () => false,
    ...rest,
  };
}

describe('findBrowsers', () => {
  it('finds the browsers of Debian', () => {
    const lib = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1';
    const found = findBrowsers(
      machine([
        '/usr/bin/chromium',
        '/usr/bin/chromium-headless-shell',
        '/usr/bin/firefox-esr',
        '/usr/bin/WebKitWebDriver',
        '/usr/bin/Xvfb',
        `${lib}/MiniBrowser`,
      ]),
    );
    assert.deepEqual(found, {
      chromium: '/usr/bin/chromium',
      headlessShell: '/usr/bin/chromium-headless-shell',
      firefox: '/usr/bin/firefox-esr',
      webkit: {
        driver: '/usr/bin/WebKitWebDriver',
        miniBrowser: `${lib}/MiniBrowser`,
        xvfb: '/usr/bin/Xvfb',
      },
      missingWebKitParts: [],
      snaps: [],
    });
  });

  it('finds nothing where there is nothing, and names the missing parts of WebKit', () => {
    assert.deepEqual(findBrowsers(machine(['/usr/bin/Xvfb'])), {
      chromium: undefined,
      headlessShell: undefined,
      firefox: undefined,
      webkit: undefined,
      missingWebKitParts: ['WebKitWebDriver', 'MiniBrowser'],
      snaps: [],
    });
  });

  it('prefers CHROME_PATH and FIREFOX_PATH', () => {
    const files = ['chromium', 'chromium-headless-shell', 'firefox'].map((name) => `/usr/bin/${name}`);
    const env = { PATH: '/usr/bin', CHROME_PATH: '/opt/c', FIREFOX_PATH: '/opt/f' };
    const found = findBrowsers(machine([...files, '/opt/c', '/opt/f'], { env }));
    assert.deepEqual([found.chromium, found.headlessShell, found.firefox], ['/opt/c', '/opt/c', '/opt/f']);
    assert.throws(
      () => findBrowsers(machine([], { env })),
      /CHROME_PATH is set to "\/opt\/c", where there is no file/,
    );
  });

  it('skips snaps and names them', () => {
    const files = ['/usr/bin/chromium-browser', '/usr/bin/firefox', '/usr/bin/google-chrome'];
    const found = findBrowsers(machine(files, { isSnap: (path) => /chromium-browser|firefox/.test(path) }));
    assert.equal(found.chromium, '/usr/bin/google-chrome');
    assert.equal(found.firefox, undefined);
    assert.deepEqual(found.snaps, ['/usr/bin/chromium-browser', '/usr/bin/firefox']);
  });

  it('recognises a snap by the target of its command', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'snap-'));
    t.after(() => rm(folder, { recursive: true }));
    const stub = join(folder, 'chromium-browser');
    await writeFile(stub, '#!/bin/sh\nexec /snap/bin/chromium "$@"\n');
    const real = join(folder, 'chromium');
    await writeFile(real, '#!/bin/sh\nexec /usr/lib/chromium/chromium "$@"\n');
    await symlink(stub, join(folder, 'link'));
    const { isSnap } = thisMachine();
    assert.deepEqual([stub, real, join(folder, 'link'), join(folder, 'none')].map(isSnap), [
      true,
      false,
      true,
      false,
    ]);
  });

  it('searches the caches of puppeteer and playwright, the newest version first', () => {
    const puppeteer = ['9.1', '140.2', '99.0'].map(
      (version) => `/people/u/.cache/puppeteer/chrome/linux-${version}/chrome-linux64/chrome`,
    );
    const playwright = '/people/u/.cache/ms-playwright/chromium-1200/chrome-linux/chrome';
    const shell = '/people/u/.cache/ms-playwright/chromium_headless_shell-1300/chrome-linux/chrome';
    assert.equal(findBrowsers(machine([...puppeteer, playwright])).chromium, puppeteer[1]);
    assert.equal(findBrowsers(machine([shell, playwright])).chromium, playwright);
    const folder = '/people/u/.cache/puppeteer/chrome-headless-shell/linux-140.2';
    const headlessShell = `${folder}/chrome-headless-shell-linux64/chrome-headless-shell`;
    assert.equal(findBrowsers(machine([headlessShell])).headlessShell, headlessShell);
    const firefox = '/people/u/.cache/puppeteer/firefox/linux-stable_150/firefox/firefox';
    assert.equal(findBrowsers(machine([firefox])).firefox, firefox);
  });

  it('knows the usual places of macOS and Windows', () => {
    const mac = [
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Firefox.app/Contents/MacOS/firefox',
    ];
    const onMac = findBrowsers(machine(mac, { platform: 'darwin' }));
    assert.deepEqual([onMac.chromium, onMac.firefox], mac);
    const windows = ['C:\\P/Google/Chrome/Application/chrome.exe', 'C:\\P/Mozilla Firefox/firefox.exe'];
    const onWindows = findBrowsers(machine(windows, { platform: 'win32', env: { PROGRAMFILES: 'C:\\P' } }));
    assert.deepEqual([onWindows.chromium, onWindows.firefox], windows);
  });
});

const nothing = findBrowsers(machine([]));

describe('the packages to install', () => {
  it('are those of the engines that are missing and wanted', () => {
    const debian = 'ID=debian\nVERSION_ID="12"\n';
    assert.deepEqual(packagesFor(nothing, all, debian), [
      ['chromium'],
      ['chromium-headless-shell'],
      ['firefox-esr'],
      ['webkit2gtk-driver', 'xvfb'],
    ]);
    assert.deepEqual(packagesFor(nothing, ['firefox'], debian), [['firefox-esr']]);
    const chromiumOnly = findBrowsers(machine(['/usr/bin/chromium']));
    assert.deepEqual(packagesFor(chromiumOnly, ['chromium'], debian), [['chromium-headless-shell']]);
    const env = { PATH: '/usr/bin', CHROME_PATH: '/opt/c' };
    const chosen = findBrowsers(machine(['/opt/c'], { env }));
    assert.deepEqual(packagesFor(chosen, ['chromium'], debian), []);
  });

  it('include no snaps on Ubuntu', () => {
    assert.deepEqual(packagesFor(nothing, all, 'NAME="Ubuntu"\nID=ubuntu\n'), [
      ['webkit2gtk-driver', 'xvfb'],
    ]);
  });
});

describe('the advice', () => {
  it('is an error without Chromium, and a note without the others', () => {
    const { errors, notes } = browserAdvice(nothing, all, 'linux');
    assert.equal(errors.length, 1);
    assert.match(errors[0]!, /need Chromium or Chrome.*apt-get install.*chromium;.*CHROME_PATH/);
    assert.equal(notes.length, 2);
    assert.match(notes[0]!, /Firefox was not found.*firefox-esr/);
    assert.match(notes[1]!, /not found: WebKitWebDriver, MiniBrowser, Xvfb.*webkit2gtk-driver xvfb/);
  });

  it('suits the operating system, names snaps, and leaves out what is not wanted', () => {
    const onMac = browserAdvice(nothing, all, 'darwin');
    assert.doesNotMatch([...onMac.errors, ...onMac.notes].join('\n'), /apt-get/);
    const snap = { ...nothing, snaps: ['/usr/bin/chromium-browser'] };
    assert.match(browserAdvice(snap, all, 'linux').errors[0]!, /chromium-browser: a snap/);
    assert.deepEqual(browserAdvice(nothing, ['webkit'], 'linux').errors, []);
  });
});

describe('browsers.js', () => {
  it('exits with a clear error when an override names no file', async () => {
    const script = fileURLToPath(new URL('../../tools/setup/browsers.js', import.meta.url));
    const env = { ...process.env, CHROME_PATH: '/nowhere/chrome' };
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [script], { env }, (error, _, text) =>
        resolve({ code: error?.code, stderr: text }),
      );
    });
    assert.equal(code, 1);
    assert.equal(stderr, 'CHROME_PATH is set to "/nowhere/chrome", where there is no file.\n');
  });
});

describe('ENGINES', () => {
  it('may name only known engines', () => {
    assert.throws(
      () => engines('chromium,opera'),
      /ENGINES names "opera"; there are chromium, firefox, webkit/,
    );
  });

  it('restricts the run, which reports that', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'engines-'));
    t.after(() => rm(folder, { recursive: true }));
    const chrome = join(folder, 'chrome');
    await writeFile(chrome, '');
    await chmod(chrome, 0o755);
    const before = process.env['CHROME_PATH'];
    process.env['CHROME_PATH'] = chrome;
    t.after(() =>
      before === undefined ? delete process.env['CHROME_PATH'] : (process.env['CHROME_PATH'] = before),
    );
    const { launchers, notRun } = engines('chromium');
    assert.deepEqual(
      launchers.map(({ name }) => name),
      ['Chromium'],
    );
    assert.deepEqual(notRun, ['Firefox (left out by ENGINES)', 'WebKit (left out by ENGINES)']);
  });
});
