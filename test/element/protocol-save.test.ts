import { expect } from '@open-wc/testing';

import type { PluginEditorDiscardEvent } from '../../src/index.ts';
import { flush, frameOf, untilState, rejection, requestCounts } from './plugin-editor-setup.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { PLUGIN, type Opened, makeDirty, openEditor } from './protocol-opened.ts';
import { apply, evaluateIn, flushMessages, named, sendFromEditor } from './protocol-setup.ts';
import { replyToSave, untilSaveRequest, openSavable } from './protocol-savable.ts';

describe('save()', () => {
  it('sends a request, and resolves when the editor has saved', async () => {
    const all = await openSavable();
    const saving = all.element.save();
    const saveRequest = await untilSaveRequest(all);
    expect(saveRequest).to.include({ session: all.received.session() });
    expect(saveRequest['request']).to.be.a('string').with.length.above(0);
    // A reply to another request is ignored.
    sendFromEditor(all.element, all.received, { type: 'save-result', request: 'other' });
    await replyToSave(all, saveRequest);
    expect(await saving).to.equal(undefined);
    expect(named(all.seen, 'save')).to.have.length(1);
  });

  it('rejects with the error of the editor, with its token redacted, in at most 500 characters', async () => {
    const all = await openSavable();
    const saving = rejection(all.element.save());
    await replyToSave(all, await untilSaveRequest(all), { error: `token-1 ${'x'.repeat(600)}` }, true);
    const error = await saving;
    expect(error.code).to.equal('editor');
    expect(error.message).to.contain(': … xxx').and.not.to.contain('token-1');
    expect(error.message.length).to.be.below(550);
    expect(all.element.state).to.equal('ready');
  });

  it('ignores an error that is no text', async () => {
    const all = await openSavable();
    const saving = all.element.save();
    await replyToSave(all, await untilSaveRequest(all), { error: 7 });
    expect(await saving).to.equal(undefined);
  });

  it('rejects after timeout without a reply, and sends another request the next time', async () => {
    const all = await openSavable();
    // This time limit is set only now because opening the editor takes longer on a busy machine.
    apply(all.element, { timeout: '300' });
    await all.element.updateComplete;
    const error = await rejection(all.element.save());
    apply(all.element, { timeout: '60000' });
    await all.element.updateComplete;
    expect(error.code).to.equal('editor');
    expect(error.message).to.contain('300 ms');
    const saving = all.element.save();
    await replyToSave(all, await untilSaveRequest(all, 2));
    await saving;
  });

  it('sends one request for two calls at the same time', async () => {
    const all = await openSavable();
    const both = Promise.all([all.element.save(), all.element.save()]);
    await replyToSave(all, await untilSaveRequest(all));
    await both;
    expect(all.received.of('save-request')).to.have.length(1);
  });

  it('rejects when the editor cannot save', async () => {
    for (const hello of [{}, { capabilities: ['open'] }]) {
      const all = await openEditor({}, hello);
      expect((await rejection(all.element.save())).code).to.equal('editor');
      all.element.remove();
    }
    const closed = await openSavable();
    await closed.element.close();
    expect((await rejection(closed.element.save())).code).to.equal('editor');
  });

  const ends: [string, (all: Opened) => void][] = [
    ['close()', ({ element }) => void element.close()],
    ['removal', ({ element }) => element.remove()],
    [
      'a page that greets anew',
      ({ element }) => evaluateIn(frameOf(element).contentWindow, `send({ type: 'hello' })`),
    ],
    ['another open', ({ element }) => (element.fn = 'another')],
  ];
  for (const [name, end] of ends) {
    it(`rejects at ${name}`, async () => {
      const all = await openSavable();
      const saving = rejection(all.element.save());
      await untilSaveRequest(all);
      end(all);
      expect((await saving).code).to.equal('editor');
    });
  }
});

describe('unsaved work of an editor that can save', () => {
  // The editor has 2 s to save before a change. They pass only when a test says so, because a busy machine may need longer.
  let clock: FakeClock;
  beforeEach(() => {
    clock = fakeClock();
  });

  it('is saved before a change, which follows the reply without a question', async () => {
    const all = await openSavable();
    const { element, seen, received } = all;
    await makeDirty(all);
    seen.length = 0;
    element.fn = 'g';
    const saveRequest = await untilSaveRequest(all);
    // The work is saved, but the reply has not arrived yet.
    await makeDirty(all, false);
    await flush(element, all.server);
    expect(element.state).to.equal('ready');
    expect(element.plugin).to.deep.include({ fn: 'add-record' });
    expect(received.of('open')).to.have.length(1);
    await replyToSave(all, saveRequest);
    expect(await received.until('open', 2)).to.include({ fn: 'g', token: 'token-2' });
    await untilState(element, 'ready');
    expect(element.plugin).to.deep.include({ fn: 'g' });
    expect(seen.map(({ type }) => type.slice('plugin-editor-'.length))).to.deep.equal([
      'dirty',
      'save',
      'ready',
    ]);
    expect(named(seen, 'save')[0]).to.include({ fn: 'add-record' });
  });

  it('is saved again when there is more, within the same time limit', async () => {
    const all = await openSavable();
    await makeDirty(all);
    all.element.fn = 'g';
    await replyToSave(all, await untilSaveRequest(all), {}, true);
    await flushMessages(all.element);
    await clock.advance(100);
    await replyToSave(all, await untilSaveRequest(all, 2));
    expect(await all.received.until('open', 2)).to.include({ fn: 'g' });
    expect(named(all.seen, 'discard')).to.have.length(0);
  });

  it('is not asked of a plugin that was opened in the pause before the editor is asked again', async () => {
    const all = await openSavable();
    const { element, received } = all;
    await makeDirty(all);
    element.fn = 'g';
    await replyToSave(all, await untilSaveRequest(all), {}, true);
    await flushMessages(element);
    // The editor saves by itself.
    await makeDirty(all, false);
    element.fn = 'h';
    expect(await received.until('open', 2)).to.include({ fn: 'h' });
    await clock.advance(100);
    await flushMessages(element);
    expect(received.of('save-request')).to.have.length(1);
  });

  it('causes a question with the reason and the next target when saving fails', async () => {
    const all = await openSavable();
    const { element, seen } = all;
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    await makeDirty(all);
    apply(element, { fn: 'g', namespace: 'm' });
    await replyToSave(all, await untilSaveRequest(all), { error: 'a conflict' }, true);
    await flushMessages(element);
    await flush(element, all.server);
    const [event] = named(seen, 'discard') as never as [PluginEditorDiscardEvent];
    expect(event).to.include(PLUGIN);
    expect(event.next).to.deep.equal({ ...PLUGIN, namespace: 'm', fn: 'g' });
    expect(event.error).to.include({ code: 'editor' });
    expect(event.error?.message).to.contain('a conflict');
    expect(element.plugin).to.deep.include(PLUGIN);
    expect(await requestCounts(all.server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    // The editor saves by itself later.
    await makeDirty(all, false);
    expect(await all.received.until('open', 2)).to.include({ fn: 'g' });
    expect(named(seen, 'discard')).to.have.length(1);
  });

  it('causes a question when saving takes more than 2 s', async () => {
    const all = await openSavable();
    await makeDirty(all);
    all.element.fn = null;
    await untilSaveRequest(all);
    expect(clock.waits).to.include(2000);
    await clock.advance(2000);
    await untilState(all.element, 'idle');
    const [event] = named(all.seen, 'discard') as never as [PluginEditorDiscardEvent];
    expect(event.error?.message).to.match(/ms/);
    // There is no next target.
    expect(event).not.to.have.property('next');
  });

  it('is saved once for several changes, of which the latest is made', async () => {
    const all = await openSavable();
    const { element, received } = all;
    await makeDirty(all);
    for (const fn of ['g', 'h', 'i']) {
      element.fn = fn;
      await element.updateComplete;
    }
    await replyToSave(all, await untilSaveRequest(all));
    expect(await received.until('open', 2)).to.include({ fn: 'i' });
    await untilState(element, 'ready');
    expect(received.of('save-request')).to.have.length(1);
    expect(received.of('open')).to.have.length(2);
  });

  it('causes no question when the change is undone meanwhile', async () => {
    const all = await openSavable();
    const { element } = all;
    await makeDirty(all);
    element.fn = 'g';
    const saveRequest = await untilSaveRequest(all);
    element.fn = 'add-record';
    await element.updateComplete;
    await replyToSave(all, saveRequest, { error: 'no' }, true);
    await flushMessages(element);
    await flush(element, all.server);
    expect(named(all.seen, 'discard')).to.have.length(0);
    expect(element.state).to.equal('ready');
    expect(await requestCounts(all.server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('shares its request with save()', async () => {
    const all = await openSavable();
    await makeDirty(all);
    const saving = all.element.save();
    all.element.fn = 'g';
    await all.element.updateComplete;
    await replyToSave(all, await untilSaveRequest(all));
    await saving;
    expect(await all.received.until('open', 2)).to.include({ fn: 'g' });
    expect(all.received.of('save-request')).to.have.length(1);
  });

  it('is saved by save() before a change that waits is made', async () => {
    const all = await openSavable();
    const { element, received, seen } = all;
    await makeDirty(all);
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    element.fn = 'g';
    await replyToSave(all, await untilSaveRequest(all), { error: 'no' }, true);
    await flushMessages(element);
    expect(named(seen, 'discard')).to.have.length(1);
    const saving = element.save();
    await replyToSave(all, await untilSaveRequest(all, 2));
    await saving;
    expect(await received.until('open', 2)).to.include({ fn: 'g' });
    expect(named(seen, 'save')).to.have.length(1);
  });

  it('is not followed by two errors for one attribute that cannot be used', async () => {
    const all = await openSavable();
    const { element, seen } = all;
    await makeDirty(all);
    element.ident = 'x';
    await replyToSave(all, await untilSaveRequest(all));
    await untilState(element, 'error');
    await element.updateComplete;
    element.label = 'another';
    await element.updateComplete;
    expect(named(seen, 'error')).to.have.length(1);
  });

  it('causes a question without saving when template alone changes', async () => {
    const all = await openSavable();
    await makeDirty(all);
    all.element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    all.element.template = 'javascript';
    await all.element.updateComplete;
    const [event] = named(all.seen, 'discard') as never as [PluginEditorDiscardEvent];
    expect(event).not.to.have.property('error');
    expect(event.next).to.deep.equal(PLUGIN);
    expect(all.received.of('save-request')).to.have.length(0);
  });

  it('keeps its language when saving creates the plugin while a change of template waits', async () => {
    const all = await openSavable();
    const { element, received } = all;
    sendFromEditor(element, received, { type: 'ready', language: 'typescript', exists: false });
    await makeDirty(all);
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    element.template = 'javascript';
    await element.updateComplete;
    sendFromEditor(element, received, { type: 'ready', language: 'typescript', exists: true });
    await makeDirty(all, false);
    await flush(element, all.server);
    expect(element.plugin).to.include({ language: 'typescript', exists: true });
    expect(element.state).to.equal('ready');
    expect(received.of('open')).to.have.length(1);
  });

  it('does not keep the token of the shown plugin from being renewed', async () => {
    const all = await openSavable();
    await makeDirty(all);
    all.element.fn = 'g';
    await untilSaveRequest(all);
    await all.element.renewToken();
    const requests = await all.server.requests({ path: '/token' });
    expect(requests.map(({ body }) => /"fn":"(.*)"/.exec(body ?? '')?.[1])).to.deep.equal([
      'add-record',
      'add-record',
    ]);
  });

  it('is saved before reload(), and discarded without a question with discard', async () => {
    const all = await openSavable();
    const { element, received } = all;
    await makeDirty(all);
    const reloading = element.reload();
    await replyToSave(all, await untilSaveRequest(all));
    await reloading;
    expect(received.of('open').at(-1)).to.include({ token: 'token-2' });
    await makeDirty(all);
    await element.reload({ discard: true });
    expect(received.of('save-request')).to.have.length(1);
    expect(named(all.seen, 'discard')).to.have.length(0);
    expect(received.of('open').at(-1)).to.include({ token: 'token-3' });
  });
});
