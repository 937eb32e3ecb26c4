import { expect } from '@open-wc/testing';

import { oneEvent } from '@open-wc/testing';
import { EDITOR_PAGE, untilChangeTo, flush, frameOf, untilState, mount } from './plugin-editor-setup.ts';
import {
  evaluateIn,
  flushMessages,
  recordMessages,
  named,
  recordEvents,
  sendFromEditor,
  protocolServer,
} from './protocol-setup.ts';

describe('url delivery', () => {
  it('answers an editor that greets, and is ready when the editor is', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mount(server, { 'editor-url': server.url('/editor?mute') });
    const events = recordEvents(element);
    await received.until('open');
    expect(received.messages[0]).to.include({ token: 'token-1', fn: 'add-record' });
    expect(frameOf(element).src).to.include('token=token-1');
    // The page greeted before it had loaded, so its load does not count.
    await flushMessages(element);
    await flush(element, server);
    expect(element.state).to.equal('loading');
    sendFromEditor(element, received, { type: 'ready' });
    await untilState(element, 'ready');
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([true]);
  });

  it('is ready by the load of a silent page, and once more when that reports it later', async () => {
    const server = await protocolServer(null);
    const received = recordMessages();
    const element = mount(server);
    const events = recordEvents(element);
    await untilChangeTo(element, 'ready');
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([false]);
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`);
    await received.until('open');
    await oneEvent(element, 'plugin-editor-ready');
    sendFromEditor(element, received, { type: 'ready' });
    await flushMessages(element);
    expect(named(events, 'ready').map(({ confirmed }) => confirmed)).to.deep.equal([false, true]);
    expect(element.state).to.equal('ready');
  });

  it('sends nothing to a page that has not greeted', async () => {
    const server = await protocolServer(null);
    const received = recordMessages();
    const element = mount(server);
    await untilState(element, 'ready');
    await flushMessages(element);
    expect(received.messages).to.have.length(0);
    expect(EDITOR_PAGE).not.to.include('script');
  });
});
