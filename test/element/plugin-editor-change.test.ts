import { expect } from '@open-wc/testing';

import { until } from '../support/until.ts';
import { fakeClock } from './fake-clock.ts';
import { watchConsole } from './plugin-editor-leaks.ts';
import {
  type Changes,
  SECRET,
  apply,
  untilChangeTo,
  create,
  editorServer,
  eventsOf,
  untilError,
  flush,
  frameOf,
  frames,
  untilState,
  mount,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';

/** Changes of the plugin, and what the next request contains. */
const others: [Changes, says: string][] = [
  [{ ident: 'com.example.b' }, '"ident":"com.example.b"'],
  [{ namespace: 'n' }, '"namespace":"n"'],
  [{ fn: 'g' }, '"fn":"g"'],
];

describe('<plugin-editor> when ident, namespace or fn changes', () => {
  for (const [changes, description] of others) {
    const name = Object.keys(changes)[0] as string;

    it(`aborts a pending request when ${name} changes, and never uses its response`, async () => {
      const server = await editorServer({
        path: '/token',
        times: 1,
        delay: 'hang',
        json: { token: 'late' },
      });
      const element = mount(server);
      const events = eventsOf(element);
      await server.requests({ path: '/token', count: 1 });
      apply(element, changes);
      await untilState(element, 'ready');
      expect(await server.aborted({ path: '/token' })).to.have.length(1);
      const requests = await server.requests({ path: '/token' });
      expect(requests).to.have.length(2);
      expect(requests[1]?.body).to.contain(description);
      const editors = await server.requests({ path: '/editor' });
      expect(editors.map(({ query }) => query['token'])).to.deep.equal([SECRET]);
      expect(events.map((event) => event['state'] ?? event.type)).to.deep.equal([
        'loading',
        'ready',
        'plugin-editor-ready',
      ]);
    });

    it(`replaces a running editor when ${name} changes, with a new token`, async () => {
      const { server, element } = await mountReady();
      const old = frameOf(element);
      apply(element, changes);
      await untilChangeTo(element, 'loading');
      expect(old.isConnected).to.equal(false);
      await untilState(element, 'ready');
      expect(frameOf(element)).not.to.equal(old);
      expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
    });
  }

  it('makes one request for several changes at once', async () => {
    const { server, element } = await mountReady();
    apply(element, {
      ident: 'com.example.b',
      namespace: 'n',
      fn: 'g',
      template: 't',
      builder: server.url('/b'),
    });
    await untilChangeTo(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('does nothing when a change is undone before the next update', async () => {
    const { server, element } = await mountReady();
    const frame = frameOf(element);
    apply(element, { fn: 'g' });
    apply(element, { fn: 'add-record', namespace: '' });
    await flush(element, server);
    expect(frameOf(element)).to.equal(frame);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('replaces a frame that is still loading, and ignores its late load', async () => {
    const server = await editorServer({ path: '/editor', times: 1, delay: 'hang', html: 'old' });
    const element = mount(server);
    await server.requests({ path: '/editor', count: 1 });
    const events = eventsOf(element);
    element.fn = 'g';
    await untilState(element, 'ready');
    await server.aborted({ path: '/editor' });
    expect(events.map(({ type }) => type)).to.deep.equal(['plugin-editor-state', 'plugin-editor-ready']);
  });

  it('requests no more for the previous plugin while it waits for a retry', async () => {
    const server = await editorServer({
      path: '/token',
      times: 1,
      status: 503,
      headers: { 'retry-after': '30' },
    });
    const clock = fakeClock();
    const element = mount(server);
    await until('the wait for a retry', () => clock.waits.includes(30_000));
    element.fn = 'g';
    await untilState(element, 'ready');
    await clock.advance(30_000);
    await flush(element, server);
    const requests = await server.requests({ path: '/token' });
    expect(requests.map(({ body }) => /"fn":"(.*)"/.exec(body)?.[1])).to.deep.equal(['add-record', 'g']);
  });
});

describe('<plugin-editor> when token-endpoint changes', () => {
  it('aborts a pending request and requests the new endpoint', async () => {
    const server = await editorServer(
      { path: '/token', delay: 'hang' },
      { path: '/other', json: { token: 'other' } },
    );
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    element.tokenEndpoint = server.sameOrigin.url('/other');
    await untilState(element, 'ready');
    await server.aborted({ path: '/token' });
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.query['token']).to.equal('other');
  });

  it('replaces a running editor', async () => {
    const { server, element } = await mountReady({}, { path: '/other', json: { token: 'other' } });
    element.tokenEndpoint = server.sameOrigin.url('/other');
    await untilChangeTo(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/other': 1, '/editor': 2 });
  });
});

describe('<plugin-editor> when template, builder or editor-url changes', () => {
  const parameter = {
    template: 'template',
    builder: 'builder',
    'editor-url': 'theme',
  };
  const valuesAt = (url: (path: string) => string) => ({
    template: 'typescript',
    builder: url('/b2'),
    'editor-url': url('/editor?theme=x'),
  });

  it('remakes the frame with the same token', async () => {
    const { server, element } = await mountReady(
      {},
      { path: '/token', json: { token: SECRET, expires_in: 3600 } },
    );
    for (const [name, value] of Object.entries(valuesAt(server.url))) {
      const old = frameOf(element);
      apply(element, { [name]: value });
      await untilChangeTo(element, 'ready');
      expect(frameOf(element), name).not.to.equal(old);
      expect(old.isConnected, name).to.equal(false);
      const [before, after] = (await server.requests({ path: '/editor' })).slice(-2);
      expect(after?.query['token'], name).to.equal(SECRET);
      const query = parameter[name as keyof typeof parameter];
      expect(after?.query[query], name).not.to.equal(before?.query[query]);
    }
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 4 });
  });

  it('requests a new token when the token has ended', async () => {
    const { server, element } = await mountReady(
      {},
      { path: '/token', times: 2, json: { token: 'ended', expires_in: 0 } },
      { path: '/token', times: 1, json: { token: 'ended, too', expires_in: 0 } },
      { path: '/token', json: { token: 'fresh', expires_in: 3600 } },
    );
    for (const [name, value] of Object.entries(valuesAt(server.url))) {
      apply(element, { [name]: value });
      await untilChangeTo(element, 'ready');
    }
    const editors = await server.requests({ path: '/editor' });
    expect(editors.map(({ query: { token } }) => token)).to.deep.equal([
      'ended',
      'ended',
      'ended, too',
      'fresh',
    ]);
  });

  it('waits for a pending token request, and uses its token', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang', json: { token: SECRET } });
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    for (const [name, value] of Object.entries(valuesAt(server.url))) {
      apply(element, { [name]: value });
      await element.updateComplete;
    }
    await server.release('/token');
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    const [editor] = await server.requests({ path: '/editor' });
    expect(editor?.query).to.include({
      template: 'typescript',
      builder: server.url('/b2'),
      theme: 'x',
      token: SECRET,
    });
  });

  it('keeps the token after the frame timed out', async () => {
    const server = await editorServer({ path: '/slow', delay: 'hang' });
    const clock = fakeClock();
    const element = mount(server, { 'editor-url': server.url('/slow'), timeout: 1500 });
    await server.requests({ path: '/slow', count: 1 });
    await clock.advance(1500);
    expect((await untilError(element)).code).to.equal('frame-timeout');
    apply(element, { 'editor-url': server.url('/editor'), timeout: '15000' });
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/slow': 1, '/editor': 1 });
  });
});

describe('<plugin-editor> when another attribute or property changes', () => {
  const changes: Changes = {
    label: 'Another',
    strings: { loading: 'Lädt …' },
    fetchToken: async () => 'of-function',
    tokenHeaders: { 'x-csrf': 'c2' },
    style: '--plugin-editor-height: 20rem',
    class: 'dark',
    hidden: true,
    timeout: '59000',
    'token-method': 'get',
    credentials: 'omit',
    loading: 'lazy',
    sandbox: 'none',
  };

  it('keeps a running editor', async () => {
    const { server, element } = await mountReady();
    const frame = frameOf(element);
    const { contentWindow } = frame;
    const events = eventsOf(element);
    for (const [name, value] of Object.entries(changes)) {
      apply(element, { [name]: value });
      await flush(element, server);
      expect(frameOf(element), name).to.equal(frame);
      expect(frame.contentWindow, name).to.equal(contentWindow);
      expect(events, name).to.have.length(0);
      expect(await requestCounts(server), name).to.deep.equal({ '/token': 1, '/editor': 1 });
    }
  });

  it('continues a pending request', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang', json: { token: SECRET } });
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    for (const [name, value] of Object.entries(changes)) {
      apply(element, { [name]: value });
      await element.updateComplete;
    }
    await server.release('/token');
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('uses the new function and the new headers for the next request', async () => {
    const { server, element } = await mountReady({ tokenHeaders: { 'x-csrf': 'c1' } });
    element.tokenHeaders = () => ({ 'x-csrf': 'c2' });
    await element.reload();
    expect((await server.requests({ path: '/token' })).map(({ headers }) => headers['x-csrf'])).to.deep.equal(
      ['c1', 'c2'],
    );
    element.fetchToken = async () => 'first';
    element.fetchToken = async () => 'second';
    await element.reload();
    const editors = await server.requests({ path: '/editor' });
    expect(editors.at(-1)?.query['token']).to.equal('second');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 3 });
  });

  it('keeps a running editor when fetchToken is removed, and uses token-endpoint next', async () => {
    const { server, element } = await mountReady({ fetchToken: async () => 'of-function' });
    const frame = frameOf(element);
    element.fetchToken = undefined;
    await flush(element, server);
    expect(frameOf(element)).to.equal(frame);
    await element.reload();
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 2 });
  });
});

describe('<plugin-editor> with a listener that acts during a change', () => {
  it('follows a change made by the listener', async () => {
    // The development build of Lit warns that this causes another update.
    watchConsole();
    const server = await editorServer();
    const element = create(server);
    element.addEventListener('plugin-editor-state', () => (element.fn = 'second'), { once: true });
    document.body.append(element);
    await untilState(element, 'ready');
    const editors = await server.requests({ path: '/editor' });
    expect(editors.at(-1)?.query['fn']).to.equal('second');
    expect(frames(element)).to.have.length(1);
    element.remove();
  });

  it('closes when the listener calls close()', async () => {
    const server = await editorServer();
    const element = create(server);
    element.addEventListener('plugin-editor-state', () => void element.close(), { once: true });
    document.body.append(element);
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(await requestCounts(server)).to.deep.equal({});
    element.remove();
  });

  it('stops when the listener removes it, and starts again when it is inserted', async () => {
    const server = await editorServer();
    const element = create(server);
    element.addEventListener('plugin-editor-state', () => element.remove(), { once: true });
    document.body.append(element);
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(await requestCounts(server)).to.deep.equal({});
    document.body.append(element);
    await untilState(element, 'ready');
    element.remove();
  });
});
