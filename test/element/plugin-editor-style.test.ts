import { expect } from '@open-wc/testing';

import {
  type PluginEditorElement,
  untilChangeTo,
  create,
  editorServer,
  untilError,
  frameOf,
  untilState,
  mount,
  part,
  place,
  mountReady,
} from './plugin-editor-setup.ts';

const STATES = ['idle', 'loading', 'ready', 'error'] as const;

/** The custom states that match as selectors. */
const matching = (element: Element): string[] =>
  STATES.filter((state) => element.matches(`:state(${state})`));

const styleOf = (element: Element | null): CSSStyleDeclaration => getComputedStyle(element as Element);

/** Walks through idle, loading, error, loading and ready, and calls back in each. */
async function walk(
  element: PluginEditorElement,
  server: Awaited<ReturnType<typeof editorServer>>,
  look: (state: string) => unknown,
): Promise<void> {
  await element.updateComplete;
  await look('idle');
  element.fn = 'add-record';
  await server.requests({ path: '/token', count: 1 });
  await element.updateComplete;
  await look('loading');
  await server.release('/token');
  await untilError(element);
  await look('error');
  part(element, 'retry')?.click();
  await untilChangeTo(element, 'ready');
  await look('ready');
}

/** A server whose first response is an error that is held back. */
const walkServer = () => editorServer({ path: '/token', times: 1, status: 401, delay: 'hang' });

describe('states, parts and slots of <plugin-editor>', () => {
  it('match each other in each state', async () => {
    const server = await walkServer();
    const element = mount(server, { fn: null });
    const seen: Record<string, unknown> = {};
    await walk(element, server, (state) => {
      expect(element.state).to.equal(state);
      seen[state] = [
        matching(element),
        ['frame', 'status', 'error', 'retry'].filter((name) => part(element, name)),
        [...(element.shadowRoot?.querySelectorAll('slot') ?? [])].map(({ name }) => name),
      ];
    });
    expect(seen).to.deep.equal({
      idle: [['idle'], [], ['idle']],
      loading: [['loading'], ['status'], ['loading']],
      error: [['error'], ['error', 'retry'], ['error']],
      ready: [['ready'], ['frame'], []],
    });
  });

  it('include :state(idle) before the element is in the page', () => {
    expect(matching(document.createElement('plugin-editor'))).to.deep.equal(['idle']);
  });

  it('let a page style each part', async () => {
    const sheet = document.createElement('style');
    sheet.textContent = ['frame', 'status', 'error', 'retry']
      .map((name, i) => `plugin-editor::part(${name}) { outline: ${i + 1}px solid }`)
      .join('');
    const server = await walkServer();
    const element = mount(server, { fn: null });
    element.before(sheet);
    const widths: Record<string, string> = {};
    await walk(element, server, () => {
      for (const name of ['frame', 'status', 'error', 'retry']) {
        const found = part(element, name);
        if (found) widths[name] = styleOf(found).outlineWidth;
      }
    });
    expect(widths).to.deep.equal({ frame: '1px', status: '2px', error: '3px', retry: '4px' });
  });

  it('let a page replace what is shown', async () => {
    const server = await walkServer();
    const element = create(server, { fn: null });
    for (const name of ['idle', 'loading', 'error']) {
      const own = document.createElement('p');
      own.slot = name;
      own.textContent = `Own ${name}`;
      element.append(own);
    }
    place().append(element);
    await walk(element, server, (state) => {
      const shown = [...element.children].filter((child) => child.getClientRects().length > 0);
      expect(shown.map(({ textContent }) => textContent)).to.deep.equal(
        state === 'ready' ? [] : [`Own ${state}`],
      );
      const button = part(element, 'retry');
      if (button) expect(button.getClientRects()).to.have.length(0);
    });
  });

  it('show the texts of strings, even when these change', async () => {
    const server = await walkServer();
    const element = mount(server, { fn: null, strings: { retry: 'Nochmal', loading: 'Lädt' } });
    await walk(element, server, async (state) => {
      if (state === 'loading') expect(part(element, 'status')?.textContent).to.contain('Lädt');
      if (state !== 'error') return;
      expect(part(element, 'retry')?.textContent).to.equal('Nochmal');
      expect(part(element, 'error')?.textContent).to.contain('You may not open this plugin');
      element.strings = { 'token-unauthorized': 'Nicht erlaubt' };
      await element.updateComplete;
      expect(part(element, 'error')?.textContent).to.contain('Nicht erlaubt');
      expect(part(element, 'retry')?.textContent).to.equal('Try again');
    });
  });
});

describe('layout of <plugin-editor>', () => {
  it('is a block of 36rem that the frame fills, and respects hidden', async () => {
    const { element } = await mountReady();
    expect(styleOf(element).display).to.equal('block');
    const { width, height } = element.getBoundingClientRect();
    expect(height).to.equal(36 * 16);
    expect(width).to.equal(element.parentElement?.clientWidth);
    const frame = frameOf(element).getBoundingClientRect();
    expect([frame.width, frame.height]).to.deep.equal([width, height]);
    element.hidden = true;
    expect(styleOf(element).display).to.equal('none');
  });

  it('keeps the frame in view, whatever scrolls into view', async () => {
    const { element } = await mountReady();
    const top = () => frameOf(element).getBoundingClientRect().top - element.getBoundingClientRect().top;
    const below = document.createElement('p');
    below.textContent = 'Below';
    frameOf(element).after(below);
    below.scrollIntoView({ block: 'start' });
    element.scrollTop = 50;
    expect([element.scrollTop, top()]).to.deep.equal([0, 0]);
  });

  it('does not shift from insertion to ready', async () => {
    const server = await walkServer();
    const shifts: PerformanceEntry[] = [];
    const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
    if (PerformanceObserver.supportedEntryTypes.includes('layout-shift'))
      observer.observe({ type: 'layout-shift' });
    const parent = place();
    const sibling = document.createElement('p');
    sibling.textContent = 'What follows';
    const element = create(server, { fn: null });
    parent.append(element, sibling);
    const rects: string[] = [];
    await walk(element, server, async () => {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      rects.push(JSON.stringify([element.getBoundingClientRect(), sibling.getBoundingClientRect()]));
    });
    shifts.push(...observer.takeRecords());
    observer.disconnect();
    expect(rects).to.have.length(4);
    expect(new Set(rects).size).to.equal(1);
    expect(shifts).to.deep.equal([]);
  });

  it('stays within its box, however long the message is', async () => {
    const server = await editorServer({ path: '/token*', status: 401 });
    const element = mount(server, {
      'token-endpoint': server.sameOrigin.url(`/token/${'x'.repeat(3000)}`),
      style: 'inline-size: 200px; --plugin-editor-height: 150px',
    });
    await untilError(element);
    const box = element.getBoundingClientRect();
    const view = part(element, 'error')?.getBoundingClientRect();
    expect([box.width, box.height]).to.deep.equal([200, 150]);
    expect([view?.width, view?.height]).to.deep.equal([200, 150]);
    expect(part(element, 'error')?.scrollWidth).to.be.at.most(200);
    // All of it can be reached by scrolling, even its start.
    const top = part(element, 'error')?.querySelector('p')?.getBoundingClientRect().top ?? -1;
    expect(top).to.be.at.least(box.top);
  });
});

describe('custom properties of <plugin-editor>', () => {
  const values = {
    '--plugin-editor-height': '200px',
    '--plugin-editor-font': '20px/30px monospace',
    '--plugin-editor-color': 'rgb(1, 2, 3)',
    '--plugin-editor-background': 'rgb(4, 5, 6)',
    '--plugin-editor-accent': 'rgb(7, 8, 9)',
    '--plugin-editor-border': '3px solid rgb(10, 11, 12)',
    '--plugin-editor-radius': '5px',
    '--plugin-editor-gap': '7px',
  };

  it('set the style of the element', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    for (const [name, value] of Object.entries(values)) element.style.setProperty(name, value);
    await untilChangeTo(element, 'loading');
    const own = styleOf(element);
    expect(own.height).to.equal('200px');
    expect(own.fontSize).to.equal('20px');
    expect(own.color).to.equal('rgb(1, 2, 3)');
    expect(own.backgroundColor).to.equal('rgb(4, 5, 6)');
    expect(own.borderTopWidth).to.equal('3px');
    expect(own.borderTopColor).to.equal('rgb(10, 11, 12)');
    expect(own.borderTopLeftRadius).to.equal('5px');
    const status = part(element, 'status');
    expect(styleOf(status).paddingTop).to.equal('7px');
    expect(styleOf(status).rowGap).to.equal('7px');
    const bar = status?.querySelector('progress') ?? null;
    expect(styleOf(bar).accentColor).to.equal('rgb(7, 8, 9)');
  });

  it('have defaults', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    await untilChangeTo(element, 'loading');
    const own = styleOf(element);
    expect([own.height, own.fontSize, own.borderTopWidth, own.borderTopLeftRadius]).to.deep.equal([
      '576px',
      '16px',
      '0px',
      '0px',
    ]);
    expect(styleOf(part(element, 'status')).paddingTop).to.equal('16px');
  });

  it('default to the colours of the colour scheme', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const [light, dark] = ['light', 'dark'].map((scheme) =>
      mount(server, { style: `color-scheme: ${scheme}` }),
    );
    await server.requests({ path: '/token', count: 2 });
    const colours = [light, dark].map((each) => {
      const { color, backgroundColor } = styleOf(each as Element);
      return { color, backgroundColor };
    });
    expect(colours[0]).to.deep.equal({ color: 'rgb(0, 0, 0)', backgroundColor: 'rgb(255, 255, 255)' });
    const sum = (colour = '') =>
      (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((all, each) => all + Number(each), 0);
    expect(sum(colours[1]?.color)).to.be.greaterThan(700);
    expect(sum(colours[1]?.backgroundColor)).to.be.lessThan(200);
  });
});

describe('the colour scheme', () => {
  it('applies to the frame, and to its page where the browser does so for any frame', async () => {
    const server = await editorServer(
      { path: '/report/*', body: '' },
      {
        path: '/editor/*',
        html: `<!doctype html><meta name="color-scheme" content="light dark"><script>
          const dark = matchMedia('(prefers-color-scheme: dark)');
          const name = location.pathname.split('/').at(-1);
          const report = () => navigator.sendBeacon('../report/' + name + '/' + dark.matches);
          // A page in another process may learn of it only after its first script.
          dark.addEventListener('change', report);
          report();
        </script>`,
      },
    );
    // WebKitGTK does not pass it to frames.
    const reportsDark = !navigator.vendor.startsWith('Apple');
    for (const [scheme, isDark] of [
      ['light', false],
      ['dark', reportsDark],
    ] as const) {
      const element = mount(server, {
        'editor-url': server.url(`/editor/${scheme}`),
        style: `color-scheme: ${scheme}`,
      });
      await untilState(element, 'ready');
      expect(styleOf(frameOf(element)).colorScheme).to.equal(scheme);
      await server.requests({ path: `/report/${scheme}/${isDark}`, count: 1 });
    }
  });
});
