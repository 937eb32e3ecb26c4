import { expect } from '@open-wc/testing';
import { emulateMedia, sendKeys } from '@web/test-runner-commands';

import {
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
import { until } from '../support/until.ts';

// WebKitGTK paints a native button dark, and tells scripts that its background is light grey.
const UNSEEN = navigator.vendor.startsWith('Apple') ? ['color-contrast'] : [];

describe('accessibility of <plugin-editor>', () => {
  it('has no violations while idle', async () => {
    const server = await editorServer();
    const element = mount(server, { fn: null });
    await element.updateComplete;
    await expect(element).to.be.accessible();
  });

  it('announces loading as a status, with a labelled progress bar', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang' });
    const element = mount(server);
    await untilChangeTo(element, 'loading');
    const status = part(element, 'status');
    expect(status?.getAttribute('role')).to.equal('status');
    const bar = status?.querySelector('progress');
    expect(bar?.labels?.[0]?.textContent?.trim()).to.equal('Loading the editor…');
    await expect(element).to.be.accessible();
  });

  for (const scheme of ['light', 'dark']) {
    it(`announces an error as an alert with a button (${scheme})`, async () => {
      const server = await editorServer({ path: '/token', status: 401 });
      const element = mount(server, { style: `color-scheme: ${scheme}` });
      await untilError(element);
      const view = part(element, 'error');
      expect(view?.getAttribute('role')).to.equal('alert');
      expect(view?.contains(part(element, 'retry'))).to.equal(true);
      await expect(element).to.be.accessible({ ignoredRules: scheme === 'dark' ? UNSEEN : [] });
    });
  }

  it('gives the frame a title', async () => {
    const { element } = await mountReady();
    expect(frameOf(element).title).to.equal('Plugin editor: add-record');
    await expect(element).to.be.accessible();
    element.label = 'Rules of Acme';
    await element.updateComplete;
    expect(frameOf(element).title).to.equal('Rules of Acme');
  });

  it('lets the keyboard reach and press retry', async () => {
    const server = await editorServer({ path: '/token', times: 1, status: 401 });
    const before = document.createElement('button');
    before.textContent = 'Before';
    const element = create(server);
    place().append(before, element);
    await untilError(element);
    before.focus();
    await sendKeys({ press: 'Tab' });
    expect(document.activeElement).to.equal(element);
    expect(element.shadowRoot?.activeElement).to.equal(part(element, 'retry'));
    await sendKeys({ press: 'Enter' });
    await untilState(element, 'ready');
  });

  it('keeps the focus within the element after retry', async () => {
    const server = await editorServer(
      { path: '/token', times: 1, status: 401 },
      { path: '/token', times: 1, status: 500, headers: { 'retry-after': '99' } },
    );
    const element = mount(server);
    await untilError(element);
    for (const [state, name] of [
      ['error', 'retry'],
      ['ready', 'frame'],
    ] as const) {
      part(element, 'retry')?.focus();
      part(element, 'retry')?.click();
      await untilChangeTo(element, state);
      const focused = () => element.shadowRoot?.activeElement?.getAttribute('part');
      await until(name, () => focused() === name);
      expect(focused()).to.equal(name);
    }
  });

  it('does not submit a surrounding form on retry', async () => {
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
    await untilError(element);
    part(element, 'retry')?.click();
    await untilChangeTo(element, 'ready');
    expect(sent).to.equal(0);
  });

  // Of the engines here only Chromium lets a test choose what the user prefers.
  if (navigator.userAgent.includes('Chrome/')) {
    it('animates nothing for those who prefer reduced motion, and keeps the text', async () => {
      const server = await editorServer({ path: '/token', delay: 'hang' });
      const element = mount(server);
      await untilChangeTo(element, 'loading');
      const bar = part(element, 'status')?.querySelector('progress') as Element;
      expect(bar.getClientRects()).to.have.length(1);
      try {
        await emulateMedia({ reducedMotion: 'reduce' });
        expect(bar.getClientRects()).to.have.length(0);
        const label = part(element, 'status')?.querySelector('label');
        expect(label?.textContent).to.contain('Loading the editor…');
        // The view appears after a delay, so that it does not flash during a short wait.
        await until('a visible label', () => !!label?.checkVisibility({ visibilityProperty: true }));
        await expect(element).to.be.accessible();
      } finally {
        await emulateMedia({ reducedMotion: 'no-preference' });
      }
    });

    it('uses the colours of the user when these are forced', async () => {
      const server = await editorServer({ path: '/token', status: 401 });
      const element = mount(server);
      await untilError(element);
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
