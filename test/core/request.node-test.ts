import { afterEach, beforeEach, describe, it } from 'node:test';

import * as z from 'zod/mini';
import { HttpError, NetworkError, SchemaError, TimeoutError } from '../../src/client.ts';
import { parseWith } from '../../src/core/client/operation.ts';
import { type RequestOptions, readJson, readText, request } from '../../src/core/request.ts';
import { expect } from '../support/expect.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { rejection, textOf } from '../support/rejection.ts';
import { testServer } from './test-server.ts';
import { type Timers, holdTimer, watchTimers } from './timers.ts';

const SECRET = 'tok-5ecret';

describe('request', () => {
  /** The time limit, which differs from every delay. */
  const timeout = 54_321;
  let timers: Timers;
  const fixture = testServer('/x');
  const { start } = fixture;
  const sendRequest = ({ maxBytes, ...options }: Partial<RequestOptions> & { maxBytes?: number } = {}) =>
    request({ url: fixture.server.url('/x'), timeout, ...options }, (response, label) =>
      readText(response, label, maxBytes),
    );
  beforeEach(() => {
    timers = watchTimers({ limit: timeout });
  });
  afterEach(() => {
    timers.restore();
    expect(timers.pending, 'timers left').to.equal(0);
  });

  it('resolves with the text and the headers of the response', async () => {
    await start({ body: 'Grüße 😀', headers: { 'x-one': '1' } });
    const { data, headers } = await sendRequest();
    expect([data, headers.get('x-one')]).to.deep.equal(['Grüße 😀', '1']);
  });

  it('sends method, headers and body', async () => {
    await start({ json: {} });
    await sendRequest({ init: { method: 'PUT', headers: { 'x-two': '2' }, body: 'in' } });
    const [seen] = await fixture.server.requests();
    expect(seen).to.include({ method: 'PUT', body: 'in' });
    expect(seen?.headers).to.include({ 'x-two': '2' });
  });

  it('resolves with an empty text for a response without a body', async () => {
    await start({ status: 204 });
    expect((await sendRequest()).data).to.equal('');
  });

  it('reads a response in many chunks', async () => {
    await start({ bodyRepeat: { text: 'aé😀', times: 200_000 } });
    expect((await sendRequest()).data).to.equal('aé😀'.repeat(200_000));
  });

  it('reads characters that are split between two chunks', async () => {
    const text = 'aé😀';
    const parts = new ReadableStream({
      start(controller) {
        for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const fetch = async () => new Response(parts);
    expect((await request({ url: 'https://nowhere.invalid/', fetch, timeout }, readText)).data).to.equal(
      text,
    );
  });

  // Which statuses and delays there are is tested with `retryDelay` and `parseRetryAfter`.
  const statuses: [status: number, tries: number][] = [
    [404, 1],
    [503, 3],
  ];
  for (const [status, tries] of statuses) {
    it(`sends ${tries} requests in all when the status is ${status}`, async () => {
      await start({ status, json: { token: SECRET } });
      const error = await rejection<HttpError>(sendRequest());
      expect(error).to.be.instanceOf(HttpError);
      expect(error).to.include({ name: 'HttpError', status, attempts: tries, redirect: false });
      expect(error.message).to.equal(`GET ${fixture.server.url('/x')} answered ${status}`);
      expect(textOf(error)).not.to.contain(SECRET);
      expect(await fixture.server.requests()).to.have.length(tries);
      expect(timers.waits).to.have.length(tries - 1);
    });
  }

  for (const [retry, tries] of [
    [0, 1],
    [1, 2],
    [4, 5],
  ]) {
    it(`sends ${tries} requests in all with retry: ${retry}`, async () => {
      await start({ status: 503 });
      expect(await rejection(sendRequest({ retry }))).to.have.property('attempts', tries);
      expect(await fixture.server.requests()).to.have.length(tries as number);
    });
  }

  it('resolves with the response to a retry', async () => {
    await start({ times: 2, status: 503 }, { body: 'at last' });
    expect(await sendRequest()).to.include({ data: 'at last' });
    expect(await fixture.server.requests()).to.have.length(3);
  });

  it('uses another random number for each delay', async () => {
    await start({ status: 503 });
    await rejection(sendRequest({ retry: 6 }));
    const shares = timers.waits.map((wait, i) => wait / (300 * 2 ** i));
    for (const share of shares) expect(share).to.be.within(0.5, 1);
    expect(new Set(shares).size).to.be.greaterThan(1);
  });

  const noon = 'Tue, 01 Jan 2030 12:00:00 GMT';
  const retryAfter: [headers: Record<string, string>, waits: number[]][] = [
    [{ 'retry-after': '30' }, [30_000]],
    [{ 'retry-after': '31' }, []],
    [{ 'retry-after': 'Tue, 01 Jan 2030 12:00:19 GMT', date: noon }, [19_000]],
  ];
  for (const [headers, waits] of retryAfter) {
    it(`with ${JSON.stringify(headers)} ${waits.length ? `waits ${waits[0]} ms` : 'does not retry'}`, async () => {
      await start({ times: 1, status: 429, headers }, { body: 'ok' });
      if (waits.length) expect((await sendRequest()).data).to.equal('ok');
      else expect(await rejection(sendRequest())).to.include({ status: 429, attempts: 1 });
      expect(timers.waits).to.deep.equal(waits);
    });
  }

  // Without retries otherwise, as what saves, builds and deploys has none.
  for (const [status, count] of [
    [429, 6],
    [503, 6],
    [500, 1],
    [502, 1],
  ] as const) {
    it(`sends ${count} requests in all with retry: 0 and onBusy when the status is ${status}, and reports each wait`, async () => {
      await start({ status, headers: { 'retry-after': '2' } });
      const waits: number[] = [];
      const sent = sendRequest({ retry: 0, onBusy: (wait) => waits.push(wait) });
      expect(await rejection(sent)).to.include({ status, attempts: count });
      expect(waits).to.deep.equal(Array.from({ length: count - 1 }, () => 2000));
    });
  }

  it('does not wait for a busy service that asks for more than 30 s', async () => {
    await start({ status: 503, headers: { 'retry-after': '31' } });
    expect(await rejection(sendRequest({ retry: 0, onBusy: () => {} }))).to.include({ attempts: 1 });
  });

  for (const drop of ['start', 'midway'] as const) {
    it(`rejects with a NetworkError when the connection is lost at the ${drop} of three responses`, async () => {
      await start({ body: SECRET.repeat(1000), drop });
      const error = await rejection<NetworkError>(sendRequest({ url: fixture.server.url('/x?q=1#f') }));
      expect(error).to.be.instanceOf(NetworkError);
      expect(error).to.include({ name: 'NetworkError', attempts: 3 });
      expect(error.message).to.equal(`GET ${fixture.server.url('/x')} could not be reached`);
      expect(error.cause).to.be.instanceOf(Error);
      expect(textOf(error)).not.to.contain(SECRET);
      expect(await fixture.server.requests()).to.have.length(3);
    });
  }

  it('succeeds after the connection was lost once', async () => {
    await start({ times: 1, drop: 'start' }, { times: 1, body: 'half', drop: 'midway' }, { body: 'whole' });
    expect(await sendRequest()).to.include({ data: 'whole' });
    expect(await fixture.server.requests()).to.have.length(3);
  });

  it('rejects with a TimeoutError without a retry when no response comes in time', async () => {
    await start({ delay: 'hang' });
    timers.restore();
    const fire = holdTimer(2000);
    const end = rejection<TimeoutError>(sendRequest({ timeout: 2000, url: fixture.server.url('/x?q=1') }));
    await fixture.server.requests(1);
    fire();
    const error = await end;
    expect(error).to.be.instanceOf(TimeoutError);
    expect(error).to.include({ name: 'TimeoutError', attempts: 1 });
    expect(error.message).to.equal(`GET ${fixture.server.url('/x')} did not answer within 2000 ms`);
    expect(await fixture.server.aborted({ path: '/x' })).to.have.length(1);
    expect(await fixture.server.requests()).to.have.length(1);
  });

  it('has a time limit of 15 s by default', async () => {
    timers.restore();
    timers = watchTimers({ limit: timeout, hold: true });
    await start({ body: '' });
    await request({ url: fixture.server.url('/x') }, readText);
    expect(timers.waits).to.deep.equal([15_000]);
  });

  it('accepts a response of just the size limit, and rejects a larger one', async () => {
    await start({ bodyRepeat: { text: SECRET, times: 1000 } });
    const size = SECRET.length * 1000;
    expect((await sendRequest({ maxBytes: size })).data).to.have.length(size);
    const error = await rejection<SchemaError>(sendRequest({ maxBytes: size - 1 }));
    expect(error).to.be.instanceOf(SchemaError);
    expect(error).to.include({ path: '', attempts: 1 });
    expect(error.message).to.contain(`larger than ${size - 1} bytes`);
    expect(textOf(error)).not.to.contain(SECRET);
  });

  it('counts the size in bytes, not in characters', async () => {
    await start({ bodyRepeat: { text: '€', times: 100 } });
    expect((await sendRequest({ maxBytes: 300 })).data).to.have.length(100);
    expect(await rejection(sendRequest({ maxBytes: 299 }))).to.be.instanceOf(SchemaError);
  });

  it('accepts up to 8 MiB by default', async () => {
    await start(
      { times: 1, bodyRepeat: { text: '01234567', times: 2 ** 20 } },
      {
        bodyRepeat: { text: '012345678', times: 2 ** 20 },
      },
    );
    expect((await sendRequest()).data).to.have.length(2 ** 23);
    expect(await rejection(sendRequest())).to.be.instanceOf(SchemaError);
  });

  it('rejects with the reason of the signal when aborted during a request, and cancels it', async () => {
    await start({ delay: 'hang' });
    const abort = new AbortController();
    const end = rejection(sendRequest({ signal: abort.signal }));
    await fixture.server.requests(1);
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await end).to.equal(reason);
    expect(await fixture.server.aborted({ path: '/x' })).to.have.length(1);
    expect(await fixture.server.requests()).to.have.length(1);
  });

  it('rejects with the reason of the signal when aborted before a retry, and sends no more', async () => {
    timers.restore();
    timers = watchTimers({ limit: timeout, hold: true });
    await start({ status: 503, headers: { 'retry-after': '25' } });
    const abort = new AbortController();
    const waiting = new Promise<void>((resolve) => {
      const { push } = timers.waits;
      timers.waits.push = (...waits) => {
        resolve();
        return push.apply(timers.waits, waits);
      };
    });
    const end = rejection(sendRequest({ signal: abort.signal }));
    await waiting;
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await end).to.equal(reason);
    expect(timers.waits).to.deep.equal([25_000]);
    // Without a timer or a pending request, nothing can send another request.
    expect(timers.pending).to.equal(0);
    expect(await fixture.server.requests()).to.have.length(1);
  });

  it('sends nothing when already aborted', async () => {
    await start({ body: '' });
    const reason = new Error('enough');
    expect(await rejection(sendRequest({ signal: AbortSignal.abort(reason) }))).to.equal(reason);
    await sendRequest();
    expect(await fixture.server.requests()).to.have.length(1);
  });

  it('leaves no listener on the signal', async () => {
    await start({ times: 2, status: 503 }, { body: '' });
    const { signal } = new AbortController();
    const listeners = new Set<unknown>();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: EventListener, options?: object) => {
      listeners.add(listener);
      add(type, listener, options);
    };
    signal.removeEventListener = (type: string, listener: EventListener) => {
      listeners.delete(listener);
      remove(type, listener);
    };
    await sendRequest({ signal });
    expect(listeners.size).to.equal(0);
  });

  it('calls the given fetch function', async () => {
    const seen: unknown[] = [];
    const other = async (input: unknown, init?: RequestInit) => {
      seen.push(input, init?.redirect);
      return new Response('other');
    };
    const { data } = await request({ url: 'https://nowhere.invalid/a', fetch: other, timeout }, readText);
    expect(data).to.equal('other');
    expect(seen).to.deep.equal(['https://nowhere.invalid/a', 'manual']);
  });

  it('counts whatever fetch throws as a lost connection', async () => {
    for (const thrown of [new TypeError('odd'), undefined, 'text']) {
      const other = () => Promise.reject(thrown);
      const error = await rejection(
        request({ url: 'https://nowhere.invalid/', fetch: other, timeout, retry: 0 }, readText),
      );
      expect(error).to.be.instanceOf(NetworkError);
    }
  });
});

describe('a request for JSON', () => {
  const schema = z.object({ list: z.array(z.object({ name: z.string() })) });
  const fixture = testServer('/x');
  const { start } = fixture;
  const askJson = (options: Partial<RequestOptions> = {}) =>
    request({ url: fixture.server.url('/x'), ...options }, readJson(parseWith(schema)));

  it('returns data that fits the schema', async () => {
    await start({ json: { list: [{ name: 'a' }] }, headers: { 'x-one': '1' } });
    const { data, headers } = await askJson();
    expect(data).to.deep.equal({ list: [{ name: 'a' }] });
    expect(headers.get('x-one')).to.equal('1');
  });

  const wrong: [name: string, rule: Partial<Rule>, path: string, problem: string][] = [
    ['HTML', { html: `<title>${SECRET}</title>` }, '', 'not JSON'],
    ['nothing', { status: 204 }, '', 'not JSON'],
    ['half of it', { body: `{"list":[{"name":"${SECRET}"` }, '', 'not JSON'],
    ['null', { json: null }, '', 'expected object'],
    ['text', { json: SECRET }, '', 'expected object'],
    ['a list', { json: [SECRET] }, '', 'expected object'],
    ['a missing field', { json: { other: SECRET } }, 'list', 'expected array'],
    ['a field of another type', { json: { list: SECRET } }, 'list', 'expected array'],
    ['a wrong element', { json: { list: [{ name: 'a' }, SECRET] } }, 'list.1', 'expected object'],
    ['a wrong field deep inside', { json: { list: [{ name: [SECRET] }] } }, 'list.0.name', 'expected string'],
  ];
  for (const [name, rule, path, problem] of wrong) {
    it(`rejects ${name} with a SchemaError that says where, but not what`, async () => {
      await start(rule);
      const error = await rejection<SchemaError>(askJson());
      expect(error).to.be.instanceOf(SchemaError);
      expect(error).to.include({ name: 'SchemaError', path, attempts: 1 });
      expect(error.message).to.equal(
        `GET ${fixture.server.url('/x')} returned wrong data: ${path && `${path}: `}${problem}`,
      );
      expect(textOf(error)).not.to.contain(SECRET);
      expect(await fixture.server.requests()).to.have.length(1);
    });
  }

  it('counts the requests that were sent before a wrong response', async () => {
    await start({ times: 2, status: 503, headers: { 'retry-after': '0' } }, { json: 7 });
    expect(await rejection(askJson())).to.include({ name: 'SchemaError', attempts: 3 });
  });

  const failures: [Partial<Rule>, new (...args: never[]) => Error][] = [
    [{ status: 404 }, HttpError],
    [{ body: 'x' }, SchemaError],
    [{ delay: 'hang' }, TimeoutError],
    [{ drop: 'start' }, NetworkError],
  ];
  for (const [rule, Expected] of failures) {
    it(`keeps query and fragment out of the message of a ${Expected.name}`, async () => {
      await start(rule);
      for (const end of ['?token=', '#', '?a#']) {
        const error = await rejection(
          askJson({
            url: fixture.server.url(`/x${end}${SECRET}`),
            retry: 0,
            timeout: rule.delay ? 100 : 50_000,
          }),
        );
        expect(error).to.be.instanceOf(Expected);
        expect(error.message).to.contain('GET http').and.not.to.contain(SECRET);
      }
    });
  }
});
