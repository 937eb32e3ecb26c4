import { expect } from '@open-wc/testing';

import {
  untilChangeTo,
  frameOf,
  untilState,
  mount,
  place,
  rejection,
  editorServer,
} from './plugin-editor-setup.ts';
import { makeDirty, openEditor } from './protocol-opened.ts';
import { apply, flushMessages, recordMessages, mountWithMessages, protocolServer } from './protocol-setup.ts';

const CAN = { capabilities: ['open', 'configure'] };
const openConfigurable = (changes = {}) => openEditor(changes, CAN);

const SETTINGS = ['locale', 'readOnly', 'appearance'];

/** The settings that were sent by `configure` so far. */
async function sentSettings(all: Awaited<ReturnType<typeof openEditor>>): Promise<object[]> {
  await all.element.updateComplete;
  await flushMessages(all.element);
  return all.received
    .of('configure')
    .map((message) =>
      Object.fromEntries(Object.entries(message).filter(([name]) => SETTINGS.includes(name))),
    );
}

describe('locale', () => {
  afterEach(() => document.documentElement.removeAttribute('lang'));

  it('is the nearest lang, across shadow hosts, unless it is set', async () => {
    const server = await protocolServer(CAN);
    const outer = document.createElement('div');
    const inner = outer.attachShadow({ mode: 'open' }).appendChild(document.createElement('section'));
    const parent = place();
    parent.append(outer);
    for (const [expected, prepare] of [
      ['fr', () => (document.documentElement.lang = 'fr')],
      ['de-AT', () => (outer.lang = 'de-AT')],
      ['it', (element: HTMLElement) => (element.lang = 'it')],
      ['ar', (element: HTMLElement) => element.setAttribute('locale', 'ar')],
      // An invalid tag is not sent, nor replaced by another.
      [undefined, (element: HTMLElement) => element.setAttribute('locale', 'not a tag')],
      [undefined, (element: HTMLElement) => apply(element, { locale: null, lang: '' })],
    ] as const) {
      const received = recordMessages();
      const element = mountWithMessages(server);
      prepare(element);
      inner.append(element);
      expect((await received.until('open'))['locale']).to.equal(expected);
      element.remove();
    }
  });

  it('is sent by configure when it changes, without a restart', async () => {
    const all = await openConfigurable();
    const frame = frameOf(all.element);
    document.documentElement.lang = 'de';
    expect(await sentSettings(all)).to.deep.equal([{ locale: 'de' }]);
    all.element.lang = 'en-GB';
    expect((await sentSettings(all)).at(-1)).to.deep.equal({ locale: 'en-GB' });
    all.element.locale = 'pt-BR';
    expect((await sentSettings(all)).at(-1)).to.deep.equal({ locale: 'pt-BR' });
    all.element.locale = 'x_y';
    expect((await sentSettings(all)).at(-1)).to.deep.equal({ locale: null });
    expect(await sentSettings(all)).to.have.length(4);
    expect(frameOf(all.element)).to.equal(frame);
    expect(all.received.of('open')).to.have.length(1);
  });
});

describe('read-only', () => {
  it('is sent by open when on, and by configure when it changes', async () => {
    const all = await openConfigurable({ 'read-only': '' });
    expect(all.received.of('open')[0]).to.include({ readOnly: true });
    all.element.readOnly = false;
    expect(await sentSettings(all)).to.deep.equal([{ readOnly: false }]);
    all.element.readOnly = true;
    expect(await sentSettings(all)).to.deep.equal([{ readOnly: false }, { readOnly: true }]);
  });

  it('is sent by the next open to an editor without the capability configure', async () => {
    const all = await openEditor({}, { capabilities: ['open'] });
    expect(all.received.of('open')[0]).not.to.have.property('readOnly');
    all.element.readOnly = true;
    expect(await sentSettings(all)).to.deep.equal([]);
    all.element.fn = 'g';
    expect(await all.received.until('open', 2)).to.include({ fn: 'g', readOnly: true });
  });

  it('prevents the editor from opening in a new tab', async () => {
    const element = mount(await editorServer(), { 'read-only': '' });
    await untilState(element, 'ready');
    expect((await rejection(element.openInNewTab())).code).to.equal('config');
  });
});

describe('settings changed together with a delayed change of plugin', () => {
  it('are delayed with it, unlike those changed later', async () => {
    const all = await openConfigurable();
    const { element, received } = all;
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    await makeDirty(all);
    element.style.setProperty('--plugin-editor-accent', '#010203');
    apply(element, { fn: 'g', 'read-only': '', locale: 'de' });
    expect(await sentSettings(all)).to.deep.equal([]);
    element.refreshAppearance();
    expect(await sentSettings(all)).to.deep.equal([]);
    element.locale = 'fr';
    expect(await sentSettings(all)).to.deep.equal([{ locale: 'fr' }]);
    await makeDirty(all, false);
    const open = await received.until('open', 2);
    expect(open).to.deep.include({ fn: 'g', readOnly: true, locale: 'fr' });
    expect(open['appearance']).to.include({ accent: 'rgb(1, 2, 3)' });
  });

  it('are sent by configure once the change is undone', async () => {
    const all = await openConfigurable();
    all.element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    await makeDirty(all);
    apply(all.element, { fn: 'g', 'read-only': '' });
    expect(await sentSettings(all)).to.deep.equal([]);
    apply(all.element, { fn: 'add-record' });
    expect(await sentSettings(all)).to.deep.equal([{ readOnly: true }]);
  });
});

describe('token-delivery', () => {
  it('remakes the frame with the same token when it changes', async () => {
    const all = await openEditor({}, CAN);
    const frame = frameOf(all.element);
    all.element.tokenDelivery = 'url';
    await untilChangeTo(all.element, 'ready');
    expect(frameOf(all.element)).not.to.equal(frame);
    expect(frameOf(all.element).src).to.contain('token=token-1');
  });
});
