import { expect, oneEvent } from '@open-wc/testing';

import { type FakeClock, fakeClock } from './fake-clock.ts';
import type { PluginEditorElement, ScriptedServer } from './plugin-editor-setup.ts';
import { frameOf, untilState, mount } from './plugin-editor-setup.ts';
import { until } from '../support/until.ts';
import { untilRenewed, openForRenewal, openForRenewalWith, countTokenRequests } from './protocol-running.ts';
import {
  evaluateIn,
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
  sendFromEditor,
  protocolServer,
} from './protocol-setup.ts';

const MINUTE = 60_000;

describe('an editor that does not use the protocol', () => {
  async function silent(life: number): Promise<{
    clock: FakeClock;
    server: ScriptedServer;
    element: PluginEditorElement;
    events: (Event & Record<string, unknown>)[];
  }> {
    const clock = fakeClock();
    const server = await protocolServer(null, { path: '/token', json: { token: 't', expires_in: life } });
    const element = mount(server);
    const events = recordEvents(element);
    await untilState(element, 'ready');
    return { clock, server, element, events };
  }

  it('causes one event plugin-editor-expiring in time, and no token request', async () => {
    const { clock, server, element, events } = await silent(900);
    await clock.advance(719_000);
    expect(named(events, 'expiring')).to.have.length(0);
    await clock.advance(1000);
    const [event] = named(events, 'expiring');
    expect(+(event?.['expiresAt'] as Date) - Date.now()).to.be.within(179_000, 180_000);
    expect(event).not.to.have.property('error');
    dispatchEvent(new Event('online'));
    await clock.advance(60 * MINUTE);
    expect(named(events, 'expiring')).to.have.length(1);
    expect(await countTokenRequests(element, server)).to.equal(1);
    expect(element.state).to.equal('ready');
  });

  it('gets new tokens once it greets, however late', async () => {
    const { clock, element, events } = await silent(900);
    const received = recordMessages();
    await clock.advance(720_000);
    expect(named(events, 'expiring')).to.have.length(1);
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`);
    await received.until('open');
    await clock.advance(10_000);
    await untilRenewed(received, 1);
    expect(named(events, 'expiring')).to.have.length(1);
  });
});

/** A renewal that is due later than this, in ms, is first planned for this time: see `src/element/token-holder.ts`. */
const CHECK_INTERVAL = 60_000;

describe('an editor that has not greeted, with message delivery', () => {
  it('gets the newest token when it does', async () => {
    const clock = fakeClock();
    const server = await protocolServer(
      null,
      { path: '/token', times: 1, json: { token: 'stale', expires_in: 10 } },
      { path: '/token', json: { token: 'fresh', expires_in: 1000 } },
    );
    const received = recordMessages();
    const element = mountWithMessages(server);
    const events = recordEvents(element);
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    // Each token is there once its renewal is planned.
    await until('the first token', () => clock.waits.includes(8000));
    await clock.advance(8000);
    await until('the second token', () => clock.waits.includes(CHECK_INTERVAL));
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`);
    expect((await received.until('open')).token).to.equal('fresh');
    await untilState(element, 'ready');
    expect(named(events, 'expiring')).to.have.length(0);
  });
});

describe('a token-request of the editor', () => {
  it('is answered with a new token, whatever the reason', async () => {
    const { clock, received, element } = await openForRenewal(undefined);
    for (const [index, reason] of ['missing', 'expired', 'refused'].entries()) {
      sendFromEditor(element, received, { type: 'token-request', reason });
      const { session } = await untilRenewed(received, index + 1);
      expect(session).to.equal(received.session());
      await clock.advance(5000);
    }
  });

  it('is answered with token-failed and a code when there is none', async () => {
    const { received, element, events } = await openForRenewal(
      undefined,
      { path: '/token', times: 1, json: { token: 'first' } },
      { path: '/token', status: 401 },
    );
    sendFromEditor(element, received, { type: 'token-request', reason: 'refused' });
    const { session, code } = (await received.until('token-failed')) as never as Record<string, string>;
    expect({ session, code }).to.deep.equal({ session: received.session(), code: 'token-unauthorized' });
    expect(element.state).to.equal('ready');
    // The expiry of this token is unknown.
    expect(named(events, 'expiring')).to.have.length(0);
  });

  it('causes one request in 5 s, however many there are', async () => {
    const { clock, server, received, element } = await openForRenewal(undefined);
    const storm = `for (let i = 0; i < 100; i++) send({ type: 'token-request', reason: 'refused', session: '${received.session()}' })`;
    const { contentWindow } = frameOf(element);
    evaluateIn(contentWindow, storm);
    await untilRenewed(received, 1);
    expect(await countTokenRequests(element, server)).to.equal(2);
    evaluateIn(contentWindow, storm);
    await flushMessages(element);
    await clock.advance(4900);
    expect(await countTokenRequests(element, server)).to.equal(2);
    await clock.advance(100);
    await untilRenewed(received, 2);
    evaluateIn(contentWindow, storm);
    await flushMessages(element);
    expect(await countTokenRequests(element, server)).to.equal(3);
    // The limit holds when requests fail, too.
    await server.reset({ path: '/token', status: 400 }, { path: '/ping', body: '' });
    for (let i = 1; i <= 3; i++) {
      await clock.advance(5000);
      await received.until('token-failed', i);
      evaluateIn(contentWindow, storm);
      await flushMessages(element);
    }
    expect(received.of('token-failed')).to.have.length(3);
    expect(clock.waits).to.have.length(1);
  });

  it('is answered at once for another plugin', async () => {
    const { server, received, element } = await openForRenewalWith({ capabilities: ['open'] }, {}, undefined);
    sendFromEditor(element, received, { type: 'token-request', reason: 'refused' });
    await untilRenewed(received, 1);
    element.fn = 'g';
    await received.until('open', 2);
    sendFromEditor(element, received, { type: 'token-request', reason: 'refused' });
    await untilRenewed(received, 2);
    expect(await countTokenRequests(element, server)).to.equal(4);
  });

  it('is dropped with its plugin while it waits', async () => {
    const { clock, server, received, element } = await openForRenewalWith(
      { capabilities: ['open'] },
      {},
      undefined,
    );
    sendFromEditor(element, received, { type: 'token-request', reason: 'refused' });
    await untilRenewed(received, 1);
    sendFromEditor(element, received, { type: 'token-request', reason: 'refused' });
    await flushMessages(element);
    expect(clock.waits).to.include(5000);
    element.fn = 'g';
    await received.until('open', 2);
    expect(clock.waits).not.to.include(5000);
    await clock.advance(5000);
    expect(await countTokenRequests(element, server)).to.equal(3);
  });

  it('is ignored with another session or an unknown reason', async () => {
    const { clock, server, received, element } = await openForRenewal(undefined);
    sendFromEditor(element, received, { type: 'token-request', reason: 'expired', session: 'x' });
    sendFromEditor(element, received, { type: 'token-request', reason: 'bored' });
    sendFromEditor(element, received, { type: 'token-request' });
    await flushMessages(element);
    await clock.advance(10_000);
    expect(await countTokenRequests(element, server)).to.equal(1);
  });
});
