import { expect, waitUntil } from '@open-wc/testing';
import { emulateMedia, sendKeys } from '@web/test-runner-commands';

import {
  changeTo,
  create,
  editorServer,
  failure,
  frameOf,
  inState,
  mount,
  part,
  place,
} from './plugin-editor-setup.ts';

// WebKitGTK paints a native button dark, and tells scripts that its background is light grey.
const UNSEEN = navigator.vendor.startsWith('Apple') ? ['color-contrast'] : [];

describe('accessibility of <plugin-editor>', () => {
  it('idle', async () => {
    const server = await editorServer();
    const element = mount(server, { fn: null });
    await element.updateComplete;
    await expect(element).to.be.accessible();
  });

  it('loading: a status with words and a bar that they name', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    await changeTo(element, 'loading');
    const status = part(element, 'status');
    expect(status?.getAttribute('role')).to.equal('status');
    const bar = status?.querySelector('progress');
    expect(bar?.labels?.[0]?.textContent?.trim()).to.equal('Loading the editor…');
    await expect(element).to.be.accessible();
  });

  for (const scheme of ['light', 'dark']) {
    it(`error, ${scheme}: an alert with a button`, async () => {
      const server = await editorServer({ path: '/token', status: 401 });
      const element = mount(server, { style: `color-scheme: ${scheme}` });
      await failure(element);
      const view = part(element, 'error');
      expect(view?.getAttribute('role')).to.equal('alert');
      expect(view?.contains(part(element, 'retry'))).to.equal(true);
      await expect(element).to.be.accessible({ ignoredRules: scheme === 'dark' ? UNSEEN : [] });
    });
  }

  it('ready: a frame with a name', async () => {
    const server = await editorServer();
    const element = mount(server);
    await inState(element, 'ready');
    expect(frameOf(element).title).to.equal('Plugin editor: add-record');
    await expect(element).to.be.accessible();
    element.label = 'Rules of Acme';
    await element.updateComplete;
    expect(frameOf(element).title).to.equal('Rules of Acme');
  });

  it('retry is reached and pressed by keyboard', async () => {
    const server = await editorServer({ path: '/token', times: 1, status: 401 });
    const before = document.createElement('button');
    before.textContent = 'Before';
    const element = create(server);
    place().append(before, element);
    await failure(element);
    before.focus();
    await sendKeys({ press: 'Tab' });
    expect(document.activeElement).to.equal(element);
    expect(element.shadowRoot?.activeElement).to.equal(part(element, 'retry'));
    await sendKeys({ press: 'Enter' });
    await inState(element, 'ready');
  });

  it('retry keeps the focus in the element: in the frame, or on the next retry', async () => {
    const server = await editorServer(
      { path: '/token', times: 1, status: 401 },
      { path: '/token', times: 1, status: 500, headers: { 'retry-after': '99' } },
    );
    const element = mount(server);
    await failure(element);
    for (const [state, name] of [
      ['error', 'retry'],
      ['ready', 'frame'],
    ] as const) {
      part(element, 'retry')?.focus();
      part(element, 'retry')?.click();
      await changeTo(element, state);
      const focused = () => element.shadowRoot?.activeElement?.getAttribute('part');
      await waitUntil(() => focused() === name, name);
      expect(focused()).to.equal(name);
    }
  });

  it('retry does not send a form that the element is in', async () => {
    const server = await editorServer({ path: '/token', times: 1, status: 401 });
    const form = document.createElement('form');
    let sent = 0;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      sent += 1;
    });
    const element = create(server);
    form.append(element);
    place().append(form);
    await failure(element);
    part(element, 'retry')?.click();
    await changeTo(element, 'ready');
    expect(sent).to.equal(0);
  });

  // Of the engines here only Chromium lets a test choose what the user prefers.
  if (navigator.userAgent.includes('Chrome/')) {
    it('nothing moves for those who prefer reduced motion, and the words stay', async () => {
      const server = await editorServer({ path: '/token', delay: 'hang' });
      const element = mount(server);
      await changeTo(element, 'loading');
      const bar = part(element, 'status')?.querySelector('progress') as Element;
      expect(bar.getClientRects()).to.have.length(1);
      try {
        await emulateMedia({ reducedMotion: 'reduce' });
        expect(bar.getClientRects()).to.have.length(0);
        const words = part(element, 'status')?.querySelector('label');
        expect(words?.textContent).to.contain('Loading the editor…');
        // They come after a moment, so that a short wait does not flash.
        await waitUntil(() => words?.checkVisibility({ visibilityProperty: true }), 'the words are shown');
        await expect(element).to.be.accessible();
      } finally {
        await emulateMedia({ reducedMotion: 'no-preference' });
      }
    });

    it('forced colours are those of the user', async () => {
      const server = await editorServer({ path: '/token', status: 401 });
      const element = mount(server);
      await failure(element);
      try {
        await emulateMedia({ forcedColors: 'active' });
        await expect(element).to.be.accessible();
        const { color, backgroundColor } = getComputedStyle(element);
        expect(color).not.to.equal(backgroundColor);
      } finally {
        await emulateMedia({ forcedColors: 'none' });
      }
    });
  }
});
