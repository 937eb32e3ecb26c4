import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'puppeteer-core';
import type { PluginSource } from '../../../src/client.ts';
import { type RunningDemo, startDemo } from '../../demo/harness.ts';
import { launchChromium } from '../../support/chromium.ts';
import { FaultProxy } from './proxy.ts';

export const IDENT = 'com.example.customer-7';

/** The real demo in a separate process, which can be killed and started again on the same ports and data. */
export async function startWorld() {
  const dataDir = await mkdtemp(join(tmpdir(), 'plugin-editor-faults-'));
  let demo: RunningDemo = await startDemo({ DATA_DIR: dataDir });
  const { vendor, service } = demo;
  const origin = new URL(vendor).origin;
  const ports = { vendor: Number(new URL(vendor).port), service: Number(new URL(service).port) };

  const signIn = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'ada' }),
  });
  const cookie = signIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';

  /** Past the browser and the proxies. */
  const call = async (fn: string, init: RequestInit = {}) => {
    const target = { ident: IDENT, namespace: 'default', fn };
    const headers = { origin, cookie, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/plugins/editor-token`, {
      method: 'POST',
      headers,
      body: JSON.stringify(target),
    });
    const { token } = (await answer.json()) as { token: string };
    return fetch(`http://127.0.0.1:${ports.service}/api/v1/draft/${IDENT}/default/${fn}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  };

  return {
    vendor,
    ports,
    /** The draft as the service has it. */
    draft: async (fn: string) => (await (await call(fn)).json()) as PluginSource,
    save: async (fn: string, source: PluginSource) => {
      const answer = await call(fn, { method: 'POST', body: JSON.stringify(source) });
      assert.equal(answer.status, 200, await answer.text());
    },
    /** `kill -9`. */
    kill: async () => {
      demo.kill('SIGKILL');
      await demo.ended;
    },
    restart: async () => {
      demo = await startDemo({
        DATA_DIR: dataDir,
        PORT: `${ports.vendor}`,
        SERVICE_PORT: `${ports.service}`,
      });
    },
    close: async () => {
      await demo.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** A browser whose way to the demo leads through separate proxies. */
export interface Lane {
  world: World;
  browser: Browser;
  context: BrowserContext;
  proxies: { vendor: FaultProxy; service: FaultProxy };
  close: () => Promise<void>;
}

export async function openLane(world: World): Promise<Lane> {
  const { ports, vendor } = world;
  const proxies = { vendor: new FaultProxy(ports.vendor), service: new FaultProxy(ports.service) };
  await Promise.all([proxies.vendor.listen(), proxies.service.listen()]);
  // The addresses stay those that the servers know themselves by; nothing else resolves.
  const browser = await launchChromium({
    hosts:
      `MAP localhost:${ports.vendor} 127.0.0.1:${proxies.vendor.port}, ` +
      `MAP 127.0.0.1:${ports.service} 127.0.0.1:${proxies.service.port}, MAP * ~NOTFOUND`,
  });
  const context = browser.defaultBrowserContext();
  const close = async () => {
    await browser.close();
    await Promise.all([proxies.vendor.close(), proxies.service.close()]);
  };
  try {
    const [page] = await browser.pages();
    assert.ok(page);
    await page.goto(vendor);
    await page.evaluate(() => localStorage.setItem('larder-delivery', 'message'));
    await page.reload();
    await page.locator('[data-user=ada]').click();
    await page.waitForSelector('#sign-out');
    await page.goto('about:blank');
    assert.ok(proxies.vendor.paths.includes('/session'), 'The browser went past its proxy');
  } catch (error) {
    await close();
    throw error;
  }
  return { world, browser, context, proxies, close };
}
