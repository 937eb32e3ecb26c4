import { expect, oneEvent } from '@open-wc/testing';
import { css } from 'lit';

import '../../src/plugin-features.ts';
import { AdoptableElement } from '../../src/element/adoptable-element.ts';
import { create, frameOf, place, untilState } from './plugin-editor-setup.ts';
import { builder, loaded } from './plugin-features-helpers.ts';
import { protocolPage, protocolServer } from './protocol-setup.ts';

/** The document of a frame of the page's own origin, as a picture-in-picture window has one. */
async function otherDocument(): Promise<Document> {
  const frame = document.createElement('iframe');
  const isLoaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  frame.srcdoc = '<!doctype html><title>Other</title>';
  place().append(frame);
  await isLoaded;
  return frame.contentDocument as Document;
}

/** Whether the rule `:host` of the element's styles applies. */
const isStyled = (element: Element): boolean => {
  const { defaultView } = element.ownerDocument;
  return defaultView?.getComputedStyle(element).display === 'block';
};

describe('an element in a document other than the one that defines it', () => {
  for (const isMoved of [false, true]) {
    it(`opens a plugin by message and is styled, ${isMoved ? 'moved there' : 'made for it'}`, async () => {
      const server = await protocolServer();
      const element = create(server, { 'token-delivery': 'message' });
      if (isMoved) {
        place().append(element);
        await untilState(element, 'ready');
      }
      (await otherDocument()).body.append(element);
      await untilState(element, 'ready');
      expect(frameOf(element).ownerDocument).to.equal(element.ownerDocument);
      expect(isStyled(element)).to.equal(true);
      place().append(element);
      await untilState(element, 'ready');
      expect(isStyled(element)).to.equal(true);
    });
  }

  it('shows languages and is styled', async () => {
    const server = await builder();
    const element = document.createElement('plugin-features');
    element.builder = server.url();
    (await otherDocument()).body.append(element);
    await loaded(element);
    expect(isStyled(element)).to.equal(true);
  });

  it('has its styles as they are written, and those of a style sheet', async () => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(':host { color: rgb(1, 2, 3) }');
    class Box extends AdoptableElement {
      static override styles = [
        css`
          :host {
            border: var(--box-border, 2px solid);
            border-top-width: 7px;
          }
        `,
        sheet,
      ];
    }
    customElements.define('adopted-box', Box);
    const box = new Box();
    (await otherDocument()).body.append(box);
    const { color, borderTopWidth, borderLeftWidth } = getComputedStyle(box);
    expect([color, borderTopWidth, borderLeftWidth]).to.deep.equal(['rgb(1, 2, 3)', '7px', '2px']);
  });

  it('asks the user before its window or the one that defines it is left, while work is unsaved', async () => {
    const script = `addEventListener('message', ({ data: { type, session } }) => {
      if (type === 'open') send({ type: 'dirty', session, dirty: true });
    });`;
    const server = await protocolServer({}, { path: '/editor*', html: protocolPage({ script }) });
    const element = create(server, { 'token-delivery': 'message' });
    const other = await otherDocument();
    const leave = () => new Event('beforeunload', { cancelable: true });
    const asked = () => [window, other.defaultView].map((view) => !view?.dispatchEvent(leave()));
    other.body.append(element);
    await oneEvent(element, 'plugin-editor-dirty');
    expect(asked()).to.deep.equal([true, true]);
    place().append(element);
    expect(element.dirty).to.equal(false);
    expect(asked()).to.deep.equal([false, false]);
  });

  it('resolves addresses against that document', async () => {
    const server = await protocolServer();
    const element = create(server, { 'editor-url': 'editor' });
    const other = await otherDocument();
    const base = other.createElement('base');
    base.href = server.url('/editor/');
    other.head.append(base);
    other.body.append(element);
    await untilState(element, 'ready');
    expect(frameOf(element).src).to.match(new RegExp(`^${server.url('/editor/editor')}`));
  });

  it('asks for no token once the frame or the window that it is in is gone', async () => {
    const server = await protocolServer();
    const element = create(server, { 'token-delivery': 'message' });
    const other = await otherDocument();
    other.body.append(element);
    await untilState(element, 'ready');
    const comeBack = () => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    comeBack();
    await server.requests({ path: '/token', count: 2 });
    other.defaultView?.frameElement?.remove();
    comeBack();
    // The request would be under way by the second of them.
    for (let i = 0; i < 3; i++) await fetch(server.url('/ping'));
    expect(await server.requests({ path: '/token' })).to.have.length(2);
  });
});
