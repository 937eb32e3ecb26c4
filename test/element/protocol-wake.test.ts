import { expect } from '@open-wc/testing';

import { fakeClock } from './fake-clock.ts';
import { flush, frameOf, frames, untilState, mount } from './plugin-editor-setup.ts';
import { untilRenewed, openForRenewal, untilEvent, countTokenRequests } from './protocol-running.ts';
import {
  evaluateIn,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
  protocolServer,
} from './protocol-setup.ts';

const HOUR = 3_600_000;

/** Events after which the page may have been inactive for a while. */
const WAKERS: [string, () => void][] = [
  ['visibilitychange', () => document.dispatchEvent(new Event('visibilitychange'))],
  ['pageshow', () => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))],
  ['online', () => window.dispatchEvent(new Event('online'))],
];

const returnFromCache = () => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));

describe('waking', () => {
  it('renews an overdue token at once, by whatever event it shows', async () => {
    const { clock, received, element, server } = await openForRenewal(900);
    for (const [index, [name, wake]] of WAKERS.entries()) {
      wake();
      expect(await countTokenRequests(element, server), name).to.equal(index + 1);
      // While a machine sleeps, timers and the monotonic clock stand still; in a frozen tab only timers do.
      clock.sleep(HOUR);
      wake();
      await untilRenewed(received, index + 1);
      wake();
      expect(await countTokenRequests(element, server), name).to.equal(index + 2);
      expect(element.state, name).to.equal('ready');
      // No renewal follows another within 10 s.
      await clock.advance(10_000);
    }
  });

  it('does not renew a token early, by whatever event it shows', async () => {
    const { clock, received, element, server } = await openForRenewal(900);
    clock.sleep(HOUR / 6);
    for (const [name, wake] of WAKERS) {
      wake();
      expect(await countTokenRequests(element, server), name).to.equal(1);
    }
    // The time that is left until 80 % of its life.
    await clock.advance(119_000);
    expect(await countTokenRequests(element, server)).to.equal(1);
    await clock.advance(1000);
    await untilRenewed(received, 1);
  });

  it('without an event is noticed within a minute', async () => {
    const { clock, received, element, server } = await openForRenewal(900);
    clock.sleep(HOUR);
    await clock.advance(60_000);
    await untilRenewed(received, 1);
    expect(await countTokenRequests(element, server)).to.equal(2);
  });

  it('with a restored connection retries what failed without it', async () => {
    const { clock, received, element, events, server } = await openForRenewal(
      900,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 900 } },
      { path: '/token', times: 1, status: 400 },
    );
    await clock.advance(720_000);
    await untilEvent(events, 'expiring', 1);
    await clock.advance(10_000 - 1);
    window.dispatchEvent(new Event('online'));
    expect(await countTokenRequests(element, server)).to.equal(2);
    await clock.advance(1);
    await untilRenewed(received, 1);
  });

  it('after many failures does not wait for the next retry', async () => {
    const { clock, received, element, events, server } = await openForRenewal(
      900,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 900 } },
      { path: '/token', times: 8, status: 400 },
    );
    await clock.advance(720_000);
    // The delay between two attempts is at most 5 minutes.
    for (const [i, wait] of [10, 20, 40, 80, 160, 300, 300].entries()) {
      await untilEvent(events, 'expiring', i + 1);
      await clock.advance(wait * 1000 - 1);
      expect(await countTokenRequests(element, server)).to.equal(i + 2);
      await clock.advance(1);
    }
    await untilEvent(events, 'expiring', 8);
    await clock.advance(10_000);
    window.dispatchEvent(new Event('online'));
    await untilRenewed(received, 1);
  });
});

describe('a wrong wall clock', () => {
  // Of each form `test/core/token-life` has all values.
  const expiries: [
    form: string,
    hours: number,
    (now: number) => { headers?: Record<string, string>; json: object },
  ][] = [
    ['expires_in', -5, () => ({ json: { token: 't', expires_in: 900 } })],
    [
      'expires_at, with the Date of the answer',
      5,
      (now) => ({
        headers: { date: new Date(now).toUTCString() },
        json: { token: 't', expires_at: new Date(now + 900_000).toISOString() },
      }),
    ],
    [
      'expires_at in seconds, with the Date of the answer',
      -5,
      (now) => ({
        headers: { date: new Date(now).toUTCString() },
        json: { token: 't', expires_at: Math.floor(now / 1000) + 900 },
      }),
    ],
    [
      'a JWT',
      5,
      (now) => {
        const iat = Math.floor(now / 1000);
        return {
          headers: { date: '' },
          json: { token: `h.${btoa(JSON.stringify({ iat, exp: iat + 900 }))}.s` },
        };
      },
    ],
  ];
  for (const [form, hours, tokenResponse] of expiries) {
    it(`(${hours} h) does not matter to ${form}`, async () => {
      const real = Date.now();
      const clock = fakeClock();
      clock.setWall(hours * HOUR);
      const server = await protocolServer({}, { path: '/token', ...tokenResponse(real) });
      const received = recordMessages();
      const element = mountWithMessages(server);
      await untilState(element, 'ready');
      await clock.advance(718_000);
      expect(await countTokenRequests(element, server)).to.equal(1);
      await clock.advance(3000);
      await untilRenewed(received, 1);
      // The expiry is expressed in the clock of this machine, which the editor has, too.
      expect(Date.parse(received.of('open')[0]?.['expiresAt'] as string)).to.be.closeTo(
        real + hours * HOUR + 900_000,
        5000,
      );
    });
  }

  for (const hours of [-5, 5]) {
    it(`(${hours} h) causes no flood of requests with expires_at alone, and the editor gets its tokens`, async () => {
      const end = Math.floor(Date.now() / 1000) + 900;
      const clock = fakeClock();
      clock.setWall(hours * HOUR);
      // On another origin the Date of a response cannot be read.
      const headers = { date: '' };
      const server = await protocolServer(
        {},
        { path: '/token', headers, json: { token: 't', expires_at: end } },
      );
      const received = recordMessages();
      const element = mountWithMessages(server);
      await untilState(element, 'ready');
      await clock.advance(HOUR);
      expect(await countTokenRequests(element, server)).to.equal(1);
      evaluateIn(
        frameOf(element).contentWindow,
        `send({ type: 'token-request', reason: 'expired', session: '${received.session()}' })`,
      );
      await untilRenewed(received, 1);
    });
  }

  it('does not prevent renewal when it is set during the life of a token', async () => {
    const { clock, received } = await openForRenewal(900);
    clock.setWall(-3 * HOUR);
    await clock.advance(720_000);
    expect((await untilRenewed(received, 1)).token).to.equal('renewed');
  });
});

describe('a page that comes back from the back-forward cache', () => {
  it('renews its token once, whatever life is left', async () => {
    const { clock, received, element, events, server } = await openForRenewal(undefined);
    returnFromCache();
    await untilRenewed(received, 1);
    expect(await countTokenRequests(element, server)).to.equal(2);
    expect(element.state).to.equal('ready');
    expect(named(events, 'expiring')).to.have.length(0);
    expect(clock.waits).to.deep.equal([]);
  });

  it('does not renew again within 10 s, however short the life of tokens is', async () => {
    const { clock, received, element, server } = await openForRenewal(1);
    returnFromCache();
    await untilRenewed(received, 1);
    await clock.advance(9_900);
    expect(await countTokenRequests(element, server)).to.equal(2);
    await clock.advance(100);
    await untilRenewed(received, 2);
  });

  it('makes one request for an overdue token', async () => {
    const { clock, received, element, server } = await openForRenewal(900);
    clock.sleep(HOUR);
    returnFromCache();
    await untilRenewed(received, 1);
    expect(await countTokenRequests(element, server)).to.equal(2);
  });

  it('closes the editor when the renewal is refused, as the user may have signed out', async () => {
    const { clock, received, element } = await openForRenewal(
      900,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 900 } },
      { path: '/token', times: 1, status: 403 },
    );
    const closed = received.until('close');
    returnFromCache();
    await closed;
    await clock.advance(1000);
    expect(element.state).to.equal('idle');
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
    element.fn = 'other';
    await element.updateComplete;
    expect(element.state).to.equal('idle');
  });

  it('renews its token anew where a renewal was pending when it was left', async () => {
    const { clock, received, element, server } = await openForRenewal(
      900,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 900 } },
      { path: '/token', times: 1, delay: 'hang', json: { token: 'from before' } },
      { path: '/token', status: 403 },
    );
    const renewing = element.renewToken();
    await server.requests({ path: '/token', count: 2 });
    const closed = received.until('close');
    returnFromCache();
    await closed;
    await clock.advance(1000);
    await renewing;
    expect(element.state).to.equal('idle');
    expect(received.of('token')).to.have.length(0);
  });

  it('keeps the editor when the renewal fails for another reason', async () => {
    const { element, events } = await openForRenewal(
      900,
      { path: '/token', times: 1, json: { token: 'first', expires_in: 900 } },
      { path: '/token', times: 1, status: 400 },
    );
    returnFromCache();
    await untilEvent(events, 'expiring', 1);
    expect(element.state).to.equal('ready');
  });

  it('asks for an editor without the protocol, too, and closes it when refused', async () => {
    const server = await protocolServer(
      null,
      { path: '/token', times: 2, json: { token: 'first', expires_in: 900 } },
      { path: '/token', status: 401 },
    );
    const clock = fakeClock();
    const element = mount(server);
    const events = recordEvents(element);
    await untilState(element, 'ready');
    await clock.advance(60_000);
    returnFromCache();
    await server.requests({ path: '/token', count: 2 });
    expect(await countTokenRequests(element, server)).to.equal(2);
    expect(element.state).to.equal('ready');
    // The event is about the token that the editor was opened with.
    await clock.advance(660_000);
    expect(+(named(events, 'expiring')[0]?.['expiresAt'] as Date) - Date.now()).to.be.within(
      179_000,
      180_000,
    );
    const idle = new Promise((resolve) =>
      element.addEventListener('plugin-editor-state', resolve, { once: true }),
    );
    returnFromCache();
    await idle;
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(frames(element)).to.have.length(0);
  });
});
