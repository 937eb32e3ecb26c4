import { expect, waitUntil } from '@open-wc/testing';

import {
  changeTo,
  flush,
  frameOf,
  inState,
  mount,
  place,
  rejection,
  editorServer,
} from './plugin-editor-setup.ts';
import { makeDirty, opened } from './protocol-opened.ts';
import { apply, heardOut, listen, mountTalking, talkingServer } from './protocol-setup.ts';

const CAN = { capabilities: ['open', 'configure'] };
const configurable = (changes = {}) => opened(changes, CAN);

const SETTINGS = ['locale', 'readOnly', 'appearance'];

/** The settings that were sent by `configure` so far. */
async function configured(all: Awaited<ReturnType<typeof opened>>): Promise<object[]> {
  await all.element.updateComplete;
  await heardOut(all.element);
  return all.ear
    .of('configure')
    .map((message) =>
      Object.fromEntries(Object.entries(message).filter(([name]) => SETTINGS.includes(name))),
    );
}

describe('locale', () => {
  afterEach(() => document.documentElement.removeAttribute('lang'));

  it('is the nearest lang, across shadow hosts, unless it is set', async () => {
    const server = await talkingServer(CAN);
    const outer = document.createElement('div');
    const inner = outer.attachShadow({ mode: 'open' }).appendChild(document.createElement('section'));
    const parent = place();
    parent.append(outer);
    for (const [expected, prepare] of [
      ['fr', () => (document.documentElement.lang = 'fr')],
      ['de-AT', () => (outer.lang = 'de-AT')],
      ['it', (element: HTMLElement) => (element.lang = 'it')],
      ['ar', (element: HTMLElement) => element.setAttribute('locale', 'ar')],
      // A tag that is none is not sent, and neither is another one in its place.
      [undefined, (element: HTMLElement) => element.setAttribute('locale', 'not a tag')],
      [undefined, (element: HTMLElement) => apply(element, { locale: null, lang: '' })],
    ] as const) {
      const ear = listen();
      const element = mountTalking(server);
      prepare(element);
      inner.append(element);
      expect((await ear.until('open'))['locale']).to.equal(expected);
      element.remove();
    }
  });

  it('is sent by configure when it changes, without a restart', async () => {
    const all = await configurable();
    const frame = frameOf(all.element);
    document.documentElement.lang = 'de';
    expect(await configured(all)).to.deep.equal([{ locale: 'de' }]);
    all.element.lang = 'en-GB';
    expect((await configured(all)).at(-1)).to.deep.equal({ locale: 'en-GB' });
    all.element.locale = 'pt-BR';
    expect((await configured(all)).at(-1)).to.deep.equal({ locale: 'pt-BR' });
    all.element.locale = 'x_y';
    expect((await configured(all)).at(-1)).to.deep.equal({ locale: null });
    expect(await configured(all)).to.have.length(4);
    expect(frameOf(all.element)).to.equal(frame);
    expect(all.ear.of('open')).to.have.length(1);
  });
});

describe('read-only', () => {
  it('is sent by open when on, and by configure when it changes', async () => {
    const all = await configurable({ 'read-only': '' });
    expect(all.ear.of('open')[0]).to.include({ readOnly: true });
    all.element.readOnly = false;
    expect(await configured(all)).to.deep.equal([{ readOnly: false }]);
    all.element.readOnly = true;
    expect(await configured(all)).to.deep.equal([{ readOnly: false }, { readOnly: true }]);
  });

  it('is sent by the next open to an editor without the capability configure', async () => {
    const all = await opened({}, { capabilities: ['open'] });
    expect(all.ear.of('open')[0]).not.to.have.property('readOnly');
    all.element.readOnly = true;
    expect(await configured(all)).to.deep.equal([]);
    all.element.fn = 'g';
    expect(await all.ear.until('open', 2)).to.include({ fn: 'g', readOnly: true });
  });

  it('prevents the editor from opening in a new tab', async () => {
    const element = mount(await editorServer(), { 'read-only': '' });
    await inState(element, 'ready');
    expect((await rejection(element.openInNewTab())).code).to.equal('config');
  });
});

describe('settings changed together with a delayed change of plugin', () => {
  it('are delayed with it, unlike those changed later', async () => {
    const all = await configurable();
    const { element, ear } = all;
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    await makeDirty(all);
    element.style.setProperty('--plugin-editor-accent', '#010203');
    apply(element, { fn: 'g', 'read-only': '', locale: 'de' });
    expect(await configured(all)).to.deep.equal([]);
    element.refreshAppearance();
    expect(await configured(all)).to.deep.equal([]);
    element.locale = 'fr';
    expect(await configured(all)).to.deep.equal([{ locale: 'fr' }]);
    await makeDirty(all, false);
    const open = await ear.until('open', 2);
    expect(open).to.deep.include({ fn: 'g', readOnly: true, locale: 'fr' });
    expect(open['appearance']).to.include({ accent: 'rgb(1, 2, 3)' });
  });

  it('are sent by configure once the change is undone', async () => {
    const all = await configurable();
    all.element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    await makeDirty(all);
    apply(all.element, { fn: 'g', 'read-only': '' });
    expect(await configured(all)).to.deep.equal([]);
    apply(all.element, { fn: 'add-record' });
    expect(await configured(all)).to.deep.equal([{ readOnly: true }]);
  });
});

describe('appearance', () => {
  const look = async (style: string) => {
    const ear = listen();
    const element = mountTalking(await talkingServer(CAN), { style });
    const { appearance } = (await ear.until('open')) as { appearance?: object };
    element.remove();
    return appearance;
  };

  const table: [name: string, style: string, appearance: object][] = [
    ['nothing that is unset', '', { colorScheme: 'light' }],
    ['the colour scheme', 'color-scheme: dark', { colorScheme: 'dark' }],
    [
      'colours of any kind as rgb',
      '--plugin-editor-accent: hsl(120 100% 50%); --plugin-editor-background: color(srgb 1 0.5 0); --plugin-editor-color: var(--mine); --mine: #123',
      { accent: 'rgb(0, 255, 0)', background: 'rgb(255, 128, 0)', color: 'rgb(17, 34, 51)' },
    ],
    [
      'colours that depend on the scheme, resolved',
      'color-scheme: dark; --plugin-editor-background: light-dark(white, rgb(1 2 3))',
      { colorScheme: 'dark', background: 'rgb(1, 2, 3)' },
    ],
    [
      'the colour of a border that is there',
      '--plugin-editor-border: 2px solid oklch(1 0 0)',
      { border: 'rgb(255, 255, 255)' },
    ],
    ['no border without a width', '--plugin-editor-border: 0 solid red', {}],
    [
      'the families of a font',
      '--plugin-editor-font: italic 12px/2 "Fira Sans", Georgia, serif',
      { font: '"Fira Sans", Georgia, serif' },
    ],
    ['a radius in px, also of 0', '--plugin-editor-radius: calc(2px + 3px)', { radius: '5px' }],
    ['a radius of nothing', '--plugin-editor-radius: 0', { radius: '0px' }],
    [
      'nothing translucent or that does not resolve',
      '--plugin-editor-accent: auto; --plugin-editor-background: rgb(0 0 0 / 50%); --plugin-editor-color: 12px; --plugin-editor-radius: 10%; --plugin-editor-font: nonsense; --plugin-editor-border: x',
      {},
    ],
    [
      'no address and no image',
      '--plugin-editor-background: url(data:,), red; --plugin-editor-accent: linear-gradient(red, blue); --plugin-editor-font: 1rem "a;b{}"',
      {},
    ],
  ];
  for (const [name, style, appearance] of table) {
    it(`includes ${name}`, async () => {
      expect(await look(style)).to.deep.equal({ colorScheme: 'light', ...appearance });
    });
  }

  it('is sent by configure as a whole when it changes, without a request or restart', async () => {
    const all = await configurable({ style: '--plugin-editor-accent: red' });
    const { element } = all;
    const before = performance.getEntriesByType('resource').length;
    const changes: [property: string, value: string, appearance: object][] = [
      ['--plugin-editor-accent', 'blue', { colorScheme: 'light', accent: 'rgb(0, 0, 255)' }],
      ['color-scheme', 'dark', { colorScheme: 'dark', accent: 'rgb(0, 0, 255)' }],
      [
        '--plugin-editor-font',
        '1rem serif',
        { colorScheme: 'dark', accent: 'rgb(0, 0, 255)', font: 'serif' },
      ],
      ['--plugin-editor-accent', '', { colorScheme: 'dark', font: 'serif' }],
    ];
    for (const [index, [property, value, appearance]] of changes.entries()) {
      element.style.setProperty(property, value);
      const told = await all.ear.until('configure', index + 1);
      expect(told['appearance']).to.deep.equal(appearance);
    }
    expect(all.ear.of('open')).to.have.length(1);
    expect(performance.getEntriesByType('resource')).to.have.length(before);
  });

  it('is sent when the element is displayed again after a change', async () => {
    const all = await configurable();
    const { element } = all;
    element.style.display = 'none';
    await new Promise(requestAnimationFrame);
    element.style.setProperty('--plugin-editor-accent', 'blue');
    await new Promise(requestAnimationFrame);
    element.style.display = '';
    // WebKit resolves no colours of what is not displayed, and so there is another message when the element is hidden.
    const accent = () => Object(all.ear.of('configure').at(-1)?.['appearance']).accent as unknown;
    await waitUntil(() => accent() === 'rgb(0, 0, 255)', 'the look is sent', { timeout: 20_000 });
    expect(all.ear.of('open')).to.have.length(1);
  });

  it('is sent at once by refreshAppearance(), only if it differs', async () => {
    const all = await configurable();
    all.element.style.setProperty('--plugin-editor-accent', 'rgb(9 9 9)');
    all.element.refreshAppearance();
    all.element.refreshAppearance();
    await heardOut(all.element);
    expect(all.ear.of('configure')[0]?.['appearance']).to.include({ accent: 'rgb(9, 9, 9)' });
    expect(all.ear.of('configure')).to.have.length(1);
    all.element.remove();
    all.element.refreshAppearance();
  });
});

describe('initialSource', () => {
  const source = { contents: 'export {}', lang: 'typescript', tests: [{ name: 'n', payload: 'p' }] };

  it('is sent by open as it was when set, and a new object restarts nothing', async () => {
    const mine = structuredClone(source);
    const all = await configurable({ initialSource: mine });
    expect(all.ear.of('open')[0]?.['initialSource']).to.deep.equal(source);
    mine.contents = 'changed';
    all.element.initialSource = { contents: 'other', lang: 'rust' };
    await flush(all.element, all.server);
    expect(all.ear.of('open')).to.have.length(1);
    all.element.fn = 'g';
    expect((await all.ear.until('open', 2))['initialSource']).to.deep.equal({
      contents: 'other',
      lang: 'rust',
    });
  });

  it('is sent only when no other language is asked for, and never in a URL', async () => {
    const all = await configurable({
      initialSource: source,
      template: 'javascript',
      'token-delivery': 'url',
    });
    await all.ear.until('open');
    expect(all.ear.of('open')[0]).not.to.have.property('initialSource');
    all.element.template = 'typescript';
    expect((await all.ear.until('open', 2))['initialSource']).to.deep.equal(source);
    expect(frameOf(all.element).src).not.to.contain('export');
  });

  const wrong: [string, unknown][] = [
    ['a text', 'export {}'],
    ['no contents', { lang: 'typescript' }],
    ['no language', { contents: '', lang: '' }],
    ['tests that are no list', { ...source, tests: {} }],
    ['more than 1 MiB', { ...source, contents: 'é'.repeat(2 ** 19) }],
    [
      'a cycle',
      Object.assign([], {
        contents: '',
        lang: 'x',
        get tests() {
          return [this];
        },
      }),
    ],
  ];
  for (const [name, initialSource] of wrong) {
    it(`causes a config error when it is ${name}`, async () => {
      const server = await talkingServer(CAN);
      const element = mountTalking(server, { initialSource: initialSource as object });
      if (typeof initialSource === 'string') {
        element.removeAttribute('initialSource');
        Object.assign(element, { initialSource });
      }
      await changeTo(element, 'error').catch(() => {});
      expect(element.error).to.include({ code: 'config' });
      expect(element.error?.message).to.contain('initialSource');
    });
  }
});

describe('plugin', () => {
  it('is what is shown, with the details from the editor, or undefined', async () => {
    const server = await talkingServer(CAN);
    const ear = listen();
    const element = mountTalking(server);
    const seen: unknown[] = [];
    element.addEventListener('plugin-editor-plugin', ({ plugin }) => {
      expect(plugin).to.equal(element.plugin);
      seen.push(plugin && { ...plugin });
    });
    expect(element.plugin).to.equal(undefined);
    await inState(element, 'ready');
    const plugin = { ident: 'com.example.tenant-1', namespace: 'default', fn: 'add-record' };
    expect(element.plugin).to.deep.equal(plugin);
    const details = { language: 'rust', exists: false, permissions: ['read'] };
    for (let times = 0; times < 2; times++) {
      bidReady(element, ear.session(), details);
      await heardOut(element);
    }
    expect(element.plugin).to.deep.equal({ ...plugin, ...details });
    element.fn = 'g';
    await changeTo(element, 'ready');
    await element.close();
    expect(seen).to.deep.equal([
      plugin,
      { ...plugin, ...details },
      undefined,
      { ...plugin, fn: 'g' },
      undefined,
    ]);
  });

  it('is in the event ready, which is fired once for each open', async () => {
    const all = await configurable();
    const ready = { language: 'rust', exists: true, permissions: ['read', 'write'] };
    const events: unknown[] = [];
    all.element.addEventListener('plugin-editor-ready', ({ confirmed, language, exists, permissions }) =>
      events.push({ confirmed, language, exists, permissions }),
    );
    bidReady(all.element, all.ear.session(), ready);
    await heardOut(all.element);
    expect(events).to.have.length(0);
    expect(all.element.plugin).to.deep.include(ready);
  });
});

function bidReady(element: HTMLElement, session: string, details: object): void {
  const frame = element.shadowRoot?.querySelector('iframe');
  frame?.contentWindow?.postMessage(
    { bid: `say(${JSON.stringify({ type: 'ready', session, ...details })})` },
    '*',
  );
}

describe('token-delivery', () => {
  it('remakes the frame with the same token when it changes', async () => {
    const all = await opened({}, CAN);
    const frame = frameOf(all.element);
    all.element.tokenDelivery = 'url';
    await changeTo(all.element, 'ready');
    expect(frameOf(all.element)).not.to.equal(frame);
    expect(frameOf(all.element).src).to.contain('token=token-1');
  });
});
