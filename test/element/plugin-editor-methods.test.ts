import { expect } from '@open-wc/testing';

import { PluginEditorError } from '../../src/index.ts';
import {
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
  mount,
  place,
  rejection,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';

describe('reload()', () => {
  it('requests a new token and frame, and resolves when that is ready', async () => {
    const { server, element } = await mountReady(
      {},
      { path: '/token', times: 1, json: { token: 'first', expires_in: 3600 } },
      { path: '/token', json: { token: 'second' } },
    );
    const old = frameOf(element);
    const events = eventsOf(element);
    const reloading = element.reload();
    // The editor stays until its successor has a token.
    expect(element.state).to.equal('ready');
    expect(old.isConnected).to.equal(true);
    expect(await reloading).to.equal(undefined);
    expect(element.state).to.equal('ready');
    expect(events.flatMap(({ state }) => state ?? [])).to.deep.equal(['loading', 'ready']);
    await element.updateComplete;
    expect(frameOf(element)).not.to.equal(old);
    const editors = await server.requests({ path: '/editor' });
    expect(editors.map(({ query }) => query['token'])).to.deep.equal(['first', 'second']);
  });

  it('rejects with the error of the element', async () => {
    const server = await editorServer({ path: '/token', status: 403 });
    const element = mount(server);
    await untilError(element);
    const error = await rejection(element.reload());
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(error).to.include({ code: 'token-unauthorized', status: 403 });
    expect(element.error).to.equal(error);
  });

  it('rejects with a config error, too', async () => {
    const server = await editorServer();
    const element = mount(server, { ident: 'x' });
    expect(await rejection(element.reload())).to.include({ code: 'config' });
  });

  it('rejects with the names of what is missing', async () => {
    const server = await editorServer();
    const element = mount(server, { ident: null, 'token-endpoint': null });
    const events = eventsOf(element);
    const error = await rejection(element.reload());
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(error.code).to.equal('config');
    for (const name of ['ident', 'token-endpoint']) expect(error.message).to.contain(name);
    for (const name of ['builder', 'editor-url']) expect(error.message).not.to.contain(name);
    expect(element.state).to.equal('idle');
    expect(events).to.have.length(0);
    expect(await requestCounts(server)).to.deep.equal({});
  });

  it('uses attributes that were set just before', async () => {
    const { server, element } = await mountReady();
    element.fn = 'g';
    await element.reload();
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('aborts an earlier call, and both resolve with the later one', async () => {
    const server = await editorServer(
      { path: '/token', times: 1 },
      { path: '/token', times: 1, delay: 'hang' },
    );
    const element = mount(server);
    await untilError(element);
    const first = element.reload();
    await server.requests({ path: '/token', count: 2 });
    const second = element.reload();
    await Promise.all([first, second]);
    await server.aborted({ path: '/token' });
    expect(await requestCounts(server)).to.deep.equal({ '/token': 3, '/editor': 1 });
    expect(frames(element)).to.have.length(1);
  });

  it('resolves when the element is closed or removed meanwhile', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    const first = element.reload();
    await element.close();
    await first;
    const second = element.reload();
    element.remove();
    await second;
    expect(element.state).to.equal('idle');
  });
});

describe('close()', () => {
  it('removes the frame', async () => {
    const { element } = await mountReady();
    expect(await element.close()).to.equal(undefined);
    expect(element.state).to.equal('idle');
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
  });

  it('aborts a token request', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    const events = eventsOf(element);
    await element.close();
    await server.aborted({ path: '/token' });
    expect(element.error).to.equal(undefined);
    expect(events.map((event) => event['state'])).to.deep.equal(['idle']);
  });

  it('clears an error', async () => {
    const server = await editorServer({ path: '/token', status: 403 });
    const element = mount(server);
    await untilError(element);
    await element.close();
    expect(element.state).to.equal('idle');
    expect(element.error).to.equal(undefined);
  });

  it('keeps the element closed until reload(), whatever attributes change', async () => {
    const { server, element } = await mountReady();
    await element.close();
    apply(element, { fn: 'g', ident: 'com.example.b', template: 't', loading: 'lazy' });
    apply(element, { fetchToken: async () => SECRET });
    await element.updateComplete;
    apply(element, { ident: 'wrong' });
    await flush(element, server);
    place().append(element);
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });

    apply(element, { ident: 'com.example.c', fetchToken: undefined });
    await element.reload();
    const requests = await server.requests({ path: '/token' });
    expect(requests.at(-1)?.body).to.equal('{"ident":"com.example.c","namespace":"default","fn":"g"}');
    element.fn = 'h';
    await untilChangeTo(element, 'ready');
  });

  it('forgets the token', async () => {
    const { server, element } = await mountReady(
      {},
      { path: '/token', json: { token: SECRET, expires_in: 3600 } },
    );
    await element.close();
    element.template = 'typescript';
    await element.reload();
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('keeps an element idle that is not in the page yet', async () => {
    const server = await editorServer();
    const element = create(server);
    await element.close();
    place().append(element);
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(await requestCounts(server)).to.deep.equal({});
    await element.reload();
    expect(element.state).to.equal('ready');
  });
});

describe('focus()', () => {
  it('focuses the frame', async () => {
    const { element } = await mountReady();
    element.focus();
    expect(document.activeElement).to.equal(element);
    expect(element.shadowRoot?.activeElement).to.equal(frameOf(element));
  });

  it('does nothing without a frame', async () => {
    const server = await editorServer();
    const element = mount(server, { fn: null });
    element.focus();
    expect(document.activeElement).to.equal(document.body);
  });

  it('does nothing before the element is in a page', () => {
    document.createElement('plugin-editor').focus();
    expect(document.activeElement).to.equal(document.body);
  });
});
