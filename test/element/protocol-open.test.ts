import { expect, oneEvent } from '@open-wc/testing';

import {
  untilChangeTo,
  create,
  untilError,
  flush,
  frameOf,
  frames,
  untilState,
  part,
  place,
  requestCounts,
} from './plugin-editor-setup.ts';
import { openPage } from './plugin-editor-page.ts';
import {
  apply,
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

const CAN_OPEN = { capabilities: ['open', 'whatever'] };

describe('an editor with the capability open', () => {
  async function openEditor(changes = {}) {
    const server = await protocolServer(CAN_OPEN);
    const received = recordMessages();
    const element = mountWithMessages(server, changes);
    const events = recordEvents(element);
    await untilState(element, 'ready');
    const frame = frameOf(element);
    return { server, received, element, events, frame, window: frame.contentWindow };
  }

  for (const delivery of ['message', 'url']) {
    it(`gets another plugin by message, in a new session with a new token (${delivery} delivery)`, async () => {
      const { server, received, element, events, frame, window } = await openEditor({
        'token-delivery': delivery,
      });
      const first = received.session();
      apply(element, { fn: 'g', ident: 'com.example.other', namespace: 'n' });
      await untilChangeTo(element, 'ready');
      expect(received.of('open')).to.have.length(2);
      expect(received.of('open')[1]).to.include({
        fn: 'g',
        ident: 'com.example.other',
        namespace: 'n',
        token: 'token-2',
        builder: server.url(),
      });
      expect(received.session()).not.to.equal(first);
      expect(frameOf(element)).to.equal(frame);
      expect(frame.contentWindow).to.equal(window);
      expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 1 });
      expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([true, true]);
    });
  }

  it('gets another template and another builder with the same token', async () => {
    const { server, received, element, frame } = await openEditor();
    for (const change of [{ template: 'javascript' }, { builder: 'https://other.example' }]) {
      apply(element, change);
      await untilChangeTo(element, 'ready');
      expect(received.of('open').at(-1)).to.include({ ...change, token: 'token-1' });
      expect(frameOf(element)).to.equal(frame);
      expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    }
    expect(received.of('open')).to.have.length(3);
  });

  it('reloads for another editor-url, with the same token', async () => {
    const { server, received, element, frame } = await openEditor();
    apply(element, { 'editor-url': server.url('/editor?2') });
    await untilChangeTo(element, 'ready');
    expect(frameOf(element)).not.to.equal(frame);
    expect(received.of('open')[1]).to.include({ token: 'token-1', page: server.url('/editor?2') });
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 2 });
  });

  it('is ignored about the previous plugin once that changes', async () => {
    const { received, element, events, server } = await openEditor();
    const session = received.session();
    const late = [
      { type: 'ready' },
      { type: 'error', message: 'late' },
      { type: 'dirty', dirty: true },
      { type: 'save' },
      { type: 'build', succeeded: true, outputLog: '' },
      { type: 'test' },
      { type: 'deploy', version: 'v1' },
      { type: 'token-request', reason: 'expired' },
    ];
    const before = events.length;
    await server.reset(
      { path: '/token', delay: 'hang', json: { token: 'next' } },
      { path: '/ping', body: '' },
    );
    element.fn = 'g';
    await element.updateComplete;
    // They are ignored during the token request, when there is no session, …
    for (const message of late) sendFromEditor(element, received, { ...message, session });
    await flushMessages(element);
    expect(element.state).to.equal('loading');
    await server.release('/token');
    await untilState(element, 'ready');
    // … and in the next session.
    for (const message of late) sendFromEditor(element, received, { ...message, session });
    await flushMessages(element);
    await flush(element, server);
    expect(events.slice(before).map(({ type }) => type)).to.deep.equal(['plugin-editor-ready']);
    expect(element.dirty).to.equal(false);
    expect((await requestCounts(server))['/token']).to.equal(2);
  });

  it('can fail to open the next plugin', async () => {
    const { received, element, server } = await openEditor();
    evaluateIn(frameOf(element).contentWindow, `send = () => {}`);
    element.fn = 'g';
    await received.until('open', 2);
    evaluateIn(
      frameOf(element).contentWindow,
      `parent.postMessage({ ...all, type: 'error', session: '${received.session()}', message: 'gone' }, '*')`,
    );
    expect((await untilError(element)).code).to.equal('editor');
    await server.requests({ path: '/token', count: 2 });
  });

  it('is shown again by reload() after a token request failed', async () => {
    const { element, server, received } = await openEditor();
    await server.reset(
      { path: '/token', times: 1, status: 403 },
      { path: '/token', json: { token: 'again' } },
      {
        path: '/editor*',
        html: protocolPage({ hello: CAN_OPEN }),
      },
    );
    element.fn = 'g';
    expect((await untilError(element)).code).to.equal('token-unauthorized');
    await element.reload();
    expect(received.of('open').at(-1)).to.include({ fn: 'g', token: 'again' });
  });
});

describe('an editor without the capability open', () => {
  for (const hello of [{}, { capabilities: ['close'] }]) {
    it(`reloads for another plugin after ${JSON.stringify(hello)}`, async () => {
      const server = await protocolServer(hello);
      const received = recordMessages();
      const element = mountWithMessages(server);
      await untilState(element, 'ready');
      const frame = frameOf(element);
      element.fn = 'g';
      await untilChangeTo(element, 'ready');
      expect(frameOf(element)).not.to.equal(frame);
      expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
      expect(received.of('open').map(({ fn, token }) => [fn, token])).to.deep.equal([
        ['add-record', 'token-1'],
        ['g', 'token-2'],
      ]);
    });
  }

  it('keeps its frame when the plugin changes before the first open', async () => {
    const server = await protocolServer(
      {},
      { path: '/token', times: 1, delay: 'hang', json: { token: 'never' } },
    );
    const received = recordMessages();
    const element = mountWithMessages(server);
    await server.requests({ path: '/token', count: 1 });
    const frame = frameOf(element);
    element.fn = 'g';
    await untilState(element, 'ready');
    expect(frameOf(element)).to.equal(frame);
    expect(received.of('open').map(({ fn, token }) => [fn, token])).to.deep.equal([['g', 'token-1']]);
    await server.aborted({ path: '/token' });
  });
});

describe('preload', () => {
  const IDLE = { preload: true, fn: null, 'token-delivery': 'message' };

  it('loads the frame while idle, and opens with one token request and one message', async () => {
    const server = await protocolServer({});
    const received = recordMessages();
    const element = mountWithMessages(server, IDLE);
    const events = recordEvents(element);
    await element.updateComplete;
    const frame = frameOf(element);
    await oneEvent(frame, 'load');
    await flushMessages(element);
    expect(element.state).to.equal('idle');
    expect(received.messages).to.have.length(0);
    expect(getComputedStyle(frame).visibility).to.equal('hidden');
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1 });
    element.fn = 'add-record';
    await untilState(element, 'ready');
    expect(frameOf(element)).to.equal(frame);
    expect(getComputedStyle(frame).visibility).to.equal('visible');
    expect(received.messages.map(({ type }) => type)).to.deep.equal(['open']);
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1, '/token': 1 });
    expect(named(events, 'ready')).to.have.length(1);
  });

  it('requires only editor-url, and follows it', async () => {
    const server = await protocolServer({});
    const element = mountWithMessages(server, {
      ...IDLE,
      ident: null,
      builder: null,
      'token-endpoint': null,
    });
    await server.requests({ path: '/editor', count: 1 });
    apply(element, { 'editor-url': server.url('/editor?2') });
    await element.updateComplete;
    expect(frameOf(element).src).to.equal(server.url('/editor?2'));
    apply(element, { 'editor-url': 'ftp://x' });
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
    expect(element.state).to.equal('idle');
    apply(element, { 'editor-url': server.url('/editor') });
    await element.updateComplete;
    expect(frames(element)).to.have.length(1);
    apply(element, { preload: false });
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
  });

  it('does nothing with url delivery, or when it is off', async () => {
    const server = await protocolServer({});
    for (const changes of [{ 'token-delivery': 'url' }, { preload: false }]) {
      const element = mountWithMessages(server, { ...IDLE, ...changes });
      await flush(element, server);
      expect(frames(element)).to.have.length(0);
    }
    expect(await requestCounts(server)).to.deep.equal({});
  });

  it('has no time limit while idle, and the usual one from the opening on', async () => {
    const server = await protocolServer(null);
    const element = mountWithMessages(server, { ...IDLE, timeout: '300' });
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await flush(element, server);
    expect(element.state).to.equal('idle');
    element.fn = 'f';
    expect((await untilError(element)).code).to.equal('frame-timeout');
  });

  it('waits for the viewport when lazy, in any case of the keywords', async () => {
    const server = await protocolServer({});
    const element = create(server, {
      ...IDLE,
      loading: 'LAZY',
      'token-delivery': 'MESSAGE',
      style: 'position: absolute; top: 5000px',
    });
    place().append(element);
    await flush(element, server);
    expect(frames(element)).to.have.length(0);
    element.style.top = '0';
    await server.requests({ path: '/editor', count: 1 });
    expect(element.state).to.equal('idle');
    element.fn = 'f';
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1, '/token': 1 });
  });

  it('removes its frame with the element', async () => {
    const server = await protocolServer({});
    const element = mountWithMessages(server, IDLE);
    await server.requests({ path: '/editor', count: 1 });
    element.remove();
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
  });

  it('causes no error before the opening when the page forbids the frame', async () => {
    const server = await protocolServer({});
    const page = await openPage(server, { headers: { 'content-security-policy': "frame-src 'none'" } });
    const element = create(server, IDLE, page.contentDocument);
    const violated = new Promise((resolve) =>
      page.contentDocument.addEventListener('securitypolicyviolation', resolve, { once: true }),
    );
    page.contentDocument.body.append(element);
    await violated;
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(frames(element)).to.have.length(0);
    element.fn = 'f';
    expect((await untilError(element)).code).to.equal('frame-blocked');
    expect(part(element, 'error')).not.to.equal(null);
  });
});
