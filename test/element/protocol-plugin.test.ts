import { expect } from '@open-wc/testing';

import { untilChangeTo, flush, frameOf, untilState } from './plugin-editor-setup.ts';
import { openEditor } from './protocol-opened.ts';
import { flushMessages, recordMessages, mountWithMessages, protocolServer } from './protocol-setup.ts';

const CAN = { capabilities: ['open', 'configure'] };
const openConfigurable = (changes = {}) => openEditor(changes, CAN);

describe('initialSource', () => {
  const source = { contents: 'export {}', lang: 'typescript', tests: [{ name: 'n', payload: 'p' }] };

  it('is sent by open as it was when set, and a new object restarts nothing', async () => {
    const mine = structuredClone(source);
    const all = await openConfigurable({ initialSource: mine });
    expect(all.received.of('open')[0]?.['initialSource']).to.deep.equal(source);
    mine.contents = 'changed';
    all.element.initialSource = { contents: 'other', lang: 'rust' };
    await flush(all.element, all.server);
    expect(all.received.of('open')).to.have.length(1);
    all.element.fn = 'g';
    expect((await all.received.until('open', 2))['initialSource']).to.deep.equal({
      contents: 'other',
      lang: 'rust',
    });
  });

  it('is sent only when no other language is asked for, and never in a URL', async () => {
    const all = await openConfigurable({
      initialSource: source,
      template: 'javascript',
      'token-delivery': 'url',
    });
    await all.received.until('open');
    expect(all.received.of('open')[0]).not.to.have.property('initialSource');
    all.element.template = 'typescript';
    expect((await all.received.until('open', 2))['initialSource']).to.deep.equal(source);
    expect(frameOf(all.element).src).not.to.contain('export');
  });

  const wrong: [string, unknown][] = [
    ['a text', 'export {}'],
    ['no contents', { lang: 'typescript' }],
    ['no language', { contents: '', lang: '' }],
    ['tests that are no list', { ...source, tests: {} }],
    ['more than 1 MiB', { ...source, contents: 'é'.repeat(2 ** 19) }],
    [
      'a cycle',
      Object.assign([], {
        contents: '',
        lang: 'x',
        get tests() {
          return [this];
        },
      }),
    ],
  ];
  it('causes a config error when it cannot be one', async () => {
    const server = await protocolServer(CAN);
    for (const [name, initialSource] of wrong) {
      const element = mountWithMessages(server, { initialSource: initialSource as object });
      if (typeof initialSource === 'string') {
        element.removeAttribute('initialSource');
        Object.assign(element, { initialSource });
      }
      await untilChangeTo(element, 'error').catch(() => {});
      expect(element.error, name).to.include({ code: 'config' });
      expect(element.error?.message, name).to.contain('initialSource');
      element.remove();
    }
  });
});

describe('plugin', () => {
  it('is what is shown, with the details from the editor, or undefined', async () => {
    const server = await protocolServer(CAN);
    const received = recordMessages();
    const element = mountWithMessages(server);
    const seen: unknown[] = [];
    element.addEventListener('plugin-editor-plugin', ({ plugin }) => {
      expect(plugin).to.equal(element.plugin);
      seen.push(plugin && { ...plugin });
    });
    expect(element.plugin).to.equal(undefined);
    await untilState(element, 'ready');
    const plugin = { ident: 'com.example.tenant-1', namespace: 'default', fn: 'add-record' };
    expect(element.plugin).to.deep.equal(plugin);
    const details = { language: 'rust', exists: false, permissions: ['read'] };
    for (let times = 0; times < 2; times++) {
      sendReady(element, received.session(), details);
      await flushMessages(element);
    }
    expect(element.plugin).to.deep.equal({ ...plugin, ...details });
    element.fn = 'g';
    await untilChangeTo(element, 'ready');
    await element.close();
    expect(seen).to.deep.equal([
      plugin,
      { ...plugin, ...details },
      undefined,
      { ...plugin, fn: 'g' },
      undefined,
    ]);
  });

  it('is in the event ready, which is fired once for each open', async () => {
    const all = await openConfigurable();
    const ready = { language: 'rust', exists: true, permissions: ['read', 'write'] };
    const events: unknown[] = [];
    all.element.addEventListener('plugin-editor-ready', ({ confirmed, language, exists, permissions }) =>
      events.push({ confirmed, language, exists, permissions }),
    );
    sendReady(all.element, all.received.session(), ready);
    await flushMessages(all.element);
    expect(events).to.have.length(0);
    expect(all.element.plugin).to.deep.include(ready);
  });
});

function sendReady(element: HTMLElement, session: string, details: object): void {
  const frame = element.shadowRoot?.querySelector('iframe');
  frame?.contentWindow?.postMessage(
    { evaluate: `send(${JSON.stringify({ type: 'ready', session, ...details })})` },
    '*',
  );
}
