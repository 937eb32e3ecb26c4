import { expect, oneEvent } from '@open-wc/testing';
import { fakeClock } from './fake-clock.ts';
import {
  apply,
  EDITOR_PAGE,
  mount,
  untilChangeTo,
  untilError,
  flush,
  frameOf,
  untilState,
  part,
  place,
  requestCounts,
} from './plugin-editor-setup.ts';
import {
  CHANNEL,
  evaluateIn,
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
  sendFromEditor,
  protocolPage,
  protocolServer,
} from './protocol-setup.ts';

describe('message delivery', () => {
  it('requests frame and token in the same task', async () => {
    const server = await protocolServer(
      {},
      { path: '/token', delay: 'hang', json: { token: 't' } },
      { path: '/editor', delay: 'hang' },
    );
    const element = mountWithMessages(server);
    await element.updateComplete;
    expect(frameOf(element).src).to.equal(server.url('/editor'));
    await Promise.all([
      server.requests({ path: '/token', count: 1 }),
      server.requests({ path: '/editor', count: 1 }),
    ]);
  });

  it('sends open with all fields, and is ready when the editor is', async () => {
    const server = await protocolServer({}, { path: '/token', json: { token: 't-1', expires_in: 600 } });
    const received = recordMessages();
    const before = Date.now();
    const element = mountWithMessages(server, { namespace: 'forms', template: 'typescript' });
    const events = recordEvents(element);
    await untilState(element, 'ready');
    const after = Date.now();
    const { session, expiresAt, appearance, from, page, by, ...open } = (await received.until(
      'open',
    )) as never as Record<string, string>;
    expect(appearance).to.deep.equal({ colorScheme: 'light' });
    expect(open).to.deep.equal({
      ...CHANNEL,
      type: 'open',
      builder: server.url(),
      ident: 'com.example.tenant-1',
      namespace: 'forms',
      fn: 'add-record',
      template: 'typescript',
      token: 't-1',
    });
    expect(session).to.match(/.{16,}/);
    expect(new Date(expiresAt as string).toISOString()).to.equal(expiresAt);
    expect(Date.parse(expiresAt as string)).to.be.within(before + 600_000, after + 600_000);
    expect(from).to.equal(location.origin);
    expect(page).to.equal(server.url('/editor'));
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([true]);
    expect(frameOf(element).src).not.to.include('t-1');
    expect(by).to.equal(frameOf(element).contentWindow);
  });

  it('leaves out what is unset or unknown', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    mountWithMessages(server);
    const names = 'channel version type session builder ident namespace fn token appearance from page by';
    expect(Object.keys(await received.until('open'))).to.have.members(names.split(' '));
    expect((await received.until('open'))['namespace']).to.equal('default');
  });

  it('accepts an expiry that no date can hold', async () => {
    const server = await protocolServer({}, { path: '/token', json: { token: 't', expires_in: 1e300 } });
    const received = recordMessages();
    await untilState(mountWithMessages(server), 'ready');
    expect(received.of('open')[0]).not.to.have.property('expiresAt');
  });

  it('waits for the token when the editor greets first', async () => {
    const server = await protocolServer({}, { path: '/token', delay: 'hang', json: { token: 'late' } });
    const received = recordMessages();
    const element = mountWithMessages(server);
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await flushMessages(element);
    expect(received.messages).to.have.length(0);
    expect(element.state).to.equal('loading');
    await server.release('/token');
    await untilState(element, 'ready');
    expect(received.of('open').map(({ token }) => token)).to.deep.equal(['late']);
  });

  it('waits for the greeting when the token comes first', async () => {
    const server = await protocolServer({}, { path: '/editor', delay: 'hang', html: protocolPage() });
    const received = recordMessages();
    const element = mountWithMessages(server);
    await server.requests({ path: '/token', count: 1 });
    await flush(element, server);
    await server.release('/editor');
    await untilState(element, 'ready');
    expect(received.of('open')).to.have.length(1);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('is not ready by load alone, nor by a message of another session', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server, { 'editor-url': server.url('/editor?mute') });
    await received.until('open');
    for (const session of [undefined, '', 'x', null, 7])
      sendFromEditor(element, received, { type: 'ready', session });
    await flushMessages(element);
    expect(element.state).to.equal('loading');
    sendFromEditor(element, received, { type: 'ready' });
    await untilState(element, 'ready');
  });

  it('answers the greeting of every load of the frame in a new session', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server);
    const events = recordEvents(element);
    await untilState(element, 'ready');
    const first = received.session();
    evaluateIn(
      frameOf(element).contentWindow,
      `location.href = ${JSON.stringify(server.url('/editor?page=2'))}`,
    );
    await received.until('open', 2);
    expect(received.messages.at(-1)).to.include({ page: server.url('/editor?page=2'), token: 'token-1' });
    expect(received.session()).not.to.equal(first);
    sendFromEditor(element, received, { type: 'dirty', dirty: true, session: first });
    await flushMessages(element);
    expect(element.dirty).to.equal(false);
    sendFromEditor(element, received, { type: 'dirty', dirty: true });
    await flushMessages(element);
    expect(element.dirty).to.equal(true);
    evaluateIn(frameOf(element).contentWindow, 'location.reload()');
    await received.until('open', 3);
    // The unsaved work of the previous page is gone.
    expect(element.dirty).to.equal(false);
    expect(element.state).to.equal('ready');
    await received.until('open', 3);
    await flushMessages(element);
    // The event comes once for each open.
    expect(named(events, 'ready')).to.have.length(3);
    expect(await requestCounts(server)).to.include({ '/token': 1 });
  });

  it('ends in the error of an editor that cannot open the plugin, with its token redacted', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server, { 'editor-url': server.url('/editor?mute') });
    await received.until('open');
    sendFromEditor(element, received, {
      type: 'error',
      message: 'No such plugin for token-1, says /token-1.',
    });
    const error = await untilError(element);
    expect(error.code).to.equal('editor');
    expect(error.message).to.equal('The editor cannot open the plugin: No such plugin for …, says /….');
    expect(element.shadowRoot?.querySelector('iframe')).to.equal(null);
  });

  it('keeps every token that the editor got out of events and errors', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server);
    const events = recordEvents(element);
    await untilState(element, 'ready');
    await element.renewToken();
    await received.until('token');
    const both = 'not token-1, nor token-2';
    sendFromEditor(element, received, { type: 'build', succeeded: false, outputLog: both });
    sendFromEditor(element, received, { type: 'test', name: both, error: { code: 'c', deep: [both] } });
    await flushMessages(element);
    expect(named(events, 'build')[0]).to.include({ outputLog: 'not …, nor …' });
    expect(named(events, 'test')[0]).to.deep.include({
      name: 'not …, nor …',
      error: { code: 'c', deep: ['not …, nor …'] },
    });
    sendFromEditor(element, received, { type: 'error', message: both });
    expect((await untilError(element)).message).to.equal('The editor cannot open the plugin: not …, nor …');
  });

  it('has a time limit for an editor that does not greet, and names what to change', async () => {
    const clock = fakeClock();
    const server = await protocolServer(null);
    const element = mountWithMessages(server, { timeout: '4000' });
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await flush(element, server);
    await clock.advance(3999);
    expect(element.state).to.equal('loading');
    await clock.advance(1);
    const error = await untilError(element);
    expect(error.code).to.equal('frame-timeout');
    expect(error.message)
      .to.match(/4000 ms.*did not greet.*token-delivery/)
      .and.include(server.origin);
  });

  for (const headers of [
    { 'content-security-policy': "frame-ancestors 'self' https://app.example" },
    { 'x-frame-options': 'DENY' },
  ]) {
    it(`says after the time limit what may forbid the frame: ${Object.keys(headers).join()}`, async () => {
      const clock = fakeClock();
      const server = await protocolServer({}, { path: '/editor', html: protocolPage(), headers });
      const element = mountWithMessages(server);
      const seen = recordEvents(element);
      await element.updateComplete;
      await server.requests({ path: '/editor', count: 1 });
      await flush(element, server);
      await clock.advance(15_000);
      const error = await untilError(element);
      expect(error.code).to.equal('frame-timeout');
      expect(error.message).to.contain(`EDITOR_ANCESTORS may not name ${location.origin}`);
      expect(seen.map(({ type }) => type)).to.deep.equal(['plugin-editor-error']);
      expect(part(element, 'error')?.textContent).to.contain('did not load in time');
      expect(part(element, 'retry')).not.to.equal(null);
    });
  }

  it('has a time limit for an editor that greets and is never ready', async () => {
    const clock = fakeClock();
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server, { 'editor-url': server.url('/editor?mute'), timeout: '4000' });
    await received.until('open');
    await clock.advance(4000);
    const error = await untilError(element);
    expect(error.code).to.equal('frame-timeout');
    expect(error.message).to.match(/4000 ms.*greeted but did not say ready.*timeout/);
    expect(error.message).not.to.match(/token-delivery/);
  });

  it('gives an editor its whole time limit from a late token on', async () => {
    const clock = fakeClock();
    const server = await protocolServer({}, { path: '/token', delay: 'hang', json: { token: 'late' } });
    const received = recordMessages();
    const element = mountWithMessages(server, { 'editor-url': server.url('/editor?mute'), timeout: '4000' });
    element.fetchToken = () =>
      new Promise((resolve) => addEventListener('now', () => resolve('t'), { once: true }));
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await flushMessages(element);
    // The token request has the same time limit, but only that of the frame is to end here.
    await clock.advance(3990);
    dispatchEvent(new Event('now'));
    await received.until('open');
    await clock.advance(3990);
    expect(element.state).to.equal('loading');
    sendFromEditor(element, received, { type: 'ready' });
    await untilState(element, 'ready');
    expect(clock.waits).to.deep.equal([]);
  });

  it('does not blame the frame for a slow token', async () => {
    const clock = fakeClock();
    const server = await protocolServer(
      {},
      { path: '/token', times: 1, status: 503, headers: { 'retry-after': '9' } },
    );
    const element = mountWithMessages(server, { timeout: '4000' });
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await flushMessages(element);
    while (!clock.waits.includes(9000)) await flush(element, server);
    await clock.advance(8999);
    expect(element.state).to.equal('loading');
    await clock.advance(1);
    await untilState(element, 'ready');
    expect((await requestCounts(server))['/token']).to.equal(2);
  });

  it('uses the pending token for a frame of another editor', async () => {
    const server = await protocolServer({}, { path: '/token', delay: 'hang', json: { token: 't' } });
    const received = recordMessages();
    const element = mountWithMessages(server);
    await server.requests({ path: '/token', count: 1 });
    apply(element, { 'editor-url': server.url('/editor?2') });
    await element.updateComplete;
    expect(frameOf(element).src).to.equal(server.url('/editor?2'));
    await server.release('/token');
    await untilState(element, 'ready');
    expect(received.of('open')).to.have.length(1);
    expect((await requestCounts(server))['/token']).to.equal(1);
  });

  for (const [from, to] of [
    ['url', 'message'],
    ['message', 'url'],
  ] as const) {
    it(`delivers a token by ${to} when changed from ${from} while it was requested`, async () => {
      const server = await protocolServer(null, { path: '/token', delay: 'hang', json: { token: 'secret' } });
      await server.on({ path: '/speaks', html: protocolPage() });
      const element = mountWithMessages(server, {
        'editor-url': server.url('/speaks'),
        'token-delivery': from,
      });
      const missing = await server.requests({ path: '/token', count: 1 });
      expect(missing).to.have.length(1);
      apply(element, { 'token-delivery': to });
      await element.updateComplete;
      await server.release('/token');
      await untilState(element, 'ready');
      const { src } = frameOf(element);
      expect(src.includes('secret')).to.equal(to === 'url');
      expect((await requestCounts(server))['/token']).to.equal(1);
    });
  }

  it('opens the editor again in a frame that a move reloaded', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    const to = place() as HTMLElement & { moveBefore?: (node: Node, child: null) => void };
    if (to.moveBefore) to.moveBefore(element, null);
    else to.append(element);
    await untilState(element, 'ready');
    // The browser either keeps the page, or reloads it so that it greets again.
    await Promise.race([flushMessages(element), received.until('open', 2)]);
    sendFromEditor(element, received, { type: 'dirty', dirty: true });
    await oneEvent(element, 'plugin-editor-dirty');
    expect(element.dirty).to.equal(true);
  });
});

describe('url delivery', () => {
  it('answers an editor that greets, and is ready when the editor is', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mount(server, { 'editor-url': server.url('/editor?mute') });
    const events = recordEvents(element);
    await received.until('open');
    expect(received.messages[0]).to.include({ token: 'token-1', fn: 'add-record' });
    expect(frameOf(element).src).to.include('token=token-1');
    // The page greeted before it had loaded, so its load does not count.
    await flushMessages(element);
    await flush(element, server);
    expect(element.state).to.equal('loading');
    sendFromEditor(element, received, { type: 'ready' });
    await untilState(element, 'ready');
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([true]);
  });

  it('is ready by the load of a silent page, and once more when that reports it later', async () => {
    const server = await protocolServer(null);
    const received = recordMessages();
    const element = mount(server);
    const events = recordEvents(element);
    await untilChangeTo(element, 'ready');
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([false]);
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`);
    await received.until('open');
    await oneEvent(element, 'plugin-editor-ready');
    sendFromEditor(element, received, { type: 'ready' });
    await flushMessages(element);
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([false, true]);
    expect(element.state).to.equal('ready');
  });

  it('sends nothing to a page that has not greeted', async () => {
    const server = await protocolServer(null);
    const received = recordMessages();
    const element = mount(server);
    await untilState(element, 'ready');
    await flushMessages(element);
    expect(received.messages).to.have.length(0);
    expect(EDITOR_PAGE).not.to.include('script');
  });
});
