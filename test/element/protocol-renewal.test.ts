import { expect } from '@open-wc/testing';

import { PluginEditorError } from '../../src/core/errors.ts';
import {
  untilChangeTo,
  frameOf,
  untilState,
  mount,
  rejection,
  requestCounts,
} from './plugin-editor-setup.ts';
import { NOTHING, left, watchTraces } from './plugin-editor-traces.ts';
import {
  untilRenewed,
  openForRenewal,
  untilEvent,
  countTokenRequests,
  tokenRequests,
} from './protocol-running.ts';
import {
  apply,
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  sendFromEditor,
  protocolServer,
} from './protocol-setup.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

describe('renewal', () => {
  for (const [life, at] of [
    [100, 80_000],
    [2 * 60 * 60, 115 * MINUTE],
  ] as const) {
    it(`sends a new token after ${at / 1000} of ${life} s of life, without a reload`, async () => {
      const { clock, server, received, element, events } = await openForRenewal(life);
      const frame = frameOf(element);
      const { contentWindow } = frame;
      await clock.advance(at - 1000);
      expect(await countTokenRequests(element, server)).to.equal(1);
      await clock.advance(1000);
      const { session, expiresAt, token } = await untilRenewed(received, 1);
      expect(token).to.equal('renewed');
      expect(session).to.equal(received.session());
      expect(Date.parse(expiresAt as string)).to.be.within(
        Date.now() + life * 1000 - 1000,
        Date.now() + life * 1000,
      );
      expect(await tokenRequests(server)).to.equal(2);
      // The next renewal follows the same rule.
      await clock.advance(at);
      await untilRenewed(received, 2);
      expect(frameOf(element)).to.equal(frame);
      expect(frame.contentWindow).to.equal(contentWindow);
      expect(await requestCounts(server)).to.include({ '/editor': 1 });
      expect(named(events, 'expiring')).to.have.length(0);
      expect(element.state).to.equal('ready');
    });
  }

  it('does not happen for a token without a known life', async () => {
    const { clock, server, element } = await openForRenewal(undefined);
    expect(clock.waits).to.deep.equal([]);
    await clock.advance(1000 * MINUTE);
    expect(await countTokenRequests(element, server)).to.equal(1);
  });

  it('does not happen twice within 10 s, however short the life of tokens is', async () => {
    const { clock, server, received, element } = await openForRenewal(1);
    await clock.advance(800);
    await untilRenewed(received, 1);
    for (const type of ['online', 'pageshow', 'visibilitychange']) {
      (type === 'visibilitychange' ? document : window).dispatchEvent(new Event(type));
    }
    await clock.advance(9_900);
    expect(await countTokenRequests(element, server)).to.equal(2);
    await clock.advance(100);
    await untilRenewed(received, 2);
    expect(await tokenRequests(server)).to.equal(3);
  });

  it('does not happen twice within 10 s when an attribute changes between', async () => {
    const { clock, server, received, element } = await openForRenewal(5);
    await clock.advance(4000);
    await untilRenewed(received, 1);
    apply(element, { template: 'typescript' });
    await untilChangeTo(element, 'ready');
    await clock.advance(9_900);
    expect(await countTokenRequests(element, server)).to.equal(2);
    await clock.advance(100);
    await untilRenewed(received, 2);
  });

  it('does not repeat for a token that had ended when it came', async () => {
    const { clock, server, element } = await openForRenewal(-3600);
    await clock.advance(60 * MINUTE);
    expect(await countTokenRequests(element, server)).to.equal(1);
    expect(element.state).to.equal('ready');
  });

  it('is retried with growing delays when it fails, with events and without other effects', async () => {
    const { clock, server, received, element, events } = await openForRenewal(
      1000,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 1000 } },
      { path: '/token', times: 3, status: 400 },
    );
    const frame = frameOf(element);
    const eventsBefore = events.length;
    await clock.advance(800_000);
    const { expiresAt, error } = (await untilEvent(events, 'expiring', 1)) as never as {
      expiresAt: Date;
      error: PluginEditorError;
    };
    expect(expiresAt).to.be.instanceOf(Date);
    expect(+expiresAt - Date.now()).to.be.within(190_000, 200_000);
    expect(error.code).to.equal('token-http');
    expect(clock.waits).to.deep.equal([10_000]);
    await clock.advance(10_000);
    await untilEvent(events, 'expiring', 2);
    expect(clock.waits).to.deep.equal([20_000]);
    await clock.advance(20_000);
    await untilEvent(events, 'expiring', 3);
    expect(clock.waits).to.deep.equal([40_000]);
    await clock.advance(40_000);
    await untilRenewed(received, 1);
    expect(await tokenRequests(server)).to.equal(5);
    expect(events.length - eventsBefore).to.equal(3);
    expect(element.state).to.equal('ready');
    expect(element.error).to.equal(undefined);
    expect(frameOf(element)).to.equal(frame);
    // After a success the next renewal is at its usual time.
    await clock.advance(799_000);
    expect(await countTokenRequests(element, server)).to.equal(5);
    await clock.advance(1000);
    await untilRenewed(received, 2);
  });

  it('stops when refused, until renewToken()', async () => {
    const { clock, server, received, element, events } = await openForRenewal(
      100,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 100 } },
      { path: '/token', times: 1, status: 401 },
    );
    await clock.advance(80_000);
    const { error } = (await untilEvent(events, 'expiring', 1)) as never as { error: PluginEditorError };
    expect(error.code).to.equal('token-unauthorized');
    expect(clock.waits).to.deep.equal([]);
    for (const type of ['online', 'pageshow']) dispatchEvent(new Event(type));
    await clock.advance(60 * MINUTE);
    expect(await countTokenRequests(element, server)).to.equal(2);
    expect(element.state).to.equal('ready');
    await element.renewToken();
    await untilRenewed(received, 1);
    // Renewal continues by itself after that.
    await clock.advance(80_000);
    await untilRenewed(received, 2);
  });

  it('continues after the editor requested a token that had been refused', async () => {
    const { clock, received, element, events } = await openForRenewal(
      100,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 100 } },
      { path: '/token', times: 1, status: 401 },
    );
    await clock.advance(80_000);
    await untilEvent(events, 'expiring', 1);
    sendFromEditor(element, received, { type: 'token-request', reason: 'expired' });
    await untilRenewed(received, 1);
    await clock.advance(80_000);
    expect((await untilRenewed(received, 2)).token).to.equal('renewed');
  });

  it('is not repeated while it is slow, and is used even after the token ended', async () => {
    const { clock, server, received, element, events } = await openForRenewal(
      100,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 100 } },
      { path: '/token', times: 1, delay: 'hang', json: { token: 'slow', expires_in: 100 } },
    );
    apply(element, { timeout: '100000' });
    await element.updateComplete;
    await clock.advance(80_000);
    await server.requests({ path: '/token', count: 2 });
    for (let i = 0; i < 4; i++) {
      await clock.advance(12_000);
      dispatchEvent(new Event('online'));
    }
    sendFromEditor(element, received, { type: 'token-request', reason: 'expired' });
    await flushMessages(element);
    expect(await countTokenRequests(element, server)).to.equal(2);
    await server.release('/token');
    expect((await untilRenewed(received, 1)).token).to.equal('slow');
    expect(element.state).to.equal('ready');
    expect(named(events, 'expiring')).to.have.length(0);
  });

  it('uses the current attributes and functions', async () => {
    const { clock, received, element } = await openForRenewal(100);
    element.fetchToken = async () => ({ token: 'by function', expires_in: 1000 });
    await element.updateComplete;
    await clock.advance(80_000);
    expect((await untilRenewed(received, 1)).token).to.equal('by function');
    await clock.advance(799_000);
    await flushMessages(element);
    expect(received.of('token')).to.have.length(1);
    await clock.advance(1000);
    await untilRenewed(received, 2);
  });

  it('uses a time limit and a method that were set after the start', async () => {
    const { clock, server, element, events } = await openForRenewal(
      100,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 100 } },
      { path: '/token', delay: 'hang' },
    );
    apply(element, { timeout: '1234', 'token-method': 'get' });
    await element.updateComplete;
    await clock.advance(80_000);
    await server.requests({ path: '/token', method: 'GET', count: 1 });
    await clock.advance(1234);
    const { error } = (await untilEvent(events, 'expiring', 1)) as never as { error: PluginEditorError };
    expect(error.message).to.include('1234 ms');
  });

  it('stops with the element, and leaves nothing', async () => {
    const traces = watchTraces();
    const server = await protocolServer(
      {},
      { path: '/token', times: 1, json: { token: 'first', expires_in: 1000 } },
      { path: '/token', delay: 'hang', json: { token: 'second' } },
    );
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    // Some browsers fire the timer that follows the frame's `load` after the editor is ready.
    await until('only the renewal is scheduled', () => left(traces)['timers'] === 1);
    const renewing = element.renewToken();
    sendFromEditor(element, received, { type: 'token-request', reason: 'missing' });
    await flushMessages(element);
    await server.requests({ path: '/token', count: 2 });
    element.remove();
    await server.aborted({ path: '/token' });
    await renewing;
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
    expect(element.state).to.equal('idle');
  });

  it('is discarded when the plugin changes', async () => {
    const { server, received, element } = await openForRenewal(
      100,
      { path: '/token', times: 1, json: { token: 'first' } },
      { path: '/token', times: 1, delay: 'hang', json: { token: 'of the plugin before' } },
      { path: '/token', json: { token: 'second' } },
    );
    const renewing = element.renewToken();
    await server.requests({ path: '/token', count: 2 });
    element.fn = 'g';
    await untilChangeTo(element, 'ready');
    await renewing;
    await server.aborted({ path: '/token' });
    expect(received.of('token')).to.have.length(0);
    expect(received.of('open').map(({ token }) => token)).to.deep.equal(['first', 'second']);
  });
});

describe('renewToken()', () => {
  it('sends a new token to the running editor, with one request for calls at the same time', async () => {
    const { server, received, element } = await openForRenewal(100);
    await Promise.all([element.renewToken(), element.renewToken()]);
    await untilRenewed(received, 1);
    await flushMessages(element);
    expect(received.of('token')).to.have.length(1);
    expect(await tokenRequests(server)).to.equal(2);
  });

  it('rejects with the error, and keeps the editor', async () => {
    const { element } = await openForRenewal(
      100,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 100 } },
      { path: '/token', status: 403 },
    );
    const error = await rejection(element.renewToken());
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(error.code).to.equal('token-unauthorized');
    expect(element.state).to.equal('ready');
    expect(element.error).to.equal(undefined);
  });

  it('rejects when no editor is open, or it does not use the protocol', async () => {
    const server = await protocolServer(null);
    const element = mount(server);
    const before = await rejection(element.renewToken());
    expect(before).to.be.instanceOf(PluginEditorError);
    await untilState(element, 'ready');
    const error = await rejection(element.renewToken());
    expect(error.code).to.equal('editor');
    expect(error.message).to.include('reload()');
    expect(await countTokenRequests(element, server)).to.equal(1);
  });
});
