import assert from 'node:assert/strict';
import type { Effect } from './kinds.ts';
import type { Hits } from './proxy.ts';
import type { Visit } from './visit.ts';

/** What the user sees of a fault, and what it costs. */
export interface LoggedOutcome {
  /** What the element, or in its step `<plugin-features>`, comes to; `ready`: it goes on by itself. */
  state: 'ready' | 'error';
  code?: string;
  /** Said to the user while the fault lasts, or in passing. */
  message?: RegExp;
  /** How often the step may be asked for while the fault lasts; `undefined`: again and again, ever more rarely. */
  requests: number | undefined;
}

export interface Step {
  name: string;
  to: 'vendor' | 'service';
  hits: (fn: string) => Hits;
  /** The least pause between two tries, in ms. */
  pause: number;
  /** Other steps go before it in the same act, so that no connection ends before its own request is there. */
  follows?: true;
  /** Brings the page to the moment before. */
  prepare: (visit: Visit) => Promise<void>;
  /** What the user does that takes the step. */
  act: (visit: Visit) => Promise<void>;
  outcome: (effect: Effect) => LoggedOutcome;
  /** Checks what became of it, while the fault lasts. */
  check: (visit: Visit, outcome: LoggedOutcome) => Promise<void>;
  /** What the user does once the fault is gone, unless it went on by itself. */
  recover: (visit: Visit, outcome: LoggedOutcome) => Promise<void>;
}

const isToken =
  (fn: string): Hits =>
  ({ method, path, body }) =>
    method === 'POST' && path === '/plugins/editor-token' && (JSON.parse(body) as { fn: string }).fn === fn;

const isFrame: Hits = ({ method, path }) => method === 'GET' && /^\/editor\/(\?|$)/.test(path);
const isFeatures: Hits = ({ method, path }) => method === 'GET' && path === '/api/v1/features';

export const matchRequest =
  (method: string, pattern: (fn: string) => string) =>
  (fn: string): Hits =>
  (request) =>
    request.method === method && new RegExp(`^/api/v1/${pattern(fn)}$`).test(request.path);

/** The first wait of a request that is tried again, at its shortest, in ms. */
export const RETRY_PAUSE = 150;

/** In time for any machine, and soon enough for a test. */
const LIMIT = 6000;

/** Enough for any machine, also where the page's long waits are made shorter. */
const AMPLE = 150_000;

const TOKEN: Record<Effect, LoggedOutcome> = {
  lost: { state: 'error', code: 'token-network', message: /no connection to the server/, requests: 3 },
  late: { state: 'error', code: 'token-timeout', message: /did not answer in time/, requests: 1 },
  'failed-once': { state: 'ready', requests: 2 },
  failed: {
    state: 'error',
    code: 'token-http',
    message: /could not open the editor.*answered 500/s,
    requests: 3,
  },
  busy: { state: 'ready', requests: 2 },
  unusable: {
    state: 'error',
    code: 'token-invalid',
    message: /could not open the editor.*wrong data/s,
    requests: 1,
  },
  redirected: { state: 'error', code: 'token-redirect', message: /session seems to have ended/, requests: 1 },
};

const checkElement = async (visit: Visit, { state, code, message }: LoggedOutcome): Promise<void> => {
  const shown = await visit.settled();
  assert.equal(shown.state, state, JSON.stringify(shown));
  assert.equal(shown.code, code);
  if (message) assert.match(shown.message, message);
};

/** By the button in the element's error view. */
const retry = async (visit: Visit, { state }: LoggedOutcome): Promise<void> => {
  if (state === 'error') {
    await visit.page.waitForSelector('plugin-editor >>> [part=retry]', { visible: true });
    // In one task, since an element in its error view starts over by itself when its limit changes.
    await visit.page.$eval(
      'plugin-editor',
      (element, timeout) => {
        element.setAttribute('timeout', `${timeout}`);
        element.shadowRoot?.querySelector<HTMLElement>('[part=retry]')?.click();
      },
      AMPLE,
    );
  }
  await visit.editor();
  await visit.type('after');
  await visit.fact('saved', 'Saved');
};

const token: Step = {
  name: 'token request',
  pause: RETRY_PAUSE,
  to: 'vendor',
  hits: isToken,
  prepare: (visit) => visit.goTo(),
  act: async (visit) => {
    if (visit.fault.effect === 'late') await visit.limit(LIMIT);
    await visit.demo.click('#launch');
  },
  outcome: (effect) => TOKEN[effect],
  check: checkElement,
  recover: retry,
};

export const openAndType = async (visit: Visit): Promise<void> => {
  await visit.open();
  await visit.type('before');
  await visit.fact('saved', 'Saved');
};

const frame: Step = {
  name: 'frame load',
  pause: RETRY_PAUSE,
  to: 'service',
  hits: () => isFrame,
  prepare: openAndType,
  act: async (visit) => {
    await visit.limit(LIMIT);
    await visit.page.locator('.tools button ::-p-text(Reload)').click();
    await visit.page.waitForFunction(() => document.querySelector('plugin-editor')?.state !== 'ready');
  },
  // A frame is loaded by the browser: there is no status to retry on, and only what does not greet tells of a fault.
  outcome: () => ({ state: 'error', code: 'frame-timeout', message: /did not load in time/, requests: 1 }),
  check: checkElement,
  recover: retry,
};

const FEATURES: Record<Effect, LoggedOutcome> = {
  lost: { state: 'error', message: /languages could not be loaded/, requests: 3 },
  late: { state: 'error', message: /languages could not be loaded/, requests: 1 },
  'failed-once': { state: 'ready', requests: 2 },
  failed: { state: 'error', message: /languages could not be loaded/, requests: 3 },
  busy: { state: 'ready', requests: 2 },
  unusable: { state: 'error', message: /languages could not be loaded/, requests: 1 },
  redirected: { state: 'error', message: /languages could not be loaded/, requests: 1 },
};

const features: Step = {
  name: 'features request',
  pause: RETRY_PAUSE,
  to: 'service',
  hits: () => isFeatures,
  // The vendor's page is there, and asks for the features of another plugin anew.
  prepare: async (visit) => {
    await visit.page.goto(visit.lane.world.vendor);
    await visit.preloaded();
  },
  act: (visit) =>
    visit.page.evaluate((hash) => {
      location.hash = hash;
    }, `#/com.example.customer-7/${visit.fn}`),
  outcome: (effect) => FEATURES[effect],
  check: async ({ page }, { state, message }) => {
    await page.waitForFunction(() =>
      /ready|error/.test(document.querySelector('plugin-features')?.state ?? ''),
    );
    const shown = await page.$eval('plugin-features', (element) => ({
      state: element.state,
      message: element.shadowRoot?.querySelector<HTMLElement>('[part=error]')?.innerText ?? '',
    }));
    assert.equal(shown.state, state, shown.message);
    if (message) assert.match(shown.message, message);
  },
  recover: async (visit, { state }) => {
    const { page, demo } = visit;
    if (state === 'error') await page.locator('plugin-features >>> [part=retry]').click();
    await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
    await visit.limit(AMPLE);
    await demo.click('#launch');
    await visit.editor();
    await visit.type('after');
    await visit.fact('saved', 'Saved');
  },
};

const unopened = (message: RegExp, requests: number): LoggedOutcome => ({
  state: 'error',
  code: 'editor',
  message,
  requests,
});

const DRAFT: Record<Effect, LoggedOutcome> = {
  lost: unopened(/plugin service cannot be reached/, 3),
  late: unopened(/plugin service cannot be reached/, 1),
  'failed-once': { state: 'ready', requests: 2 },
  failed: unopened(/plugin service has a problem/, 3),
  busy: { state: 'ready', requests: 2 },
  unusable: unopened(/plugin service has a problem/, 1),
  redirected: unopened(/plugin service has a problem/, 1),
};

const draft: Step = {
  name: 'draft',
  follows: true,
  pause: RETRY_PAUSE,
  to: 'service',
  hits: matchRequest('GET', (fn) => `draft/[^/]+/default/${fn}`),
  prepare: (visit) => visit.goTo(),
  act: async (visit) => {
    if (visit.fault.effect === 'late') await visit.limit(AMPLE);
    await visit.demo.click('#launch');
  },
  outcome: (effect) => DRAFT[effect],
  check: checkElement,
  recover: retry,
};

export const renewal: Step = {
  name: 'renewal',
  pause: RETRY_PAUSE,
  to: 'vendor',
  hits: isToken,
  prepare: openAndType,
  act: async (visit) => {
    if (visit.fault.effect === 'late') await visit.limit(LIMIT);
    await visit.page.$eval('plugin-editor', (element) => {
      element.dataset['renewal'] = 'begun';
      element.renewToken().then(
        () => (element.dataset['renewal'] = 'renewed'),
        (error: { code: string }) => (element.dataset['renewal'] = error.code),
      );
      const [running] = element.shadowRoot?.querySelectorAll('iframe') ?? [];
      running?.setAttribute('data-running', '');
    });
  },
  outcome: (effect) => TOKEN[effect],
  check: async (visit, { code }) => {
    const { page } = visit;
    await page.waitForFunction(
      () => document.querySelector<HTMLElement>('plugin-editor')?.dataset['renewal'] !== 'begun',
    );
    const became = await page.$eval('plugin-editor', (element) => ({
      renewal: element.dataset['renewal'],
      running: element.shadowRoot?.querySelectorAll('iframe[data-running]').length,
      frames: element.shadowRoot?.querySelectorAll('iframe').length,
    }));
    // Neither the frame nor the state has anything to do with it.
    assert.deepEqual(became, { renewal: code ?? 'renewed', running: 1, frames: 1 });
    const shown = await visit.shown();
    assert.equal(shown.state, 'ready');
    assert.equal(shown.code, undefined);
    const expiring = (await visit.demo.events()).filter((event) =>
      event.startsWith('plugin-editor-expiring'),
    );
    assert.equal(expiring.length, code ? 1 : 0, expiring.join());
    if (code) assert.match(expiring[0] ?? '', new RegExp(code));
    await visit.type('meanwhile');
  },
  recover: async (visit) => {
    await visit.limit(AMPLE);
    await visit.page.$eval('plugin-editor', (element) => element.renewToken());
    await visit.type('after');
    await visit.fact('saved', 'Saved');
  },
};

export const openingSteps: readonly Step[] = [token, frame, features, draft];
