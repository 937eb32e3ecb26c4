import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { Frame, Page } from 'puppeteer-core';
import type { RunningDemo } from '../demo/harness.ts';
import { DemoPage, openDemo } from '../demo/page-driver.ts';
import { countFrames } from '../support/count-frames.ts';
import { pressKeys } from '../support/press-keys.ts';
import { until } from '../support/until.ts';
import { type Secret, startWorld, type World } from './token-world.ts';

/** What no file names and a browser may ask for all the same. */
const PATHS = [
  '/',
  '/session',
  '/plugins?ident=com.example.customer-7',
  '/plugins?ident=com.example.customer-7&name=greet-customer',
  '/customers',
  '/plugins/editor-token?ident=com.example.customer-7&fn=add-record',
  '/api/v1/features',
  '/api/v1/template/typescript',
  '/api/v2/template/javascript/x?namespace=y',
  '/api/v1/draft/com.example.customer-7/default/greet-customer',
  '/api/v1/progress/com.example.customer-7/default/greet-customer',
  '/auth/v2/access/com.example.customer-7/default/greet-customer',
  '/exec/com.example.customer-7/default/greet-customer/v1.0.0',
  '/editor/',
  '/editor/index.html',
];

/**
 * Fetches every address that a browser can know of on both servers, each file that a file names included. Somebody else
 * is signed in than those whose tokens there were. Answers with the addresses.
 */
async function fetchAll({ vendor, service }: RunningDemo): Promise<string[]> {
  const headers = { origin: vendor.slice(0, -1), 'sec-fetch-site': 'same-origin' };
  const signedIn = await fetch(`${vendor}session`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"user":"bram"}',
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const waiting = [vendor, service].flatMap((base) => PATHS.map((path) => new URL(path, base).href));
  const seen = new Set(waiting);
  for (let address; (address = waiting.shift());) {
    const response = await fetch(address, {
      headers: { ...headers, ...(address.startsWith(vendor) && { cookie }) },
    });
    const text = await response.text();
    for (const [name] of text.matchAll(/[\w-]+\.(?:js|css|svg|woff2|map)\b/g)) {
      for (const folder of ['assets/', 'editor/assets/']) {
        const found = new URL(folder + name, folder.startsWith('editor') ? service : vendor).href;
        if (seen.has(found) || !response.ok) continue;
        seen.add(found);
        waiting.push(found);
      }
    }
  }
  return [...seen];
}

const status = (frame: Frame, part: string, start: string) =>
  frame.waitForFunction(
    (selector, text) => document.querySelector(selector)?.textContent?.startsWith(text),
    { polling: 50 },
    part,
    start,
  );

interface Visit {
  readonly tab: DemoPage;
  readonly frame: Frame;
  readonly look: () => Promise<void>;
}

/** Opens a plugin in a browser of its own, by one delivery of the token, renews it, and signs out at the end. */
async function visit(
  world: World,
  delivery: 'url' | 'message',
  user: string,
  use: (visit: Visit) => Promise<void>,
): Promise<void> {
  const context = await world.browser.createBrowserContext();
  const tab = new DemoPage(await context.newPage());
  const { page } = tab;
  await world.watch(page);
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(world.demo.vendor);
  const look = () => world.look(page);

  await tab.signIn(user);
  await tab.chooseDelivery(delivery);
  await tab.choosePlugin('greet-customer');
  await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
  const frame = await tab.launch();
  await look();
  assert.ok(await frame.evaluate(() => 'eventsSaid' in window));
  await page.evaluate(() => document.querySelector('plugin-editor')?.renewToken());
  await use({ tab, frame, look });
  await tab.click('#sign-out');
  await page.waitForSelector(`[data-user=${user}]`);
  assert.equal(await countFrames(page), 0);
  await look();
  await context.close();
}

/** Goes once through what one does with a plugin, whichever way its tokens come. */
async function work({ dataDir }: World, { tab, frame, look }: Visit): Promise<void> {
  const { page } = tab;
  await frame.locator('.cm-content').click();
  await page.keyboard.type('// one\n');
  await status(frame, '.status', 'Saved');
  await pressKeys(page, 'Control', 'b');
  await status(frame, '.status-built', 'Built');
  await pressKeys(page, 'Control', 'Enter');
  await frame.waitForFunction(() => /\d passed/.test(document.body.innerText), { polling: 50 });
  await pressKeys(page, 'Control', 'Shift', 'd');
  await frame.waitForSelector('#deploy-message:focus');
  await page.keyboard.press('Enter');
  await status(frame, '.status-deployed', 'v1.0.');
  await page.waitForSelector('.editor-bar .live');
  await look();

  // A renewal that the service forces by refusing the token in the middle of a save.
  const database = new DatabaseSync(join(dataDir, 'service.sqlite'), { timeout: 10_000 });
  database.exec('DELETE FROM editor_tokens');
  database.close();
  const refused = page.waitForResponse(
    (response) => response.status() === 401 && response.url().includes('/api/'),
  );
  await frame.locator('.cm-content').click();
  await page.keyboard.type('// two\n');
  await refused;
  await status(frame, '.status', 'Saved');
  await look();

  await tab.click('#leave-editor');
  await tab.click('#run-versions');
  await page.waitForSelector('.runs tbody tr');
  await look();
  await tab.launch();
  await look();
}

/** Goes once through what makes an address, or says one in an error: with the token in it, if there it is. */
async function openByAddresses(world: World, { tab, look }: Visit): Promise<void> {
  const { page } = tab;
  const opening = world.browser.waitForTarget((target) => target.opener() === page.target());
  await page.locator('.tools ::-p-text(Open in new tab)').click();
  const opened = await (await opening).page();
  assert.ok(opened);
  await opened.waitForSelector('.cm-content[contenteditable=true]');
  await world.look(opened);
  await opened.close();

  const fails = async (code: string, attributes: Record<string, string> = {}) => {
    await page.evaluate(async (draft) => {
      const editor = document.querySelector('plugin-editor');
      for (const [name, value] of Object.entries(draft)) editor?.setAttribute(name, value);
      await editor?.updateComplete;
      // What it rejects with is what `error` is; an editor by address is `ready` until it says otherwise.
      await editor?.reload().catch(() => {});
    }, attributes);
    await page.waitForFunction(
      (one) => document.querySelector('plugin-editor')?.error?.code === one,
      {},
      code,
    );
    await look();
  };
  const attribute = (name: string) =>
    page.$eval('plugin-editor', (one, of) => one.getAttribute(of) ?? '', name);
  const editorUrl = await attribute('editor-url');
  const builder = await attribute('builder');
  // The editor is told of a builder that is not its own; a page that the policy forbids; a session that has ended.
  await fails('editor', { builder: 'http://localhost:9' });
  await fails('frame-blocked', { builder, 'editor-url': '/blocked' });
  await page.evaluate(() => fetch('/session', { method: 'DELETE' }));
  await fails('token-unauthorized', { 'editor-url': editorUrl });
  await page.evaluate(() =>
    fetch('/session', {
      method: 'POST',
      body: JSON.stringify({ user: 'ada' }),
      headers: { 'content-type': 'application/json' },
    }),
  );
  await tab.click('#try-stranger');
  await tab.state('error');
  await look();
}

/** Puts a token into every place that a real one must not come to: what finds none there would find this one. */
async function plantEverywhere(world: World, page: Page, token: string): Promise<void> {
  const frame = page.frames().find((one) => one.url().includes('/editor/'));
  if (!frame) throw new Error('There is no editor on the page.');
  await page.evaluate(plantInPage, token);
  await frame.evaluate((planted) => {
    sessionStorage.setItem('planted', planted);
    console.log(`planted ${planted}`);
  }, token);
  await plantOnTheWire(world, token);
  mkdirSync(join(world.dataDir, 'outbox'), { recursive: true });
  writeFileSync(join(world.dataDir, 'outbox', 'planted.eml'), token);
  world.demo.kill('SIGUSR2');
  await until('the planted token in the output', () => world.demo.output().includes(token));
}

/** Runs in the page. */
async function plantInPage(token: string): Promise<void> {
  const editor = document.querySelector('plugin-editor');
  const part = editor?.shadowRoot?.querySelector('[part=frame]');
  if (!editor || !part) throw new Error('There is no editor on the page.');
  part.setAttribute('data-planted', token);
  part.setAttribute('src', `${part.getAttribute('src')}#${token}`);
  const cause = new Error('inner', { cause: new Error(token) });
  editor.dispatchEvent(new CustomEvent('planted', { detail: new Error('outer', { cause }) }));
  Object.defineProperty(editor, 'error', { value: new Error('outer', { cause: new Error(token) }) });
  Object.defineProperty(document, 'referrer', { value: `http://localhost/?${token}` });
  history.replaceState({ token }, '');
  // The browser notes the time of a request when its response is complete, and in a task of its own.
  const timed = new Promise<void>((resolve) =>
    new PerformanceObserver((list, observer) => {
      if (!list.getEntries().some(({ name }) => name.includes(token))) return;
      observer.disconnect();
      resolve();
    }).observe({ type: 'resource', buffered: true }),
  );
  await (await fetch(`/planted?${token}`)).text();
  await timed;
  const database = await new Promise<IDBDatabase>((resolve) => {
    const opening = indexedDB.open('planted');
    opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore('tokens'));
    opening.addEventListener('success', () => resolve(opening.result));
  });
  const change = database.transaction('tokens', 'readwrite');
  change.objectStore('tokens').put(token, 'planted');
  await new Promise((resolve) => change.addEventListener('complete', resolve));
  database.close();
  const violation = new Event('securitypolicyviolation');
  document.dispatchEvent(Object.assign(violation, { planted: token }));
}

/** Sends it to both servers in every part of a request, and has the service answer and store it. */
async function plantOnTheWire({ demo }: World, token: string): Promise<void> {
  const vendor = demo.vendor.slice(0, -1);
  const service = demo.service.slice(0, -1);
  const bearer = `Bearer ${token}`;
  const headers = { authorization: bearer, cookie: `planted=${token}`, referer: `${vendor}/?${token}` };
  await fetch(`${vendor}/planted`, { headers: { ...headers, 'x-planted': token } });
  // As the editor sends it: what a browser sends there is looked at apart from what the vendor's back end does.
  await fetch(`${service}/api/v1/progress/com.example.planted/default/x`, {
    headers: { ...headers, 'user-agent': 'Mozilla/5.0' },
  });
  await fetch(`${service}/editor/?token=${token}`);

  const own = { origin: vendor, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const send = (address: string, extra: Record<string, string>, body: object) =>
    fetch(address, { method: 'POST', headers: { ...own, ...extra }, body: JSON.stringify(body) });
  const signedIn = await send(`${vendor}/session`, {}, { user: 'bram' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const plugin = { ident: 'com.example.customer-8', namespace: 'default', fn: 'planted' };
  const response = await send(`${vendor}/plugins/editor-token`, { cookie }, plugin);
  const issuedToken = ((await response.json()) as { token: string }).token;
  await send(
    `${service}/api/v1/draft/com.example.customer-8/default/planted`,
    { authorization: `Bearer ${issuedToken}` },
    { lang: 'javascript', contents: `// ${token}` },
  );
}

/** Where each kind of secret has its business. */
const ISSUED = ['answer of the access interface', 'answer of the token endpoint'];
const BY_MESSAGE = [...ISSUED, 'authorization at the builder'];
/** By address a token is in the frame's, and in what the browser itself makes of that; docs/security/tokens.md says so. */
const BY_URL = [
  ...BY_MESSAGE,
  'address of the editor',
  'address that opened a tab',
  'frame address',
  'policy violation',
  'timing',
];

describe('tokens, session cookies and codes, from signing in to running a plugin', () => {
  const planted: Secret = { kind: 'planted', text: randomBytes(32).toString('base64url') };
  let world: World;
  let byUrl: Secret[];
  let byMessage: Secret[];
  const of = (all: Secret[], kind: string) => all.filter((one) => one.kind === kind);
  const placesOf = (all: Secret[]) => [...new Set(all.flatMap((one) => world.places.of(one)))].toSorted();

  before(async () => {
    world = await startWorld(planted.text);
    await world.makeOwnerToken();
    await visit(world, 'url', 'ada', (one) => openByAddresses(world, one));
    byUrl = of(world.secrets(), 'editor token');
    await visit(world, 'message', 'cleo', (one) => work(world, one));
    byMessage = of(world.secrets(), 'editor token').slice(byUrl.length);
    await fetchAll(world.demo);
    world.lookAround();
  });
  after(() => world?.close());

  test('are all made, and seen where they belong', () => {
    const kinds = new Set(world.secrets().map(({ kind }) => kind));
    assert.deepEqual([...kinds].toSorted(), [
      'code',
      'cookie key',
      'editor token',
      'environment token',
      'session',
    ]);
    const [minted, answered] = ISSUED as [string, string];
    for (const tokens of [byUrl, byMessage]) {
      const places = tokens.map((one) => world.places.of(one));
      assert.ok(places.every((some) => some.includes(minted)));
      // Launched, renewed, launched again or renewed because it was refused; a request that was given up has no response.
      const issued = places.filter((some) => some.includes(answered));
      assert.ok(issued.length >= 4, `${issued.length} tokens of ${tokens.length}`);
    }
  });

  test('include an environment token, which is in no byte that a browser can reach', () => {
    const [demos, owners, ...others] = of(world.secrets(), 'environment token');
    assert.ok(demos && owners && !others.length);
    assert.deepEqual(world.places.of(demos), ['authorization by the vendor']);
    assert.deepEqual(world.places.of(owners), ["the command's standard output"]);
  });

  test('include an editor token delivered by message, which is in no address and nowhere in the page', () => {
    assert.deepEqual(placesOf(byMessage), BY_MESSAGE.toSorted());
  });

  test('include an editor token delivered by address, which is where the contract says, and nowhere else', () => {
    assert.deepEqual(placesOf(byUrl), BY_URL.toSorted());
  });

  test('include a session cookie, its signing key and a verification code, which stay where they belong', () => {
    assert.deepEqual(placesOf(of(world.secrets(), 'session')), ['cookies to the vendor', 'set-cookie']);
    assert.deepEqual(placesOf(of(world.secrets(), 'cookie key')), ['database']);
    assert.deepEqual(placesOf(of(world.secrets(), 'code')), ['outbox']);
  });

  test('are found by the search when a token is planted in any place', async () => {
    const tab = await openDemo(world.browser, world.demo.vendor);
    const { page } = tab;
    await world.watch(page);
    await page.reload();
    await tab.signIn('ada');
    await tab.chooseDelivery('message');
    await tab.choosePlugin('add-record');
    await tab.launch();
    await plantEverywhere(world, page, planted.text);
    await world.look(page);
    world.lookAround();
    const legitimate = [
      ...ISSUED,
      'set-cookie',
      'address that opened a tab',
      "the command's standard output",
    ];
    assert.deepEqual(
      world.places.of(planted),
      world.places.seen.filter((place) => !legitimate.includes(place)),
    );
  });
});
