import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { launchChromium } from './harness.ts';
import { DemoPage } from './page-driver.ts';
import { shareDemo } from './shared-demo.ts';
import { pressKeys } from '../support/press-keys.ts';
import { readFrame } from '../support/read-frame.ts';
import { until } from '../support/until.ts';

/** HTML that runs a script wherever it is read as HTML, whatever stands around it. The label says where it was shown. */
const markup = (label: string): string =>
  `"'></textarea></title></style><img data-xss="${label}" src=x onerror="window.__xss=1">` +
  `<svg data-xss onload="__xss=1"></svg><script data-xss>__xss=1</script>\${__xss=1}&lt;img data-xss&gt;`;

const json = (body: unknown) => ({
  status: 200,
  contentType: 'application/json',
  headers: { 'access-control-allow-origin': '*' },
  body: JSON.stringify(body),
});

const TENANT = 'com.example.customer-7';
/** A plugin may have any name; this one is the service's own business, too. */
const PLUGIN = markup('plugin');

/** What the vendor's back end says of all plugins, or of the one that is named. */
function pluginsResponse(query: URLSearchParams) {
  if (!query.has('ident') || query.has('name')) {
    const at = markup('time');
    const version = { version: markup('deployed version'), at, by: markup('by'), message: markup('message') };
    const failure = { code: markup('recorded code'), message: markup('recorded message') };
    const run = { id: 'a', version: markup('recorded version'), at: markup('time of a run'), took: 1 };
    return {
      suspended: true,
      live: markup('live version'),
      pinned: { at: markup('time of a pin'), by: markup('pinned by') },
      versions: [{ ...version, live: true }, version],
      more: true,
      runs: [{ ...run, failure, logs: [markup('recorded log')] }],
    };
  }
  const live = { live: markup('live of a card'), latest: markup('latest of a card') };
  return { suspended: true, plugins: [{ name: PLUGIN, ...live }] };
}

/** What the vendor's back end and the plugin service answer when every name and text of theirs is markup. */
function answerTo(request: HTTPRequest, service: string, say: Say) {
  const { pathname, search, searchParams } = new URL(request.url());
  const is = (method: string, path: string) =>
    request.method() === method && (pathname + search).startsWith(path);
  if (is('GET', '/session')) {
    return json({
      user: { name: markup('user'), role: markup('role'), mayDeploy: true, isStaff: say.staff },
      former: [],
      tenants: [
        {
          ident: TENANT,
          name: markup('tenant'),
          plugins: [{ name: PLUGIN, runs: markup('runs'), sample: markup('sample') }],
        },
      ],
      stranger: { ident: 'com.example.customer-8', name: markup('stranger'), fn: markup('strange plugin') },
      service: { editorUrl: `${service}editor/`, builder: service.slice(0, -1) },
    });
  }
  if (is('POST', '/plugins/runs')) {
    const run = { version: markup('version run'), output: markup('output'), took: 1 };
    const failure = {
      code: markup('failure code'),
      message: markup('failure message'),
      logs: [markup('failure log')],
    };
    return json({ runs: [run, { ...run, output: undefined, failure }], more: false });
  }
  if (is('GET', '/customers')) {
    const customer = { ident: markup('ident'), name: markup('customer'), plugins: 1 };
    return json({ customers: [{ ...customer, state: 'active' }] });
  }
  if (is('GET', '/plugins?') && say.refusal) {
    return { ...json({ error: { code: markup('code'), message: markup('refusal') } }), status: 403 };
  }
  if (is('GET', '/plugins?') || is('PUT', '/plugins/live')) return json(pluginsResponse(searchParams));
  if (request.method() === 'POST' && pathname === '/plugins')
    return { ...json({ error: { code: markup('code'), message: markup('name problem') } }), status: 400 };
  if (is('GET', '/api/v1/features')) {
    const languages = ['javascript', markup('identifier')].map((identifier) => ({
      identifier,
      pretty: markup('pretty'),
      short: markup('short'),
    }));
    return json({ features: ['testing', 'stream_builds', markup('feature')], languages });
  }
  if (is('GET', '/api/v1/draft/')) {
    const tests = [
      { name: markup('test'), description: markup('description'), payload: markup('payload') },
      { name: 'two', payload: 'throws' },
    ];
    return json({ contents: markup('source'), lang: 'javascript', tests });
  }
  if (is('GET', '/api/v1/progress/')) return json({ built: false });
  if (is('POST', '/api/v1/check/') || is('POST', '/api/v1/build/')) {
    const diagnostics = [
      { line: 1, column: 1, message: markup('diagnostic'), severity: markup('severity') },
      { line: 1, column: 2, message: markup('second diagnostic'), severity: 'error' },
    ];
    return json({ succeeded: true, outputLog: markup('build log'), diagnostics });
  }
  if (is('POST', '/api/v1/test/')) {
    if (request.postData() !== 'throws') return json({ result: markup('result'), logs: [markup('log')] });
    return json({
      error: { code: markup('error code'), message: markup('error') },
      logs: [markup('one log')],
    });
  }
  if (request.method() === 'POST' && pathname.endsWith('/promote'))
    return json({ version: markup('version') });
  return undefined;
}

/** What else the vendor's back end is to say from now on. */
interface Say {
  /** That it refuses what it is asked of plugins. */
  refusal: boolean;
  /** What it says to the vendor's own staff. */
  staff: boolean;
}

/** Gives a page those answers; all others are the real ones. */
async function respondInMarkup(page: Page, service: string): Promise<Say> {
  const say = { refusal: false, staff: false };
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const response = request.method() === 'OPTIONS' ? undefined : answerTo(request, service, say);
    void (response ? request.respond(response) : request.continue());
  });
  return say;
}

/** Runs in a frame: what the markup became, and where it is shown as the text that it is. */
function lookForMarkup(): { broken: string[]; shown: string[] } {
  const broken = '__xss' in window ? ['a script ran'] : [];
  const texts: string[] = [];
  const read = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll('*')) {
      if (element.hasAttribute('data-xss')) broken.push(element.outerHTML.slice(0, 80));
      for (const name of element.getAttributeNames())
        if (name.startsWith('on')) broken.push(`<${element.localName} ${name}>`);
      if ('value' in element) texts.push(String(element.value));
      if (element.shadowRoot) read(element.shadowRoot);
      for (const node of element.childNodes)
        if (node.nodeType === Node.TEXT_NODE) texts.push(node.nodeValue ?? '');
    }
    // A text editor shows a line in several parts.
    for (const line of root.querySelectorAll('.cm-line')) texts.push(line.textContent ?? '');
  };
  read(document);
  const shown = texts.flatMap((text) =>
    [...text.matchAll(/<img data-xss="([\w ]+)"/g)].map(([, label = '']) => label),
  );
  return { broken, shown };
}

test('HTML in any name, text, error or log is shown as text: on the demo page, in both elements and in the editor', async (t) => {
  const [demo, browser] = await Promise.all([shareDemo(), launchChromium()]);
  t.after(() => browser.close());
  const context = await browser.createBrowserContext();
  const tab = new DemoPage(await context.newPage());
  const { page } = tab;
  // The policy would hide what the pages themselves do not hinder.
  await page.setBypassCSP(true);
  await page.setViewport({ width: 1440, height: 900 });
  // Signed in for real, so that tokens are given; what the session says is markup all the same.
  await page.goto(new URL('session', demo.vendor).href);
  await page.evaluate(async () => {
    const headers = { 'content-type': 'application/json' };
    await fetch('/session', { method: 'POST', headers, body: '{"user":"ada"}' });
  });
  await page.evaluateOnNewDocument(() => {
    addEventListener('message', ({ data }: MessageEvent<{ session?: string }>) =>
      Object.assign(window, { session: data.session }),
    );
  });
  const say = await respondInMarkup(page, demo.service.replace('localhost', '127.0.0.1'));
  await page.goto(demo.vendor);

  const shown = new Set<string>();
  const look = async (on: Page = page) => {
    for (const frame of on.frames()) {
      const found = await readFrame(frame, lookForMarkup);
      if (!found) continue;
      assert.deepEqual(found.broken, [], frame.url());
      for (const label of found.shown) shown.add(label);
    }
  };
  const shows = (...labels: string[]) =>
    until('all labels of what is shown', async () => {
      await look();
      return labels.every((label) => shown.has(label));
    });

  await shows('user', 'tenant', 'plugin', 'runs', 'stranger', 'live of a card', 'latest of a card');
  await page.locator('nav a[aria-current], nav li a').click();
  await shows('pretty', 'short', 'feature');
  await shows('live version', 'time of a pin', 'pinned by', 'deployed version', 'time', 'by', 'message');
  await shows('recorded version', 'time of a run', 'recorded code', 'recorded message', 'recorded log');
  await tab.click('[data-make-live]');
  await tab.click('#run-versions');
  await shows('version run', 'output', 'failure code', 'failure message', 'failure log', 'sample');
  await page.locator('[name=name]').fill('x');
  await page.keyboard.press('Enter');
  await shows('name problem');

  const frame = await tab.launch();
  await shows('source', 'test');
  // A locator waits until the text stands still: a click beside it would leave the keys to the page.
  await frame.locator('.cm-content').click();
  await frame.waitForSelector('.cm-focused');
  await pressKeys(page, 'Control', 'b');
  await shows('build log', 'diagnostic', 'second diagnostic');
  // One thing is done at a time: the log and the problems can be there before the build has ended.
  await frame.waitForFunction(
    () => document.querySelector('.status-built')?.textContent?.startsWith('Built'),
    {
      polling: 50,
    },
  );
  await pressKeys(page, 'Control', 'Enter');
  await frame.waitForFunction(() => /\d failed/.test(document.body.innerText), { polling: 50 });
  // What a test gave is drawn once it is opened.
  await frame.$$eval('details.test:not([open]) > summary', (all) => {
    for (const one of all) one.click();
  });
  await shows('result', 'log', 'description', 'payload', 'error code', 'error', 'one log', 'identifier');
  await pressKeys(page, 'Control', 'Shift', 'd');
  // A test failed, so it is asked for.
  await frame.locator('dialog.deploy[data-state=failed] [type=submit]').click();
  await shows('version');

  // What the editor says to the page around it is a stranger's text there.
  await frame.evaluate((message) => {
    const { session } = window as unknown as { session: string };
    parent.postMessage({ channel: 'plugin-editor', version: 1, type: 'error', session, message }, '*');
  }, markup('words of the editor'));
  await tab.state('error');
  await shows('words of the editor');

  // The back end's words for what it refuses, and what its staff see.
  await tab.click('#leave-editor');
  say.refusal = true;
  await tab.click('#refresh');
  await shows('refusal');
  say.staff = true;
  // Signing out loads the session, which is still another user's.
  await tab.click('#sign-out');
  await shows('customer');
});
