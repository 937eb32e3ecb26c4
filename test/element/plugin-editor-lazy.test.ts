import { expect } from '@open-wc/testing';
import { setViewport } from '@web/test-runner-commands';

import { until } from '../support/until.ts';

import {
  type Changes,
  type PluginEditorElement,
  type ScriptedServer,
  SECRET,
  create,
  editorServer,
  eventsOf,
  flush,
  frames,
  untilState,
  place,
  rejection,
  requestCounts,
} from './plugin-editor-setup.ts';

/** Resolves after observers were called, which happens after each animation frame. */
async function afterObservers(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
}

/** An element below a space of the given height. */
function mountBelow(
  server: ScriptedServer,
  height: number,
  changes: Changes = {},
  parent: HTMLElement = place(),
): PluginEditorElement {
  const space = document.createElement('div');
  space.style.blockSize = `${height}px`;
  const element = create(server, { loading: 'lazy', ...changes });
  parent.append(space, element);
  return element;
}

async function expectStillIdle(element: PluginEditorElement, server: ScriptedServer): Promise<void> {
  await element.updateComplete;
  await afterObservers();
  await flush(element, server);
  expect(element.state).to.equal('idle');
  expect(await requestCounts(server)).to.deep.equal({});
}

describe('loading="lazy"', () => {
  afterEach(() => scrollTo(0, 0));

  it('requests nothing until the element is scrolled near', async () => {
    const server = await editorServer();
    let calls = 0;
    const fetchToken = async () => `${SECRET}${++calls}`;
    const element = mountBelow(server, 5000, { fetchToken });
    const events = eventsOf(element);
    await expectStillIdle(element, server);
    expect(calls).to.equal(0);
    expect(events).to.have.length(0);
    element.scrollIntoView();
    await untilState(element, 'ready');
    expect(calls).to.equal(1);
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1 });
  });

  it('starts within half a viewport of the element, and not a whole one away', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    await expectStillIdle(element, server);
    const top = element.getBoundingClientRect().top + scrollY;
    scrollTo(0, top - innerHeight * 2);
    await expectStillIdle(element, server);
    scrollTo(0, top - innerHeight * 1.4);
    expect(element.getBoundingClientRect().top).to.be.greaterThan(innerHeight);
    await untilState(element, 'ready');
  });

  it('starts at once when the element is in view', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 0);
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('waits inside a scroll container, too', async () => {
    const server = await editorServer();
    const box = place();
    box.style.cssText = 'block-size: 300px; overflow: auto';
    const element = mountBelow(server, 3000, { style: 'block-size: 200px' }, box);
    await expectStillIdle(element, server);
    box.scrollTop = 3000;
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('uses the attributes at the time when the element comes near', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    await element.updateComplete;
    element.fn = 'g';
    await expectStillIdle(element, server);
    element.scrollIntoView();
    await untilState(element, 'ready');
    const [request] = await server.requests({ path: '/token' });
    expect(request?.body).to.contain('"fn":"g"');
  });

  it('follows changes anywhere once the element has been near', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    await element.updateComplete;
    element.scrollIntoView();
    await untilState(element, 'ready');
    scrollTo(0, 0);
    await afterObservers();
    element.fn = 'g';
    await element.updateComplete;
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('requests nothing after removal while waiting, and waits again when inserted', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    const { parentNode } = element;
    await element.updateComplete;
    element.remove();
    await expectStillIdle(element, server);
    parentNode?.append(element);
    await expectStillIdle(element, server);
    element.scrollIntoView();
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('waits again when a ready element is inserted again', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    const { parentNode } = element;
    await element.updateComplete;
    element.scrollIntoView();
    await untilState(element, 'ready');
    element.remove();
    scrollTo(0, 0);
    parentNode?.append(element);
    await element.updateComplete;
    await afterObservers();
    await flush(element, server);
    expect(element.state).to.equal('idle');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('starts at once when changed to eager', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    await expectStillIdle(element, server);
    element.loading = 'eager';
    await untilState(element, 'ready');
    element.scrollIntoView();
    await afterObservers();
    await flush(element, server);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('does not open an element in view that was closed while it waited', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    await element.updateComplete;
    await element.close();
    element.scrollIntoView();
    await expectStillIdle(element, server);
    expect(frames(element)).to.have.length(0);
  });

  it('does not delay reload()', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000);
    await expectStillIdle(element, server);
    await element.reload();
    expect(element.state).to.equal('ready');
  });

  it('does not delay a config error', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 5000, { ident: 'no-period' });
    await element.updateComplete;
    expect(element.error?.code).to.equal('config');
    expect(await rejection(element.reload())).to.include({ code: 'config' });
  });

  it('starts when the viewport grows as far as the element', async () => {
    const server = await editorServer();
    const element = mountBelow(server, 1100);
    await expectStillIdle(element, server);
    try {
      await setViewport({ width: 800, height: 1000 });
      await untilState(element, 'ready');
      expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    } finally {
      await setViewport({ width: 800, height: 600 });
      // Where the window's size follows later, the next test would begin with the large one.
      await until('the former viewport', () => innerHeight === 600);
    }
  });

  it('requests tokens for those of a hundred elements that are near the viewport', async () => {
    const server = await editorServer();
    const box = place();
    const elements = Array.from({ length: 100 }, (_, i) =>
      create(server, { loading: 'lazy', fn: `plugin-${i}`, style: 'block-size: 300px' }),
    );
    box.append(...elements);
    const requested = new Set<number>();
    for (const index of [0, 50, 99]) {
      elements[index]?.scrollIntoView();
      await afterObservers();
      const { top } = box.getBoundingClientRect();
      // Those in view at least, and at most those within half a viewport on both sides.
      const reaches = (screens: number) =>
        elements
          .map((_, i) => i)
          .filter((i) => {
            const at = top + i * 300;
            return at < innerHeight * (1 + screens) && at + 300 > -innerHeight * screens;
          });
      for (const i of reaches(0)) await untilState(elements[i] as PluginEditorElement, 'ready');
      for (const i of reaches(0.55)) if (elements[i]?.state !== 'idle') requested.add(i);
    }
    // Those outside the viewport may only have begun theirs.
    await server.requests({ path: '/token', count: requested.size });
    await flush(elements[0] as PluginEditorElement, server);
    const requests = await server.requests({ path: '/token' });
    const names = requests.map(({ body }) => (JSON.parse(body) as { fn: string }).fn);
    expect(names.toSorted()).to.deep.equal([...requested].map((i) => `plugin-${i}`).toSorted());
    expect(names.length).to.be.within(6, 20);
  });
});
