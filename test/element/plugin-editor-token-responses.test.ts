import { expect } from '@open-wc/testing';

import { PluginEditorError as ErrorClass } from '../../src/index.ts';
import { fakeClock } from './fake-clock.ts';
import { leaks, watchConsole } from './plugin-editor-leaks.ts';
import {
  type Rule,
  SECRET,
  untilChangeTo,
  editorServer,
  eventsOf,
  untilError,
  flush,
  untilState,
  mount,
  part,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';

interface Row {
  title: string;
  /** The response to each request. */
  rule: Omit<Rule, 'path'>;
  timeout?: number;
  code: ErrorClass['code'];
  status?: number;
  /** Default: 1. */
  attempts?: number;
  /** Matches the message of the error. */
  message: RegExp;
  /** Matches the text of the error view. */
  shows: RegExp;
}

const secretPage = { html: `<!doctype html><h1>${SECRET}</h1>` };

/** What each kind of response leads to in a browser; `test/core` has every response of each kind. */
const rows: Row[] = [
  {
    title: '404',
    rule: { status: 404, ...secretPage },
    code: 'token-http',
    status: 404,
    message: /POST .*\/token answered 404/,
    shows: /could not open the editor/,
  },
  ...[401, 403].map((status): Row => ({
    title: `${status}`,
    rule: { status, json: { token: SECRET } },
    code: 'token-unauthorized',
    status,
    message: new RegExp(`answered ${status}`),
    shows: /may not open this plugin, or your session has ended/,
  })),
  {
    title: '503, three times',
    rule: { status: 503, headers: { 'retry-after': '0' }, ...secretPage },
    code: 'token-http',
    status: 503,
    attempts: 3,
    message: /answered 503 .*attempts: 3/,
    shows: /could not open the editor/,
  },
  // Browsers hide the status of a redirect that is not followed.
  {
    title: 'a redirect to a sign-in page',
    rule: { status: 302, redirect: '/sign-in' },
    code: 'token-redirect',
    message: /redirect, which is not followed/,
    shows: /session seems to have ended\. Sign in/,
  },
  {
    title: 'HTML instead of JSON',
    rule: secretPage,
    code: 'token-invalid',
    message: /not JSON/,
    shows: /could not open the editor/,
  },
  {
    title: 'a hang',
    rule: { delay: 'hang', json: { token: SECRET } },
    timeout: 1000,
    code: 'token-timeout',
    message: /did not answer within 1000 ms/,
    shows: /did not answer in time/,
  },
  {
    title: 'a dropped connection, three times',
    rule: { drop: 'start' },
    code: 'token-network',
    attempts: 3,
    message: /could not be reached/,
    shows: /no connection/,
  },
  {
    title: 'a connection dropped midway, three times',
    rule: { drop: 'midway', json: { token: SECRET, more: 'x'.repeat(1000) } },
    code: 'token-network',
    attempts: 3,
    message: /could not be reached/,
    shows: /no connection/,
  },
];

describe('<plugin-editor> and the responses of the token endpoint', () => {
  for (const { title, rule, timeout = 30_000, code, status, attempts = 1, message, shows } of rows) {
    it(`ends in ${code} after ${title}`, async () => {
      const lines = watchConsole();
      const server = await editorServer({ path: '/token', times: attempts, ...rule });
      const clock = code === 'token-timeout' ? fakeClock() : undefined;
      const element = mount(server, { timeout });
      const events = eventsOf(element);
      await untilChangeTo(element, 'loading');
      await server.requests({ path: '/token', count: 1 });
      await clock?.advance(timeout);
      const error = await untilError(element);

      expect(error).to.be.instanceOf(ErrorClass);
      expect(error).to.deep.include({ code, status, attempts });
      expect(error.message).to.match(message);
      expect(error.message).to.contain(server.sameOrigin.url('/token'));
      const view = part(element, 'error');
      expect(view?.textContent).to.match(shows);
      // The view is for the user of the page. The details are for its developer, once on the console.
      expect(view?.textContent).not.to.contain(error.message);
      expect(lines.map(String).filter((line) => line.includes(error.message))).to.have.length(1);
      expect(events.map(({ type }) => type)).to.deep.equal([
        'plugin-editor-state',
        'plugin-editor-state',
        'plugin-editor-error',
      ]);
      expect(events.at(-1)?.['error']).to.equal(error);

      await flush(element, server);
      expect(await requestCounts(server)).to.deep.equal({ '/token': attempts });
      expect(leaks(element, events, lines)).to.deep.equal([]);

      if (status === 403) {
        // A retry would not help a user who may not open the plugin.
        expect(part(element, 'retry')).to.equal(null);
        return;
      }
      part(element, 'retry')?.click();
      expect(element.state).to.equal('loading');
      await untilState(element, 'ready');
      expect(element.error).to.equal(undefined);
      expect(await requestCounts(server)).to.deep.equal({ '/token': attempts + 1, '/editor': 1 });
      expect(leaks(element, events, lines)).to.deep.equal([]);
    });
  }

  it('sends no request to the other origin of a redirect', async () => {
    const other = await editorServer();
    const server = await editorServer({ path: '/token', redirect: other.url('/sign-in') });
    const element = mount(server);
    expect((await untilError(element)).code).to.equal('token-redirect');
    await flush(element, other);
    expect(await requestCounts(other)).to.deep.equal({});
  });

  it('ends in token-network when another origin does not allow CORS', async () => {
    const server = await editorServer({ path: '/token', cors: false, json: { token: SECRET } });
    const error = await untilError(mount(server, { 'token-endpoint': server.url('/token') }));
    expect(error).to.include({ code: 'token-network', attempts: 3 });
  });

  it('never takes a token from the cache of the browser', async () => {
    const { server, element } = await mountReady(
      { 'token-method': 'get' },
      { path: '/token', times: 1, json: { token: 'first' }, headers: { 'cache-control': 'max-age=600' } },
      { path: '/token', json: { token: 'second' } },
    );
    await element.reload();
    const tokens = (await server.requests({ path: '/editor' })).map(({ query }) => query['token']);
    expect(tokens).to.deep.equal(['first', 'second']);
  });
});

interface FetchTokenRow {
  title: string;
  fetchToken: () => unknown;
  timeout?: number;
  code: ErrorClass['code'];
  /** Matches the message of the error. */
  message: RegExp;
}

const offline = new Error('offline');

const fetchTokenRows: FetchTokenRow[] = [
  {
    title: 'rejects',
    fetchToken: () => Promise.reject(offline),
    code: 'token-source',
    message: /fetchToken failed; its error is the cause/,
  },
  {
    title: 'never settles',
    fetchToken: () => new Promise(() => {}),
    timeout: 1000,
    code: 'token-timeout',
    message: /fetchToken did not answer within 1000 ms/,
  },
  {
    title: 'answers a token that is not well-formed',
    fetchToken: () => `${SECRET}\uD800`,
    code: 'token-invalid',
    message: /token must be well-formed/,
  },
];

describe('<plugin-editor> with fetchToken', () => {
  for (const { title, fetchToken, timeout = 30_000, code, message } of fetchTokenRows) {
    it(`ends in ${code} when it ${title}`, async () => {
      const lines = watchConsole();
      const server = await editorServer();
      let calls = 0;
      const counted = () => {
        calls += 1;
        return fetchToken();
      };
      const clock = code === 'token-timeout' ? fakeClock() : undefined;
      const element = mount(server, { fetchToken: counted, timeout });
      const events = eventsOf(element);
      await element.updateComplete;
      await clock?.advance(timeout);
      const error = await untilError(element);

      expect(error).to.be.instanceOf(ErrorClass);
      expect(error).to.include({ code, status: undefined });
      expect(error.message).to.match(message);
      if (code === 'token-source') expect(error.cause).to.equal(offline);
      expect(part(element, 'error')?.textContent).not.to.contain(error.message);
      expect(lines.map(String).filter((line) => line.includes(error.message))).to.have.length(1);
      expect(calls).to.equal(1);
      await flush(element, server);
      expect(await requestCounts(server)).to.deep.equal({});
      expect(leaks(element, events, lines)).to.deep.equal([]);

      element.fetchToken = async () => SECRET;
      part(element, 'retry')?.click();
      await untilState(element, 'ready');
      expect(calls).to.equal(1);
      expect(leaks(element, events, lines)).to.deep.equal([]);
    });
  }

  it('is not in error when the function rejects because its signal aborted', async () => {
    const server = await editorServer();
    const fetchToken = ({ signal }: { signal: AbortSignal }) =>
      new Promise<string>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    const element = mount(server, { fetchToken });
    const events = eventsOf(element);
    await element.updateComplete;
    element.fetchToken = async () => SECRET;
    element.fn = 'other';
    await untilState(element, 'ready');
    expect(events.map(({ type }) => type)).not.to.include('plugin-editor-error');
  });
});
