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

/** Says which load of it this is, when it loads and when it is asked. */
const PLAIN = `<!doctype html><script>
  const load = Math.random();
  onmessage = () => parent.postMessage({ load }, '*');
  onmessage();
</script>`;

/** Whether the browser keeps the page of a frame inside a moved element, as found out with a plain frame. */
async function keepsFrames(server: Awaited<ReturnType<typeof editorServer>>): Promise<boolean> {
  const [from, to] = [place(), place() as Movable];
  if (!to.moveBefore) return false;
  const host = document.createElement('div');
  const frame = document.createElement('iframe');
  frame.src = server.url('/plain');
  host.attachShadow({ mode: 'open' }).append(frame);
  const untilSaid = () =>
    new Promise<number>((resolve) => {
      addEventListener('message', function listen({ data, source }) {
        if (source !== frame.contentWindow) return;
        removeEventListener('message', listen);
        resolve(data.load);
      });
    });
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  const first = untilSaid();
  from.append(host);
  const [load] = await Promise.all([first, loaded]);
  const next = untilSaid();
  to.moveBefore(host, null);
  // A page that was kept answers. One that replaces it says so by itself, however late.
  frame.contentWindow?.postMessage('', '*');
  return (await next) === load;
}

describe('moving <plugin-editor>', () => {
  it('by moveBefore keeps token, state and frame, and its page where the browser does', async () => {
    const server = await editorServer({ path: '/plain', html: PLAIN });
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
