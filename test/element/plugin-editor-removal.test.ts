import { expect } from '@open-wc/testing';

import {
  create,
  editorServer,
  eventsOf,
  untilError,
  flush,
  frameOf,
  frames,
  untilState,
  mount,
  part,
  place,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';
import { NOTHING, left, watchTraces } from './plugin-editor-traces.ts';

describe('removing <plugin-editor>', () => {
  it('aborts a token request, and leaves nothing behind', async () => {
    const traces = watchTraces();
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    expect(left(traces)).to.deep.equal({ timers: 1, listeners: 0, observers: 0 });
    element.remove();
    expect(element.state).to.equal('idle');
    await server.aborted({ path: '/token' });
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
    expect(frames(element)).to.have.length(0);
  });

  it('cancels the retry of a token request', async () => {
    const traces = watchTraces();
    const server = await editorServer({ path: '/token', status: 503, headers: { 'retry-after': '20' } });
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    // The response has arrived when the delay begins.
    await new Promise<void>((resolve) => {
      const look = () =>
        [...traces.timers.values()].includes(20_000) ? resolve() : requestAnimationFrame(look);
      look();
    });
    element.remove();
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
  });

  it('removes a loading frame with its timer and listener', async () => {
    const traces = watchTraces();
    const server = await editorServer({ path: '/editor', delay: 'hang' });
    const element = mount(server);
    await server.requests({ path: '/editor', count: 1 });
    const { timers, listeners } = left(traces);
    expect(timers).to.equal(1);
    expect(listeners).to.be.greaterThan(0);
    element.remove();
    await server.aborted({ path: '/editor' });
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
    expect(frames(element)).to.have.length(0);
  });

  it('leaves nothing of a frame that loaded twice within a task', async () => {
    const traces = watchTraces();
    const { element } = await mountReady();
    for (let i = 0; i < 2; i++) frameOf(element).dispatchEvent(new Event('load'));
    element.remove();
    expect(left(traces)).to.deep.equal(NOTHING);
  });

  it('removes a running frame', async () => {
    const traces = watchTraces();
    const { element } = await mountReady();
    expect(left(traces)['timers']).to.equal(0);
    const frame = frameOf(element);
    element.remove();
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
    expect(traces.ever.timers).to.be.greaterThan(1);
    expect(traces.ever.listeners).to.be.greaterThan(0);
    expect(frame.getRootNode()).to.equal(frame);
    expect(element.error).to.equal(undefined);
  });

  it('stops waiting for the viewport', async () => {
    const traces = watchTraces();
    const server = await editorServer();
    const element = create(server, { loading: 'lazy', style: 'position: absolute; top: 5000px' });
    place().append(element);
    await element.updateComplete;
    expect(left(traces)).to.deep.equal({ timers: 0, listeners: 0, observers: 1 });
    element.remove();
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
    await flush(element, server);
    expect(await requestCounts(server)).to.deep.equal({});
  });

  it('leaves nothing after an error, nor does the error itself', async () => {
    const traces = watchTraces();
    const server = await editorServer({ path: '/token', status: 403 });
    const element = mount(server);
    await untilError(element);
    expect(left(traces)).to.deep.equal(NOTHING);
    element.remove();
    await element.updateComplete;
    expect(element.state).to.equal('idle');
    expect(part(element, 'error')).to.equal(null);
  });

  it('leaves one frame and one listener after many frames', async () => {
    const traces = watchTraces();
    const { element } = await mountReady();
    const { listeners } = left(traces);
    for (let i = 0; i < 5; i++) await element.reload();
    expect(left(traces)).to.deep.equal({ timers: 0, listeners, observers: 0 });
    expect(frames(element)).to.have.length(1);
  });
});

describe('inserting <plugin-editor> again', () => {
  it('starts again with another token', async () => {
    const { server, element } = await mountReady();
    const old = frameOf(element);
    element.remove();
    await element.updateComplete;
    place().append(element);
    await untilState(element, 'ready');
    expect(frameOf(element)).not.to.equal(old);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('applies changes that were made meanwhile', async () => {
    const { server, element } = await mountReady();
    element.remove();
    await element.updateComplete;
    element.fn = 'g';
    await flush(element, server);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    place().append(element);
    await untilState(element, 'ready');
    const [, second] = await server.requests({ path: '/editor' });
    expect(second?.query['fn']).to.equal('g');
  });

  it("makes one request and one frame within a task, as in React's StrictMode", async () => {
    const server = await editorServer();
    const element = create(server);
    const parent = place();
    parent.append(element);
    element.remove();
    parent.append(element);
    await untilState(element, 'ready');
    await flush(element, server);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    expect(frames(element)).to.have.length(1);
  });

  it('leaves one token request that is used when it was loading', async () => {
    const server = await editorServer({ path: '/token', times: 1, delay: 'hang' });
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    const events = eventsOf(element);
    const parent = place();
    element.remove();
    parent.append(element);
    await untilState(element, 'ready');
    await server.aborted({ path: '/token' });
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 1 });
    expect(frames(element)).to.have.length(1);
    expect(events.filter(({ type }) => type === 'plugin-editor-ready')).to.have.length(1);
  });

  it('leaves one frame within a task when it was ready', async () => {
    const { server, element } = await mountReady();
    const parent = place();
    element.remove();
    parent.append(element);
    await untilState(element, 'ready');
    expect(frames(element)).to.have.length(1);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });
});
