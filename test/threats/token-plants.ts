import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import type { World } from './token-world.ts';
import { until } from '../support/until.ts';

/** Puts a token into every place that a real one must not come to: what finds none there would find this one. */
export async function plantEverywhere(world: World, page: Page, token: string): Promise<void> {
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
