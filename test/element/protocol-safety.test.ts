import { expect, oneEvent } from '@open-wc/testing';

import {
  untilError,
  flush,
  frameOf,
  untilState,
  mount,
  place,
  requestCounts,
} from './plugin-editor-setup.ts';
import { fakeClock } from './fake-clock.ts';
import type { PluginEditorElement, ScriptedServer } from './plugin-editor-setup.ts';
import {
  type ReceivedMessages,
  CHANNEL,
  evaluateIn,
  flushMessages,
  recordMessages,
  mountWithMessages,
  recordEvents,
  protocolPage,
  protocolServer,
} from './protocol-setup.ts';

/** Each message that an editor can send, with a session that an attacker has learnt. */
const everyMessage = (session: string) => [
  { type: 'hello', capabilities: ['open'] },
  { type: 'ready', session },
  { type: 'error', session, message: 'forged' },
  { type: 'token-request', session, reason: 'missing' },
  { type: 'dirty', session, dirty: true },
  { type: 'save', session },
  { type: 'build', session, succeeded: true, outputLog: '' },
  { type: 'test', session },
  { type: 'deploy', session, version: 'v9' },
];

/** A frame beside the element, with a page that uses the protocol. */
async function addFrame(url: string): Promise<HTMLIFrameElement> {
  const frame = document.createElement('iframe');
  frame.src = url;
  place().append(frame);
  await oneEvent(frame, 'load');
  return frame;
}

interface Opened {
  server: ScriptedServer;
  received: ReceivedMessages;
  element: PluginEditorElement;
  seen: Event[];
}

async function openEditor(): Promise<Opened> {
  const server = await protocolServer();
  const received = recordMessages();
  const element = mountWithMessages(server);
  await untilState(element, 'ready');
  return { server, received, element, seen: recordEvents(element) };
}

/** Makes a frame send every message to the page of the element, and waits until they arrived. */
async function sendEveryMessage(frame: HTMLIFrameElement, session: string): Promise<void> {
  const code = everyMessage(session).map((message) => `send(${JSON.stringify(message)});`);
  evaluateIn(frame.contentWindow, code.join(''));
  await flushMessages(frame);
}

describe('messages', () => {
  it('of every type are accepted from the editor itself, which the other tests rely on', async () => {
    const { element, received, seen, server } = await openEditor();
    for (const message of everyMessage(received.session()).slice(1)) {
      if (message.type !== 'error')
        evaluateIn(frameOf(element).contentWindow, `send(${JSON.stringify(message)})`);
    }
    await flushMessages(element);
    expect(seen.map(({ type }) => type.slice(14))).to.deep.equal([
      'dirty',
      'save',
      'build',
      'test',
      'deploy',
    ]);
    await server.requests({ path: '/token', count: 2 });
  });

  const strangers: [string, (server: ScriptedServer) => string][] = [
    ['a second frame of the same origin', (server) => server.url('/editor?second')],
    ['a frame of a third origin', (server) => server.crossSite.url('/editor')],
    ["a frame of the page's own origin", (server) => server.sameOrigin.url('/editor')],
  ];
  for (const [name, url] of strangers) {
    it(`from ${name} are ignored and not answered`, async () => {
      const { element, received, seen, server } = await openEditor();
      const frame = await addFrame(url(server));
      await sendEveryMessage(frame, received.session());
      await flush(element, server);
      expect(seen).to.have.length(0);
      expect(element.state).to.equal('ready');
      expect(element.dirty).to.equal(false);
      expect((await requestCounts(server))['/token']).to.equal(1);
      expect(received.messages.filter(({ by }) => by === frame.contentWindow)).to.have.length(0);
      expect(received.of('open')).to.have.length(1);
    });
  }

  it('without a source are ignored while the frame is not in the page', async () => {
    const clock = fakeClock();
    const server = await protocolServer(null);
    const element = mountWithMessages(server, { timeout: '4000' });
    await element.updateComplete;
    const frame = frameOf(element);
    const parent = frame.parentNode as ParentNode;
    frame.remove();
    // A browser gives a message no source when its sender has gone, and a frame outside the page has no window.
    const { origin } = server;
    const data = { ...CHANNEL, type: 'hello', capabilities: ['open'] };
    dispatchEvent(new MessageEvent('message', { source: null, origin, data }));
    parent.prepend(frame);
    await flush(element, server);
    await clock.advance(4000);
    expect((await untilError(element)).message).to.contain('did not greet');
  });

  it('from a page of another origin in the frame are ignored, and it is sent nothing', async () => {
    const { element, received, seen, server } = await openEditor();
    const frame = frameOf(element);
    const session = received.session();
    evaluateIn(frame.contentWindow, `send({ type: 'dirty', dirty: true, session: '${session}' })`);
    await flushMessages(frame);
    seen.length = 0;
    const before = received.messages.length;
    // It does not greet at first, because an accepted greeting would end the session that the others need.
    const script = `parent.postMessage({ mark: 'arrived' }, '*')`;
    await server.on({ path: '/away', html: protocolPage({ hello: null, script }) });
    // The frame's first page may finish loading only now, so that an event of its loading would not tell which page it is.
    const arrived = new Promise<void>((resolve) => {
      addEventListener('message', function record({ data }) {
        if (data?.mark !== 'arrived') return;
        removeEventListener('message', record);
        resolve();
      });
    });
    evaluateIn(frame.contentWindow, `location.href = ${JSON.stringify(server.crossSite.url('/away'))}`);
    await arrived;
    const [hello, ...others] = everyMessage(session);
    for (const message of [...others, { type: 'dirty', session, dirty: false }, hello]) {
      evaluateIn(frame.contentWindow, `send(${JSON.stringify(message)})`);
    }
    await flushMessages(frame);
    expect(seen).to.have.length(0);
    // An accepted greeting would have ended this.
    expect(element.dirty).to.equal(true);
    await element.renewToken();
    await flushMessages(frame);
    await element.close();
    await flush(element, server);
    expect(received.messages.slice(before)).to.deep.equal([]);
    expect((await requestCounts(server))['/token']).to.equal(2);
  });

  it('from a frame with an opaque origin are ignored', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mountWithMessages(server, { sandbox: 'allow-scripts' });
    await element.updateComplete;
    await oneEvent(frameOf(element), 'load');
    await flushMessages(element);
    await flush(element, server);
    expect(element.state).to.equal('loading');
    expect(received.messages).to.have.length(0);
  });

  it('of two elements on a page are kept apart', async () => {
    const { element, received, seen, server } = await openEditor();
    const other = mountWithMessages(server, { fn: 'other' });
    await untilState(other, 'ready');
    expect(received.of('open').map(({ fn, token }) => [fn, token])).to.deep.equal([
      ['add-record', 'token-1'],
      ['other', 'token-2'],
    ]);
    await sendEveryMessage(frameOf(other), received.of('open')[0]?.session as string);
    await flushMessages(element);
    expect(seen).to.have.length(0);
    expect(other.dirty).to.equal(false);
  });
});

describe('the token', () => {
  it('is in no URL with message delivery, and reaches no other origin', async () => {
    const { element, received, server } = await openEditor();
    const third = await addFrame(server.crossSite.url('/editor'));
    await element.renewToken();
    await received.until('token');
    await flushMessages(third);
    expect(received.messages.filter(({ by }) => by !== frameOf(element).contentWindow)).to.have.length(0);
    const requests = await server.requests();
    expect(requests.filter(({ search }) => search.includes('token'))).to.have.length(0);
    const entries = performance.getEntries().map(({ name }) => name);
    expect(entries.filter((name) => /token-\d/.test(name))).to.have.length(0);
    expect(element.shadowRoot?.innerHTML).not.to.match(/token-\d/);
  });

  it('reaches the origin of the editor alone, even with url delivery', async () => {
    const server = await protocolServer(null);
    await server.on({ path: '/away', html: protocolPage() });
    const received = recordMessages();
    const element = mount(server);
    await untilState(element, 'ready');
    const loaded = oneEvent(frameOf(element), 'load');
    evaluateIn(
      frameOf(element).contentWindow,
      `location.href = ${JSON.stringify(server.crossSite.url('/away'))}`,
    );
    await loaded;
    await flushMessages(frameOf(element));
    expect(received.messages).to.have.length(0);
  });
});
