import { expect, oneEvent } from '@open-wc/testing';

import { type FakeClock, fakeClock, settle } from './fake-clock.ts';
import type { PluginEditorElement, ScriptedServer } from './plugin-editor-setup.ts';
import { flush, frameOf, inState, mount } from './plugin-editor-setup.ts';
import { renewed, running, runningWith, settledTokens } from './protocol-running.ts';
import {
  bid,
  heardOut,
  listen,
  mountTalking,
  named,
  saidEvents,
  say,
  talkingServer,
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
    const server = await talkingServer(null, { path: '/token', json: { token: 't', expires_in: life } });
    const element = mount(server);
    const events = saidEvents(element);
    await inState(element, 'ready');
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
    expect(await settledTokens(element, server)).to.equal(1);
    expect(element.state).to.equal('ready');
  });

  it('gets new tokens once it greets, however late', async () => {
    const { clock, element, events } = await silent(900);
    const ear = listen();
    await clock.advance(720_000);
    expect(named(events, 'expiring')).to.have.length(1);
    bid(frameOf(element).contentWindow, `say({ type: 'hello' })`);
    await ear.until('open');
    await clock.advance(10_000);
    await renewed(ear, 1);
    expect(named(events, 'expiring')).to.have.length(1);
  });
});

describe('an editor that has not greeted, with message delivery', () => {
  it('gets the newest token when it does', async () => {
    const clock = fakeClock();
    const server = await talkingServer(
      null,
      { path: '/token', times: 1, json: { token: 'stale', expires_in: 10 } },
      { path: '/token', json: { token: 'fresh', expires_in: 1000 } },
    );
    const ear = listen();
    const element = mountTalking(server);
    const events = saidEvents(element);
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await server.requests({ path: '/token', count: 1 });
    await flush(element, server);
    await settle();
    await clock.advance(8000);
    await server.requests({ path: '/token', count: 2 });
    await flush(element, server);
    await settle();
    bid(frameOf(element).contentWindow, `say({ type: 'hello' })`);
    expect((await ear.until('open')).token).to.equal('fresh');
    await inState(element, 'ready');
    expect(named(events, 'expiring')).to.have.length(0);
  });
});

describe('a token-request of the editor', () => {
  for (const reason of ['missing', 'expired', 'refused']) {
    it(`is answered with a new token when that is ${reason}`, async () => {
      const { ear, element } = await running(undefined);
      say(element, ear, { type: 'token-request', reason });
      const { session } = await renewed(ear, 1);
      expect(session).to.equal(ear.session());
    });
  }

  it('is answered with token-failed and a code when there is none', async () => {
    const { ear, element, events } = await running(
      undefined,
      { path: '/token', times: 1, json: { token: 'first' } },
      { path: '/token', status: 401 },
    );
    say(element, ear, { type: 'token-request', reason: 'refused' });
    const { session, code } = (await ear.until('token-failed')) as never as Record<string, string>;
    expect({ session, code }).to.deep.equal({ session: ear.session(), code: 'token-unauthorized' });
    expect(element.state).to.equal('ready');
    // There is no end to tell of.
    expect(named(events, 'expiring')).to.have.length(0);
  });

  it('causes one request in 5 s, however many there are', async () => {
    const { clock, server, ear, element } = await running(undefined);
    const storm = `for (let i = 0; i < 100; i++) say({ type: 'token-request', reason: 'refused', session: '${ear.session()}' })`;
    const { contentWindow } = frameOf(element);
    bid(contentWindow, storm);
    await renewed(ear, 1);
    expect(await settledTokens(element, server)).to.equal(2);
    bid(contentWindow, storm);
    await heardOut(element);
    await clock.advance(4900);
    expect(await settledTokens(element, server)).to.equal(2);
    await clock.advance(100);
    await renewed(ear, 2);
    bid(contentWindow, storm);
    await heardOut(element);
    expect(await settledTokens(element, server)).to.equal(3);
    // As many in a row as time allows, also when they fail.
    await server.reset({ path: '/token', status: 400 }, { path: '/ping', body: '' });
    for (let i = 1; i <= 3; i++) {
      await clock.advance(5000);
      await ear.until('token-failed', i);
      bid(contentWindow, storm);
      await heardOut(element);
    }
    expect(ear.of('token-failed')).to.have.length(3);
    expect(clock.waits).to.have.length(1);
  });

  it('is answered at once for another plugin', async () => {
    const { server, ear, element } = await runningWith({ capabilities: ['open'] }, {}, undefined);
    say(element, ear, { type: 'token-request', reason: 'refused' });
    await renewed(ear, 1);
    element.fn = 'g';
    await ear.until('open', 2);
    say(element, ear, { type: 'token-request', reason: 'refused' });
    await renewed(ear, 2);
    expect(await settledTokens(element, server)).to.equal(4);
  });

  it('is dropped with its plugin while it waits', async () => {
    const { clock, server, ear, element } = await runningWith({ capabilities: ['open'] }, {}, undefined);
    say(element, ear, { type: 'token-request', reason: 'refused' });
    await renewed(ear, 1);
    say(element, ear, { type: 'token-request', reason: 'refused' });
    await heardOut(element);
    expect(clock.waits).to.include(5000);
    element.fn = 'g';
    await ear.until('open', 2);
    expect(clock.waits).not.to.include(5000);
    await clock.advance(5000);
    expect(await settledTokens(element, server)).to.equal(3);
  });

  it('is ignored with another session or an unknown reason', async () => {
    const { clock, server, ear, element } = await running(undefined);
    say(element, ear, { type: 'token-request', reason: 'expired', session: 'x' });
    say(element, ear, { type: 'token-request', reason: 'bored' });
    say(element, ear, { type: 'token-request' });
    await heardOut(element);
    await clock.advance(10_000);
    expect(await settledTokens(element, server)).to.equal(1);
  });
});
