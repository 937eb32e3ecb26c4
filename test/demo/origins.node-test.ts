import assert from 'node:assert/strict';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { launchChromium } from './harness.ts';
import { deliverByUrl, openDemo } from './page-driver.ts';
import { shareDemo } from './shared-demo.ts';
import { until } from '../support/until.ts';

// Names that lead to this machine: one that belongs to somebody else, and a customer's place at the vendor's.
const NAMES = 'MAP evil.example 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND';
/** What Chromium shows in a frame whose page may not be framed. */
const REFUSED = 'chrome-error://chromewebdata/';
const TARGET = { ident: 'com.example.customer-7', namespace: 'default', fn: 'add-record' };

/** Runs in a page: asks the vendor's back end for everything that a signed-in user may ask, in every way there is. */
async function askForEverything(vendor: string, target: object): Promise<string[]> {
  const query = new URLSearchParams(target as Record<string, string>);
  const json = { 'content-type': 'application/json' };
  const text = { 'content-type': 'text/plain' };
  const token = `${vendor}plugins/editor-token`;
  const body = JSON.stringify(target);
  const plugin = JSON.stringify({ ident: 'com.example.customer-7', name: 'forged', input: '' });
  const requests: [string, RequestInit][] = [
    [token, { method: 'POST', headers: json, body }],
    [token, { method: 'POST', headers: text, body, mode: 'no-cors' }],
    [token, { method: 'POST', body: new Blob([body]), mode: 'no-cors' }],
    [`${token}?${query}`, {}],
    [`${token}?${query}`, { mode: 'no-cors' }],
    [`${vendor}session`, { method: 'DELETE' }],
    [`${vendor}session`, { method: 'POST', headers: text, body: '{"user":"bram"}', mode: 'no-cors' }],
    [`${vendor}plugins`, { method: 'POST', headers: json, body: plugin }],
    [`${vendor}plugins`, { method: 'POST', headers: text, body: plugin, mode: 'no-cors' }],
    [`${vendor}plugins/runs`, { method: 'POST', headers: json, body: plugin }],
    [`${vendor}plugins/live`, { method: 'PUT', headers: json, body: plugin }],
    [`${vendor}plugins?ident=com.example.customer-7`, {}],
    [`${vendor}customers`, { method: 'DELETE', headers: json, body: plugin }],
    [`${vendor}customers`, { method: 'POST', headers: text, body: plugin, mode: 'no-cors' }],
    [`${vendor}session`, {}],
  ];
  const read: string[] = [];
  for (const [address, init] of requests) {
    const response = await fetch(address, { credentials: 'include', ...init }).catch(() => undefined);
    // What another origin lets nobody read has neither status nor text.
    if (response?.status)
      read.push(`${init.method ?? 'GET'} ${new URL(address).pathname} ${response.status}`);
  }
  // Forms need no leave at all, and take the cookies along; their response goes to a frame.
  for (const [method, action] of [
    ['POST', token],
    ['POST', `${vendor}plugins`],
    ['GET', token],
  ] as const) {
    const form = document.createElement('form');
    Object.assign(form, { method, action, enctype: 'text/plain', target: 'answer' });
    const input = document.createElement('input');
    // As plain text this is JSON: the equals sign is within a string.
    Object.assign(input, { name: body.replace(/\}$/, ',"x":"'), value: '"}' });
    form.append(input);
    const frame = document.createElement('iframe');
    frame.name = 'answer';
    document.body.append(frame, form);
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    form.submit();
    await loaded;
    frame.remove();
  }
  return read;
}

const demo = await shareDemo();

describe('a page of another origin', () => {
  let browser: Browser;
  let stranger: Server;
  let port: number;
  let context: BrowserContext;
  let own: Page;

  before(async () => {
    stranger = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Stranger</title><body>'),
    ).listen(0, '127.0.0.1');
    browser = await launchChromium({ hosts: `${NAMES}, EXCLUDE localhost, EXCLUDE 127.0.0.1` });
    ({ port } = stranger.address() as AddressInfo);
    const tab = await openDemo(browser, demo.vendor, deliverByUrl);
    await tab.signIn('ada');
    own = tab.page;
    context = own.browserContext();
  });
  after(async () => {
    await browser?.close();
    stranger?.close();
  });

  /** What asking could have changed: how many tokens there are, and which plugins. */
  const stored = () => {
    const count = (file: string, table: string) => {
      const db = new DatabaseSync(join(demo.dataDir, file), { readOnly: true });
      const row = db.prepare(`SELECT count(*) AS count FROM ${table}`).get();
      db.close();
      return Number(row?.['count']);
    };
    return {
      tokens: count('service.sqlite', 'editor_tokens'),
      plugins: count('vendor.sqlite', 'vendor_plugin'),
    };
  };
  const open = async (address: string) => {
    const page = await context.newPage();
    await page.goto(address);
    return page;
  };

  for (const [name, host] of [
    ['another port of the same host', 'localhost'],
    ['a customer’s subdomain', 'customer.localhost'],
    ['another site', 'evil.example'],
    ['another site on this machine', '127.0.0.1'],
  ] as const) {
    test(`gets no token and changes nothing: ${name}`, async () => {
      const beforehand = stored();
      const page = await open(`http://${host}:${port}/`);
      assert.deepEqual(await page.evaluate(askForEverything, demo.vendor, TARGET), []);
      assert.deepEqual(stored(), beforehand);
      assert.equal(await own.evaluate(async () => 'user' in (await (await fetch('/session')).json())), true);
      await page.close();
    });
  }

  test('differs from the vendor’s own page, which gets all of it', async () => {
    const beforehand = stored();
    const read = await own.evaluate(askForEverything, demo.vendor, TARGET);
    assert.ok(read.includes('POST /plugins/editor-token 200'), read.join());
    assert.ok(read.includes('DELETE /session 204'), read.join());
    assert.notDeepEqual(stored(), beforehand);
  });

  test('with a name that leads to this machine is answered with 421 at both servers', async () => {
    for (const [address, path] of [
      [demo.vendor, ''],
      [demo.vendor, 'session'],
      [demo.service, 'editor/'],
      [demo.service, 'api/v1/features'],
    ] as const) {
      const page = await context.newPage();
      const rebound = new URL(path, address);
      rebound.hostname = 'evil.example';
      const response = await page.goto(rebound.href);
      assert.equal(response?.status(), 421, rebound.href);
      await page.close();
    }
  });

  test('cannot frame the demo, and cannot frame the editor from another site', async () => {
    const cases = [
      [demo.vendor, 'evil.example', false],
      [demo.vendor, 'localhost', false],
      [`${demo.service}editor/`, 'evil.example', false],
      [`${demo.service}editor/`, 'localhost', true],
    ] as const;
    for (const [address, host, allowed] of cases) {
      const page = await open(`http://${host}:${port}/`);
      await page.evaluate(async (src) => {
        const frame = document.createElement('iframe');
        frame.src = src;
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
        document.body.append(frame);
        await loaded;
      }, address);
      // What stands in a frame, Puppeteer may hear a moment after the page did.
      const shown = () => page.frames()[1]?.url();
      await until('the page in the frame', () => shown() === (allowed ? address : REFUSED)).catch(() =>
        assert.fail(`In a page of ${host} the frame for ${address} shows ${shown()}`),
      );
      await page.close();
    }
  });

  test('can call the builder without cookies, and neither the access nor the execution interface', async () => {
    const page = await open(`http://localhost:${port}/`);
    const call = (path: string, init: RequestInit = {}) =>
      page.evaluate(
        (address, options) =>
          fetch(address, options).then(
            ({ status }) => status,
            () => 'refused',
          ),
        demo.service + path,
        init,
      );
    const headers = { authorization: 'Bearer pe_env_x' };
    assert.equal(await call('auth/v2/access/com.example.a/default/x', { headers }), 'refused');
    assert.equal(await call('auth/v2/access/com.example.a/default/x'), 'refused');
    assert.equal(await call('exec/name/com.example.a/default/x', { method: 'POST', headers }), 'refused');
    assert.equal(await call('api/v1/features'), 200);
    assert.equal(await call('api/v1/features', { credentials: 'include' }), 'refused');
    await page.close();
  });
});
