import { expect } from '@open-wc/testing';

import {
  PluginEditorError,
  PluginEditorErrorEvent,
  PluginEditorReadyEvent,
  PluginEditorStateEvent,
} from '../../src/index.ts';
import {
  untilChangeTo,
  create,
  editorServer,
  eventsOf,
  untilError,
  flush,
  frameOf,
  untilState,
  mount,
  part,
  place,
  mountReady,
} from './plugin-editor-setup.ts';

/** Events as short texts. */
const names = (events: (Event & Record<string, unknown>)[]): string[] =>
  events.map((event) =>
    event instanceof PluginEditorStateEvent
      ? `${event.previous} → ${event.state}`
      : event.type.replace('plugin-editor-', ''),
  );

describe('events of <plugin-editor>', () => {
  it('report each state until ready', async () => {
    const server = await editorServer();
    const element = create(server);
    const events = eventsOf(element);
    const states: string[] = [];
    document.addEventListener('plugin-editor-state', () => states.push(element.state), { capture: true });
    place().append(element);
    await untilState(element, 'ready');
    expect(names(events)).to.deep.equal(['idle → loading', 'loading → ready', 'ready']);
    expect(states).to.deep.equal(['loading', 'ready']);
    expect(events[0]).to.be.instanceOf(PluginEditorStateEvent);
    expect(events[2]).to.be.instanceOf(PluginEditorReadyEvent);
    expect(events[2]?.['confirmed']).to.equal(false);
  });

  it('report no idle state between ready and an invalid attribute', async () => {
    const { element } = await mountReady();
    const events = eventsOf(element);
    element.ident = 'no period';
    await untilError(element);
    expect(names(events)).to.deep.equal(['ready → error', 'error']);
  });

  it('report the error, and each state after retry', async () => {
    const server = await editorServer({ path: '/token', times: 1, status: 401 });
    const element = create(server);
    const events = eventsOf(element);
    let errorAtState;
    element.addEventListener('plugin-editor-state', ({ state }) => {
      if (state === 'error') errorAtState = element.error;
    });
    place().append(element);
    const error = await untilError(element);
    expect(names(events)).to.deep.equal(['idle → loading', 'loading → error', 'error']);
    expect(events[2]).to.be.instanceOf(PluginEditorErrorEvent);
    expect(events[2]?.['error']).to.equal(error);
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(errorAtState).to.equal(error);

    part(element, 'retry')?.click();
    expect(element.error).to.equal(undefined);
    await untilState(element, 'ready');
    expect(names(events.slice(3))).to.deep.equal(['error → loading', 'loading → ready', 'ready']);
  });

  it('report removal and close()', async () => {
    const { element } = await mountReady();
    const states: string[] = [];
    element.addEventListener('plugin-editor-state', ({ previous, state }) =>
      states.push(`${previous} → ${state}`),
    );
    element.remove();
    expect(states).to.deep.equal(['ready → idle']);
    place().append(element);
    await untilState(element, 'ready');
    await element.close();
    expect(states.slice(1)).to.deep.equal(['idle → loading', 'loading → ready', 'ready → idle']);
  });

  it('bubble, cross shadow roots and cannot be cancelled', async () => {
    const server = await editorServer({ path: '/token', times: 1, status: 400 });
    const host = document.createElement('div');
    const element = create(server);
    host.attachShadow({ mode: 'open' }).append(element);
    const seen: Event[] = [];
    const outside = place();
    for (const name of ['state', 'error', 'ready'] as const) {
      outside.addEventListener(`plugin-editor-${name}`, (event) => seen.push(event));
    }
    outside.append(host);
    await untilError(element);
    await element.reload();
    expect(seen.map(({ type }) => type.slice(14))).to.deep.equal([
      'state',
      'state',
      'error',
      'state',
      'state',
      'ready',
    ]);
    for (const { bubbles, composed, cancelable } of seen) {
      expect({ bubbles, composed, cancelable }).to.deep.equal({
        bubbles: true,
        composed: true,
        cancelable: false,
      });
    }
  });

  it('include ready only once when the page in the frame navigates', async () => {
    const server = await editorServer(
      { path: '/second', html: '<!doctype html>Second' },
      {
        path: '/editor',
        html: '<!doctype html><script>onmessage = () => location.replace("second")</script>',
      },
    );
    const element = mount(server);
    const events = eventsOf(element);
    await untilState(element, 'ready');
    const frame = frameOf(element);
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    frame.contentWindow?.postMessage('navigate', '*');
    await loaded;
    await flush(element, server);
    expect(await server.requests({ path: '/second' })).to.have.length(1);
    expect(names(events)).to.deep.equal(['idle → loading', 'loading → ready', 'ready']);
    expect(frameOf(element)).to.equal(frame);
  });

  it('include ready again for each new frame', async () => {
    const { element } = await mountReady();
    const events = eventsOf(element);
    element.template = 'typescript';
    await untilChangeTo(element, 'ready');
    expect(names(events)).to.deep.equal(['ready → loading', 'loading → ready', 'ready']);
  });

  it('include each error once, even when one follows another', async () => {
    const server = await editorServer({ path: '/token', status: 400 });
    const element = mount(server);
    await untilError(element);
    const events = eventsOf(element);
    const rejected = element.reload().catch(() => undefined);
    await rejected;
    expect(names(events)).to.deep.equal(['error → loading', 'loading → error', 'error']);
    element.ident = 'no-period';
    await element.updateComplete;
    expect(element.error?.code).to.equal('config');
    expect(names(events).filter((name) => name === 'error')).to.have.length(2);
  });
});
