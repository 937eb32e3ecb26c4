import { expect } from '@open-wc/testing';

import * as events from '../../src/element/events.ts';
import type { PluginEditorDiscardEvent } from '../../src/element/events.ts';
import { untilChangeTo, flush, frameOf, untilState, requestCounts } from './plugin-editor-setup.ts';
import { NOTHING, left, watchTraces } from './plugin-editor-traces.ts';
import { PLUGIN, makeDirty, openEditor } from './protocol-opened.ts';
import { apply, evaluateIn, flushMessages, named, sendFromEditor } from './protocol-setup.ts';

describe('messages of the editor', () => {
  const cases: [type: string, fields: object, Class: new (...args: never[]) => Event, gone?: string[]][] = [
    ['save', {}, events.PluginEditorSaveEvent],
    ['build', { succeeded: true, outputLog: 'ok\n' }, events.PluginEditorBuildEvent],
    ['build', { succeeded: false, outputLog: '' }, events.PluginEditorBuildEvent],
    ['test', {}, events.PluginEditorTestEvent, ['name', 'result', 'error']],
    ['test', { name: 'first', result: '4' }, events.PluginEditorTestEvent, ['error']],
    ['test', { error: { code: 'timeout', message: 'm' } }, events.PluginEditorTestEvent, ['name', 'result']],
    ['deploy', { version: 'v1.0.0' }, events.PluginEditorDeployEvent],
    ['dirty', { dirty: true }, events.PluginEditorDirtyEvent],
  ];
  it('become events that name the plugin', async () => {
    const { element, received, seen } = await openEditor();
    for (const [type, fields, Class, gone = []] of cases) {
      seen.length = 0;
      sendFromEditor(element, received, { type, ...fields });
      await flushMessages(element);
      expect(seen).to.have.length(1);
      const [event] = seen as [Event & Record<string, unknown>];
      expect(event.type).to.equal(`plugin-editor-${type}`);
      expect(event).to.be.instanceOf(Class);
      expect(event).to.deep.include({ ...PLUGIN, ...fields });
      for (const name of gone) expect(event).not.to.have.property(name);
      expect(event.bubbles && event.composed && !event.cancelable).to.equal(true);
      expect(element.state).to.equal('ready');
    }
  });

  const wrong: [string, object][] = [
    ['build', { succeeded: 'yes', outputLog: '' }],
    ['build', { succeeded: true }],
    ['test', { name: 7 }],
    ['deploy', {}],
    ['dirty', {}],
    ['dirty', { dirty: 'false' }],
    ['save', { version: 2 }],
    ['save', { channel: 'other' }],
    ['state', { state: 'error' }],
    ['constructor', {}],
    ['__proto__', {}],
  ];
  it('are ignored when they do not parse', async () => {
    const { element, received, seen } = await openEditor();
    seen.length = 0;
    for (const [type, fields] of wrong) sendFromEditor(element, received, { type, ...fields });
    evaluateIn(
      frameOf(element).contentWindow,
      `for (const x of [null, 1, 'save', [], {}]) parent.postMessage(x, '*')`,
    );
    await flushMessages(element);
    expect(seen).to.have.length(0);
    sendFromEditor(element, received, { type: 'save' });
    await flushMessages(element);
    expect(seen).to.have.length(1);
  });

  it('become one event for each change of dirty', async () => {
    const all = await openEditor();
    for (const dirty of [false, true, true, false, false]) await makeDirty(all, dirty);
    expect(named(all.seen, 'dirty').map(({ dirty }) => dirty)).to.deep.equal([true, false]);
  });
});

describe('unsaved work', () => {
  /** A listener that keeps the work. */
  const keep = (event: Event) => event.preventDefault();

  /** An editor with unsaved work that the page keeps. */
  async function openKept() {
    const all = await openEditor();
    await makeDirty(all);
    all.element.addEventListener('plugin-editor-discard', keep);
    return all;
  }

  it('delays a change until it is lost with an editor that fails', async () => {
    const all = await openKept();
    const { element, received } = all;
    element.fn = 'g';
    await element.updateComplete;
    sendFromEditor(element, received, { type: 'error', message: 'broken' });
    expect(await received.until('open', 2)).to.include({ fn: 'g' });
    await untilState(element, 'ready');
    expect(element.plugin).to.include({ fn: 'g' });
  });

  it('delays the removal of a required attribute, and a reload that is left without one', async () => {
    const all = await openKept();
    const { element, received } = all;
    element.fn = '';
    await element.updateComplete;
    await element.reload();
    expect(element.state).to.equal('ready');
    sendFromEditor(element, received, { type: 'dirty', dirty: false });
    await untilState(element, 'idle');
    // An error that nothing handles would fail this test.
    await flush(element, all.server);
  });

  it('keeps the function that gives tokens, while its replacement by an endpoint waits', async () => {
    const plugins: string[] = [];
    const fetchToken = ({ fn }: { fn: string }) => Promise.resolve(`own-${plugins.push(fn)}`);
    const all = await openEditor({ fetchToken: async () => 'first', 'token-endpoint': null });
    const { element, received, server } = all;
    apply(element, { fetchToken });
    await element.updateComplete;
    await makeDirty(all);
    element.addEventListener('plugin-editor-discard', keep);
    apply(element, { fetchToken: undefined, 'token-endpoint': server.url('/token') });
    await element.updateComplete;
    await element.renewToken();
    expect(plugins).to.deep.equal(['add-record']);
    expect(await received.until('token')).to.include({ token: 'own-1' });
    await makeDirty(all, false);
    expect(await received.until('open', 2)).to.include({ token: 'token-1' });
  });

  it('delays a change until it is saved when the page keeps it', async () => {
    const all = await openKept();
    const { element, received, seen, server } = all;
    const frame = frameOf(element);
    apply(element, { fn: 'g', template: 'javascript' });
    await element.updateComplete;
    const [event] = named(seen, 'discard') as never as [PluginEditorDiscardEvent];
    expect(event).to.be.instanceOf(events.PluginEditorDiscardEvent);
    expect(event).to.include({ ...PLUGIN, cancelable: true, bubbles: true, composed: true });
    await flush(element, server);
    expect(frameOf(element)).to.equal(frame);
    expect(frame.title).to.equal('Plugin editor: add-record');
    expect(element.state).to.equal('ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    // The editor continues, and its messages are accepted as before.
    sendFromEditor(element, received, { type: 'save' });
    await flushMessages(element);
    expect(named(seen, 'save')[0]).to.include({ fn: 'add-record' });
    const loading = untilChangeTo(element, 'loading');
    sendFromEditor(element, received, { type: 'dirty', dirty: false });
    await loading;
    await untilState(element, 'ready');
    expect(frameOf(element).title).to.equal('Plugin editor: g');
    expect(received.of('open').at(-1)).to.include({ fn: 'g', template: 'javascript', token: 'token-2' });
    expect(named(seen, 'discard')).to.have.length(1);
  });

  it('is discarded when the page allows that', async () => {
    const all = await openEditor();
    await makeDirty(all);
    all.element.fn = 'g';
    await untilChangeTo(all.element, 'ready');
    expect(all.seen.map(({ type }) => type.slice('plugin-editor-'.length))).to.deep.equal([
      'ready',
      'dirty',
      'discard',
      'dirty',
      'ready',
    ]);
    expect(named(all.seen, 'dirty')[1]).to.include({ ...PLUGIN, dirty: false });
    expect(all.element.dirty).to.equal(false);
  });

  it('causes a question before an editor with the capability open gets the next plugin', async () => {
    const all = await openEditor({}, { capabilities: ['open'] });
    const { element, received, seen } = all;
    await makeDirty(all);
    element.addEventListener('plugin-editor-discard', keep);
    element.fn = 'g';
    await element.updateComplete;
    expect(named(seen, 'discard')).to.have.length(1);
    expect(received.of('open')).to.have.length(1);
    sendFromEditor(element, received, { type: 'dirty', dirty: false });
    expect(await received.until('open', 2)).to.include({ fn: 'g' });
  });

  const dropping: [string, Record<string, unknown>][] = [
    ['ident', { ident: 'com.example.other' }],
    ['namespace', { namespace: null }],
    ['token-endpoint', { 'token-endpoint': '/elsewhere' }],
    ['template', { template: 't' }],
    ['builder', { builder: 'https://b.example' }],
    ['editor-url', { 'editor-url': 'https://e.example' }],
    ['token-delivery', { 'token-delivery': 'url' }],
    ['what is required', { fn: null }],
    ['something that cannot be used', { ident: 'x' }],
  ];
  it('causes a question before each change that would lose it', async () => {
    const all = await openKept();
    const { element, server } = all;
    for (const [name, changes] of dropping) {
      all.seen.length = 0;
      const former = Object.keys(changes).map((attribute) => [attribute, element.getAttribute(attribute)]);
      apply(element, changes);
      await flush(element, server);
      expect(named(all.seen, 'discard'), name).to.have.length(1);
      expect(element.state, name).to.equal('ready');
      apply(element, Object.fromEntries(former) as Record<string, string | null>);
      await flush(element, server);
      expect(await requestCounts(server), name).to.deep.equal({ '/token': 1, '/editor': 1 });
    }
  });

  it('causes no question when nothing would be lost', async () => {
    const all = await openEditor();
    await makeDirty(all);
    apply(all.element, {
      label: 'x',
      timeout: '1000',
      credentials: 'include',
      loading: 'lazy',
      'token-method': 'GET',
    });
    Object.assign(all.element, { tokenHeaders: () => ({}), strings: {}, unguarded: true });
    await flush(all.element, all.server);
    expect(named(all.seen, 'discard')).to.have.length(0);
    expect(all.element.dirty).to.equal(true);
  });

  it('causes no change when it is kept and the change is undone', async () => {
    const all = await openKept();
    all.element.fn = 'g';
    await all.element.updateComplete;
    all.element.fn = 'add-record';
    await all.element.updateComplete;
    await makeDirty(all, false);
    await flush(all.element, all.server);
    expect(await requestCounts(all.server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('delays reload() when it is kept', async () => {
    const all = await openKept();
    const { element, seen, received } = all;
    await element.reload();
    expect(named(seen, 'discard')).to.have.length(1);
    expect(received.of('open')).to.have.length(1);
    sendFromEditor(element, received, { type: 'dirty', dirty: false });
    expect(await received.until('open', 2)).to.include({ token: 'token-2' });
    expect(named(seen, 'discard')).to.have.length(1);
    await untilState(element, 'ready');
    expect((await requestCounts(all.server))['/token']).to.equal(2);
  });

  it('is discarded without a question by reload({ discard: true }), with any delayed change', async () => {
    const all = await openKept();
    const { element, seen, received } = all;
    element.fn = 'g';
    await element.updateComplete;
    await element.reload({ discard: true });
    expect(named(seen, 'discard')).to.have.length(1);
    expect(received.of('open').at(-1)).to.include({ fn: 'g', token: 'token-2' });
    expect(element.dirty).to.equal(false);
    expect((await requestCounts(all.server))['/token']).to.equal(2);
  });

  it('no longer delays a change once its page is gone', async () => {
    const all = await openKept();
    const { element, received } = all;
    element.fn = 'g';
    await element.updateComplete;
    evaluateIn(frameOf(element).contentWindow, 'location.reload()');
    await untilChangeTo(element, 'ready');
    expect(received.of('open').at(-1)).to.include({ fn: 'g', token: 'token-2' });
  });

  it('asks the user before leaving the page, for as long as there is any', async () => {
    const leave = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }));
    const all = await openEditor();
    expect(leave()).to.equal(false);
    await makeDirty(all);
    expect(leave()).to.equal(true);
    all.element.unguarded = true;
    expect(leave()).to.equal(false);
    all.element.unguarded = false;
    expect(leave()).to.equal(true);
    await makeDirty(all, false);
    expect(leave()).to.equal(false);
    await makeDirty(all);
    all.element.remove();
    expect(leave()).to.equal(false);
    expect(all.element.dirty).to.equal(false);
  });

  it('leaves no listener when it is gone', async () => {
    const traces = watchTraces();
    const all = await openEditor();
    const before = left(traces)['listeners'] as number;
    await makeDirty(all);
    expect(left(traces)['listeners']).to.equal(before + 1);
    await makeDirty(all, false);
    expect(left(traces)['listeners']).to.equal(before);
    await makeDirty(all);
    all.element.remove();
    await all.element.updateComplete;
    expect(left(traces)).to.deep.equal(NOTHING);
  });
});
