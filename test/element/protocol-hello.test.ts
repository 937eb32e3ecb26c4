import { expect } from '@open-wc/testing';

import { fakeClock } from './fake-clock.ts';
import { untilChangeTo, flush, frameOf, frames, untilState, requestCounts } from './plugin-editor-setup.ts';
import { NOTHING, left, watchTraces } from './plugin-editor-traces.ts';
import { makeDirty, openEditor } from './protocol-opened.ts';
import { evaluateIn, flushMessages, named, sendFromEditor } from './protocol-setup.ts';

/** How long a greeting after the first waits for its answer, in ms. */
const DELAY = 200;

const FLOOD = `for (let i = 0; i < 5000; i++) send({ type: 'hello' });`;

describe('a flood of greetings', () => {
  it('gets one delayed reply, to the last greeting', async () => {
    const clock = fakeClock();
    const { element, received, server } = await openEditor();
    const frame = frameOf(element);
    evaluateIn(frame.contentWindow, `${FLOOD} send({ type: 'hello', capabilities: ['open'] });`);
    await flushMessages(element);
    expect(received.of('open')).to.have.length(1);
    expect(clock.waits).to.deep.equal([DELAY]);
    await clock.advance(DELAY);
    await received.until('open', 2);
    expect(clock.waits).to.deep.equal([]);
    element.fn = 'g';
    expect((await received.until('open', 3)).fn).to.equal('g');
    expect(frameOf(element)).to.equal(frame);
    expect((await requestCounts(server))['/editor']).to.equal(1);
  });

  it('gets one reply in 200 ms while it lasts, and makes no token request', async () => {
    const clock = fakeClock();
    const { element, received, server } = await openEditor();
    for (let round = 2; round < 6; round++) {
      evaluateIn(frameOf(element).contentWindow, FLOOD);
      await flushMessages(element);
      await clock.advance(DELAY);
      await received.until('open', round);
    }
    await flushMessages(element);
    await flush(element, server);
    expect(received.of('open')).to.have.length(5);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  }).timeout(60_000);

  it('ends the previous session at once', async () => {
    const clock = fakeClock();
    const all = await openEditor();
    const { element, received, seen } = all;
    await makeDirty(all);
    seen.length = 0;
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`);
    sendFromEditor(element, received, { type: 'save' });
    await flushMessages(element);
    expect(seen).to.have.length(0);
    await clock.advance(DELAY);
    await received.until('open', 2);
    expect(named(seen, 'dirty').map(({ dirty }) => dirty)).to.deep.equal([false]);
    sendFromEditor(element, received, { type: 'save' });
    await flushMessages(element);
    expect(named(seen, 'save')).to.have.length(1);
  });

  it('is answered by a change that comes before the delay ends', async () => {
    const clock = fakeClock();
    const { element, received } = await openEditor({}, { capabilities: ['open'] });
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello', capabilities: ['open'] })`);
    await flushMessages(element);
    element.fn = 'g';
    expect((await received.until('open', 2)).fn).to.equal('g');
    await untilState(element, 'ready');
    expect(clock.waits).not.to.include(DELAY);
    await clock.advance(DELAY);
    await flushMessages(element);
    expect(received.of('open')).to.have.length(2);
  });

  it('is answered with the newest token', async () => {
    const clock = fakeClock();
    const { element, received } = await openEditor();
    evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`);
    await flushMessages(element);
    await element.renewToken();
    await clock.advance(DELAY);
    expect((await received.until('open', 2)).token).to.equal('token-2');
    expect(received.of('token')).to.have.length(0);
  });

  for (const [how, end] of [
    ['is removed', async (element) => element.remove()],
    ['is closed', (element) => element.close()],
    ['gets another frame', async (element) => element.setAttribute('editor-url', element.editorUrl + '?2')],
  ] as [string, (element: HTMLElementTagNameMap['plugin-editor']) => Promise<void>][]) {
    it(`leaves no timer when the element ${how}`, async () => {
      const traces = watchTraces();
      const { element, received } = await openEditor();
      evaluateIn(frameOf(element).contentWindow, FLOOD);
      await flushMessages(element);
      const before = received.of('open').length;
      await end(element);
      await element.updateComplete;
      expect([...traces.timers.values()]).not.to.include(DELAY);
      if (how === 'gets another frame') {
        await untilState(element, 'ready');
        expect(received.of('open')).to.have.length(before + 1);
      } else {
        expect(left(traces)).to.deep.equal(NOTHING);
        expect(frames(element)).to.have.length(0);
      }
    });
  }
});

describe('an editor that reloads repeatedly', () => {
  it('is opened after each load', async () => {
    const { element, received } = await openEditor();
    for (let times = 2; times < 8; times++) {
      evaluateIn(frameOf(element).contentWindow, 'location.reload()');
      await received.until('open', times);
    }
    await flushMessages(element);
    expect(element.state).to.equal('ready');
    element.fn = 'g';
    await untilChangeTo(element, 'ready');
  });
});
