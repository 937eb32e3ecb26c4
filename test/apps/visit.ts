import assert from 'node:assert/strict';

import type { Browser, Frame, Page } from 'puppeteer-core';

import { countFrames } from '../support/count-frames.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import type { ScriptedServer } from '../support/scripted-server-api.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { EDITOR_RULES } from './editor.ts';

/** The environment that the app runs in. */
export interface Place {
  editor: string;
  builder: string;
  delivery: 'url' | 'message';
}

export interface Visit {
  page: Page;
  /** How many requests came before the page was opened. */
  requestsBefore: number;
  /** The app's own origin: its files and its token endpoint. */
  vendor: ScriptedServer;
  /** The editor's and the builder's. */
  service: ScriptedServer;
  tokenRequests: () => ReturnType<ScriptedServer['requests']>;
  /** Waits until an element of the page, or of the editor in its frame, has this text. */
  shows: (selector: string, text: string) => Promise<void>;
  editorShows: (text: string) => Promise<void>;
  /** How many frames the page holds now. */
  frameCount: () => Promise<number>;
  [Symbol.asyncDispose]: () => Promise<void>;
}

export interface VisitOptions {
  /** Rules that go before the app's, made while both servers listen. */
  prepare?: ((place: Place) => Promise<Rule[]>) | undefined;
  /** Parameters for the app, besides the place. */
  query?: Record<string, string> | undefined;
}

const LIMIT = 180_000;

/** A message of development builds about themselves. */
const GREETING = /^Lit is in dev mode/;
/** A file that a browser requests from each site by itself. */
const ICON = /\/favicon\.ico$/;

/**
 * Serves an app on one origin and an editor on another, and opens the app. Nothing that the page complains about is let
 * pass: warnings, errors, policy violations.
 */
export async function visit(
  browser: Browser,
  app: Rule[],
  editor: 'speaking' | 'silent',
  { prepare = () => Promise.resolve([]), query = {} }: VisitOptions = {},
): Promise<Visit> {
  // When anything fails before the page is open, all servers are closed.
  await using opened = new AsyncDisposableStack();
  const service = opened.use(await startScriptedServer(...EDITOR_RULES));
  const place: Place = {
    editor: service.crossSite.url(`/${editor}`),
    builder: service.crossSite.url(),
    delivery: editor === 'speaking' ? 'message' : 'url',
  };
  // Each token is different.
  const tokens = Array.from({ length: 9 }, (_, index) => ({
    path: '/token',
    method: 'POST',
    times: 1,
    json: { token: `t${index + 1}`, expires_in: 900 },
  }));
  const vendor = opened.use(await startScriptedServer());
  await vendor.on(...(await prepare(place)), ...tokens, ...app);
  const requestsBefore = [...(await vendor.requests()), ...(await service.requests())].length;
  const page = opened.adopt(await browser.newPage(), (one) => one.close());
  page.setDefaultTimeout(LIMIT);

  const complaints: string[] = [];
  page.on('pageerror', (error) =>
    complaints.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  page.on('console', (message) => {
    const text = message.text();
    const serious = message.type() === 'error' || message.type() === 'warn';
    if (serious && !GREETING.test(text) && !ICON.test(message.location().url ?? '')) complaints.push(text);
  });

  const waitFor = async (frame: Page | Frame, selector: string, wanted: string): Promise<void> => {
    const wait = frame.waitForFunction(
      (path, content) => document.querySelector(path)?.textContent === content,
      { timeout: LIMIT },
      selector,
      wanted,
    );
    await wait.catch(async () => {
      const found = await frame.$eval(selector, (element) => element.textContent).catch(String);
      assert.equal(found, wanted, `${selector}; complaints: ${complaints.join('\n')}`);
    });
  };

  await page.goto(vendor.url(`/index.html?${new URLSearchParams({ ...place, ...query })}`));
  const close = opened.move();
  return {
    page,
    requestsBefore,
    vendor,
    service,
    tokenRequests: () => vendor.requests({ path: '/token' }),
    shows: (selector, text) => waitFor(page, selector, text),
    editorShows: async (text) => {
      const inFrame = await page.waitForFrame((frame) => frame.url().startsWith(place.editor));
      await waitFor(inFrame, 'p', text);
    },
    frameCount: () => countFrames(page),
    [Symbol.asyncDispose]: async () => {
      await close.disposeAsync();
      assert.deepEqual(complaints, []);
    },
  };
}
