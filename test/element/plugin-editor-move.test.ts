import { expect } from '@open-wc/testing';

import {
  editorServer,
  eventsOf,
  flush,
  frameOf,
  untilState,
  mount,
  place,
  requestCounts,
} from './plugin-editor-setup.ts';

type Movable = HTMLElement & { moveBefore?: (node: Node, child: Node | null) => void };

/** Whether the browser keeps the page of a frame inside a moved element, as found out with a plain frame. */
async function keepsFrames(server: Awaited<ReturnType<typeof editorServer>>): Promise<boolean> {
  const [from, to] = [place(), place() as Movable];
  if (!to.moveBefore) return false;
  const host = document.createElement('div');
  const frame = document.createElement('iframe');
  frame.src = server.url('/plain');
  host.attachShadow({ mode: 'open' }).append(frame);
  from.append(host);
  await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  let loads = 0;
  frame.addEventListener('load', () => (loads += 1));
  to.moveBefore(host, null);
  await flush({ updateComplete: Promise.resolve() } as never, server);
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return loads === 0 && (await server.requests({ path: '/plain' })).length === 1;
}

describe('moving <plugin-editor>', () => {
  it('by moveBefore keeps token, state and frame, and its page where the browser does', async () => {
    const server = await editorServer({ path: '/plain', html: 'Plain' });
    const to = place() as Movable;
    const keeps = await keepsFrames(server);
    const element = mount(server);
    await untilState(element, 'ready');
    const frame = frameOf(element);
    const events = eventsOf(element);

    if (!to.moveBefore) {
      // The move is a removal and an insertion: see "inserting <plugin-editor> again".
      to.append(element);
      await untilState(element, 'ready');
      expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
      return;
    }

    const { contentWindow } = frame;
    to.moveBefore(element, null);
    expect(element.parentNode).to.equal(to);
    if (!keeps) await server.requests({ path: '/editor', count: 2 });
    await flush(element, server);
    expect(frameOf(element)).to.equal(frame);
    expect(element.state).to.equal('ready');
    expect(events).to.have.length(0);
    expect((await requestCounts(server))['/token']).to.equal(1);
    if (keeps) {
      expect(frame.contentWindow).to.equal(contentWindow);
      expect((await requestCounts(server))['/editor']).to.equal(1);
    }
  });

  it('by moveBefore does not repeat a pending token request', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang', json: { token: 't' } });
    const to = place() as Movable;
    const element = mount(server);
    await server.requests({ path: '/token', count: 1 });
    const moves = to.moveBefore !== undefined;
    if (to.moveBefore) to.moveBefore(element, null);
    else to.append(element);
    await server.requests({ path: '/token', count: moves ? 1 : 2 });
    await server.release('/token');
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': moves ? 1 : 2, '/editor': 1 });
  });
});
