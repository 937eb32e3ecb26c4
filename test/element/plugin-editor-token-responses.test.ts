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
const noRetry = { code: 'token-invalid', shows: /could not open the editor/ } as const;

const rows: Row[] = [
  ...[400, 404, 405, 409, 418, 422, 501, 505].map((status): Row => ({
    title: `${status}`,
    rule: { status, ...secretPage },
    code: 'token-http',
    status,
    message: new RegExp(`POST .*/token answered ${status}`),
    shows: /could not open the editor/,
  })),
  ...[401, 403].map((status): Row => ({
    title: `${status}`,
    rule: { status, json: { token: SECRET } },
    code: 'token-unauthorized',
    status,
    message: new RegExp(`answered ${status}`),
    shows: /may not open this plugin, or your session has ended/,
  })),
  ...[408, 429, 500, 502, 503, 504].map((status): Row => ({
    title: `${status}, three times`,
    rule: { status, headers: { 'retry-after': '0' }, ...secretPage },
    code: 'token-http',
    status,
    attempts: 3,
    message: new RegExp(`answered ${status} .*attempts: 3`),
    shows: /could not open the editor/,
  })),
  {
    title: '503 that asks to wait longer than 30 s',
    rule: { status: 503, headers: { 'retry-after': '31' } },
    code: 'token-http',
    status: 503,
    message: /answered 503/,
    shows: /could not open the editor/,
  },
  ...[301, 302, 303, 307, 308].map((status): Row => ({
    title: `${status} to a sign-in page`,
    rule: { status, redirect: '/sign-in' },
    code: 'token-redirect',
    message: /redirect, which is not followed/,
    shows: /session seems to have ended\. Sign in/,
  })),
  { title: 'HTML in place of JSON', rule: secretPage, ...noRetry, message: /not JSON/ },
  { title: 'text in place of JSON', rule: { body: SECRET }, ...noRetry, message: /not JSON/ },
  { title: 'half of a JSON text', rule: { body: `{"token":"${SECRET}` }, ...noRetry, message: /not JSON/ },
  { title: 'nothing (204)', rule: { status: 204 }, ...noRetry, message: /not JSON/ },
  { title: 'nothing (200)', rule: { body: '' }, ...noRetry, message: /not JSON/ },
  { title: 'an empty token', rule: { json: { token: '' } }, ...noRetry, message: /wrong data: token: / },
  { title: 'no token', rule: { json: { tokne: SECRET } }, ...noRetry, message: /wrong data: token: / },
  { title: 'a numeric token', rule: { json: { token: 5 } }, ...noRetry, message: /wrong data: token: / },
  { title: 'a null token', rule: { json: { token: null } }, ...noRetry, message: /wrong data: token: / },
  {
    title: 'a token in a list',
    rule: { json: { token: [SECRET] } },
    ...noRetry,
    message: /wrong data: token: /,
  },
  { title: 'a list', rule: { json: [SECRET] }, ...noRetry, message: /expected object/ },
  { title: 'null', rule: { json: null }, ...noRetry, message: /expected object/ },
  { title: 'a string', rule: { json: SECRET }, ...noRetry, message: /expected object/ },
  {
    title: '70 KB',
    rule: { json: { token: SECRET, more: 'x'.repeat(70 * 1024) } },
    ...noRetry,
    message: /larger than 65536 bytes/,
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

  it('ends in token-network when nobody listens', async () => {
    const server = await editorServer();
    // No browser connects to this port, which is reserved for the echo service.
    const error = await untilError(mount(server, { 'token-endpoint': 'http://127.0.0.1:7/token' }));
    expect(error).to.include({ code: 'token-network', attempts: 3 });
    expect(error.message).to.contain('http://127.0.0.1:7/token');
  });

  it('cancels a request that takes too long', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const clock = fakeClock();
    const element = mount(server, { timeout: 2000 });
    await server.requests({ path: '/token', count: 1 });
    await clock.advance(2000);
    await untilError(element);
    expect(await server.aborted({ path: '/token' })).to.have.length(1);
  });

  it('uses a token that comes after a 503, and shows no error', async () => {
    const server = await editorServer({ path: '/token', times: 2, status: 503 });
    const element = mount(server);
    const events = eventsOf(element);
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 3, '/editor': 1 });
    expect(events.map(({ type }) => type)).not.to.include('plugin-editor-error');
  });

  it('accepts a token with additional fields, 64 KiB in all', async () => {
    const more = 'x'.repeat(65_536 - JSON.stringify({ token: SECRET, more: '' }).length);
    const server = await editorServer({ path: '/token', status: 201, json: { token: SECRET, more } });
    await untilState(mount(server), 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('accepts JSON of another media type', async () => {
    const server = await editorServer({ path: '/token', body: `{"token":"${SECRET}"}` });
    await untilState(mount(server), 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('keeps the query of the endpoint out of the error message', async () => {
    const server = await editorServer({ path: '/token', status: 404 });
    const element = mount(server, {
      'token-endpoint': server.sameOrigin.url(`/token?key=${SECRET}#${SECRET}`),
    });
    expect((await untilError(element)).message).not.to.contain(SECRET);
  });
});
