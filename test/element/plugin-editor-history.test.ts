import { expect } from '@open-wc/testing';

import { openPage } from './plugin-editor-page.ts';
import {
  apply,
  untilChangeTo,
  create,
  editorServer,
  untilState,
  place,
  requestCounts,
} from './plugin-editor-setup.ts';

/** Resolves in a new task, because a navigation during the `load` event always replaces the entry. */
const afterLoad = () => new Promise((resolve) => setTimeout(resolve));

describe('the history of the page', () => {
  it('gets no additional entry, however often the frame is remade', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server);
    const before = contentWindow.history.length;
    const element = create(server, {}, contentDocument);
    contentDocument.body.append(element);
    await untilState(element, 'ready');
    await afterLoad();
    expect(contentWindow.history.length).to.equal(before);
    for (const changes of [{ fn: 'g' }, { template: 't' }, { 'editor-url': server.url('/editor?2') }]) {
      apply(element, changes);
      await untilChangeTo(element, 'ready');
      await afterLoad();
      expect(contentWindow.history.length, JSON.stringify(changes)).to.equal(before);
    }
    await element.reload();
    await afterLoad();
    element.remove();
    contentDocument.body.append(element);
    await untilState(element, 'ready');
    await afterLoad();
    expect(contentWindow.history.length).to.equal(before);
    expect((await requestCounts(server))['/editor']).to.equal(6);
  });

  it('would get one if the src of a loaded frame changed', async () => {
    const server = await editorServer();
    const frame = document.createElement('iframe');
    const load = async (address: string) => {
      frame.src = server.url(address);
      if (!frame.isConnected) place().append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    };
    await load('/editor?1');
    await afterLoad();
    const before = history.length;
    await load('/editor?2');
    // This shows that the test above would notice an entry.
    expect(history.length).to.equal(before + 1);
  });
});
