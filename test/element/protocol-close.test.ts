import { expect, oneEvent } from '@open-wc/testing';

import { fakeClock } from './fake-clock.ts';
import { frameOf, frames, requestCounts } from './plugin-editor-setup.ts';
import { NOTHING, left, watchTraces } from './plugin-editor-traces.ts';
import { makeDirty, openEditor } from './protocol-opened.ts';
import {
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  sendFromEditor,
  protocolServer,
} from './protocol-setup.ts';

describe('close()', () => {
  it('has the editor forget its token before the frame is removed', async () => {
    const clock = fakeClock();
    const { element, received, server, seen } = await openEditor();
    seen.length = 0;
    const session = received.session();
    let over = false;
    const closing = element.close().then(() => (over = true));
    const again = element.close();
    expect(element.state).to.equal('idle');
    expect((await received.until('close')).session).to.equal(session);
    expect(over).to.equal(false);
    sendFromEditor(element, received, { type: 'dirty', dirty: true });
    await flushMessages(element);
    await clock.advance(1000);
    await closing;
    await again;
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
    expect(seen).to.have.length(0);
    expect(clock.waits).to.deep.equal([]);
    await element.reload();
    expect(element.state).to.equal('ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('discards unsaved work without asking', async () => {
    const all = await openEditor();
    await makeDirty(all);
    await all.element.close();
    expect(named(all.seen, 'discard')).to.have.length(0);
    expect(all.element.dirty).to.equal(false);
  });

  it('resolves at once and leaves nothing when the element is removed or reloads meanwhile', async () => {
    const traces = watchTraces();
    const { element, received } = await openEditor();
    const closing = element.close();
    await element.reload();
    await closing;
    expect(element.state).to.equal('ready');
    expect(frames(element)).to.have.length(1);
    expect(received.of('open')).to.have.length(2);
    const again = element.close();
    element.remove();
    await again;
    await element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
    expect(frames(element)).to.have.length(0);
  });

  it('sends nothing to an editor that was never opened', async () => {
    const server = await protocolServer({}, { path: '/token', delay: 'hang' });
    const received = recordMessages();
    const element = mountWithMessages(server);
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await element.close();
    await element.updateComplete;
    expect(frames(element)).to.have.length(0);
    expect(received.messages).to.have.length(0);
    await server.aborted({ path: '/token' });
  });
});
