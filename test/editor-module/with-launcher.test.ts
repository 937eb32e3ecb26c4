import { expect } from '@open-wc/testing';

import { connectLauncher } from '../../src/editor.ts';
import { fakeClock } from '../element/fake-clock.ts';
import {
  untilChangeTo,
  frameOf,
  frames,
  untilState,
  mount,
  requestCounts,
} from '../element/plugin-editor-setup.ts';
import {
  evaluateIn,
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
} from '../element/protocol-setup.ts';
import { moduleServer } from './module-page.ts';

const OPEN = `capabilities: ['open'],`;

describe('connectLauncher() with <plugin-editor>', () => {
  for (const delivery of ['message', 'url']) {
    it(`opens the plugin and is ready (${delivery} delivery)`, async () => {
      const server = await moduleServer();
      const received = recordMessages();
      const element = mountWithMessages(server, { 'token-delivery': delivery, template: 'typescript' });
      const events = recordEvents(element);
      const { open } = (await received.until('onOpen')) as never as { open: Record<string, string> };
      const { expiresAt, appearance, ...rest } = open;
      expect(appearance).to.include({ colorScheme: 'light' });
      expect(rest).to.deep.equal({
        builder: server.url(),
        ident: 'com.example.tenant-1',
        namespace: 'default',
        fn: 'add-record',
        template: 'typescript',
        token: 'token-1',
      });
      expect(Date.parse(expiresAt as string) - Date.now()).to.be.within(840_000, 900_000);
      await untilState(element, 'ready');
      await flushMessages(element);
      expect(named(events, 'ready').at(-1)?.['confirmed']).to.equal(true);
    });
  }

  it('reports everything as events', async () => {
    const server = await moduleServer();
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    const events = recordEvents(element);
    evaluateIn(
      frameOf(element).contentWindow,
      `launcher.dirty(true);
       launcher.save();
       launcher.dirty(false);
       launcher.build({ succeeded: true, outputLog: 'log', more: 1 });
       launcher.test({ name: 'n', result: 'r' });
       launcher.test({ error: Object.assign(new Error('e'), { code: 'c', f() {} }) });
       launcher.test({ name: 'n', result: 'r', passed: false });
       launcher.deploy({ version: 'v1.0.0' });
       launcher.deploy({ version: 'v1.0.0', unchanged: true });
       launcher.live({ version: 'v0.9.0' });
       launcher.live({ version: null });`,
    );
    await flushMessages(element);
    const fields = events.map((event) => Object.assign({}, event, { isTrusted: undefined }));
    const plugin = {
      ident: 'com.example.tenant-1',
      namespace: 'default',
      fn: 'add-record',
      isTrusted: undefined,
    };
    expect(fields).to.deep.equal([
      { ...plugin, dirty: true },
      plugin,
      { ...plugin, dirty: false },
      { ...plugin, succeeded: true, outputLog: 'log' },
      { ...plugin, name: 'n', result: 'r' },
      { ...plugin, error: { code: 'c' } },
      { ...plugin, name: 'n', result: 'r', passed: false },
      { ...plugin, version: 'v1.0.0' },
      { ...plugin, version: 'v1.0.0', unchanged: true },
      { ...plugin, version: 'v0.9.0' },
      { ...plugin, version: null },
    ]);
    expect(received.of('onOpen')).to.have.length(1);
  });

  it('shows why a plugin cannot be opened', async () => {
    const server = await moduleServer();
    const received = recordMessages();
    const element = mountWithMessages(server, { 'editor-url': server.url('/editor?mute') });
    await received.until('onOpen');
    evaluateIn(frameOf(element).contentWindow, `launcher.error('No such language')`);
    await untilChangeTo(element, 'error');
    expect(element.error?.message).to.include('No such language');
  });

  for (const [how, onOpen] of [
    ['throws', `onOpen() { throw new Error('Not today'); }`],
    ['rejects', `async onOpen() { throw new Error('Not today'); }`],
  ] as const) {
    it(`shows what onOpen ${how} as the reason, and leaves it in the console of the frame`, async () => {
      const server = await moduleServer(`${onOpen},`);
      const received = recordMessages();
      const element = mountWithMessages(server);
      await untilChangeTo(element, 'error');
      expect(element.error).to.include({ code: 'editor' });
      expect(element.error?.message).to.include('Not today');
      await received.until('uncaught');
    });
  }

  it('gets one token for several requests', async () => {
    const server = await moduleServer();
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    evaluateIn(
      frameOf(element).contentWindow,
      `for (const reason of ['expired', 'refused']) {
         launcher.requestToken(reason).then((token) => report({ type: 'got', token }));
       }`,
    );
    const got = (await received.until('got', 2)) as never as { token: object };
    expect(got.token).to.deep.equal({ token: 'token-2' });
    expect(received.of('onToken').map(({ token }) => token)).to.deep.equal([{ token: 'token-2' }]);
    expect((await requestCounts(server))['/token']).to.equal(2);
  });

  it('gets a rejection when there is no token', async () => {
    const server = await moduleServer(
      '',
      { path: '/token', times: 1, json: { token: 't' } },
      { path: '/token', status: 403 },
    );
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    evaluateIn(
      frameOf(element).contentWindow,
      `launcher.requestToken('expired').catch((error) => report({ type: 'got', isError: error instanceof Error, message: error.message }))`,
    );
    expect(await received.until('got')).to.include({ isError: true, message: 'token-unauthorized' });
    expect(element.state).to.equal('ready');
  });

  it('opens another plugin without reloading, and drops what was begun for the previous one', async () => {
    const server = await moduleServer(OPEN);
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    const { contentWindow } = frameOf(element);
    evaluateIn(
      contentWindow,
      `launcher.requestToken('expired').catch((error) => report({ type: 'got', message: error.message }))`,
    );
    await flushMessages(element);
    element.fn = 'g';
    await received.until('onOpen', 2);
    await untilState(element, 'ready');
    expect(frameOf(element).contentWindow).to.equal(contentWindow);
    const events = recordEvents(element);
    evaluateIn(
      contentWindow,
      `plugin.dirty(true);
       plugin.save();
       plugin.requestToken('expired').catch((error) => report({ type: 'late', message: error.message }));
       launcher.deploy({ version: 'v1.0.1' });`,
    );
    expect(await received.until('late')).to.include({ message: 'closed' });
    await flushMessages(element);
    expect(events.map((event) => [event.type, event['fn']])).to.deep.equal([['plugin-editor-deploy', 'g']]);
    expect((await requestCounts(server))['/editor']).to.equal(1);
  });

  it('is told when it closes', async () => {
    const server = await moduleServer();
    const received = recordMessages();
    // The element removes the frame 250 ms after it has told the editor. Here that time passes only when the test says so,
    // because a busy machine may need longer for the reply.
    const clock = fakeClock();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    const closed = received.until('onClose');
    const closing = element.close();
    await closed;
    evaluateIn(
      frames(element)[0]?.contentWindow ?? null,
      `launcher.requestToken('missing').catch((error) => report({ type: 'late', message: error.message }))`,
    );
    expect(await received.until('late')).to.include({ message: 'closed' });
    await clock.advance(1000);
    await closing;
  });

  it('greets again on every load', async () => {
    const server = await moduleServer();
    const received = recordMessages();
    const element = mount(server);
    await received.until('onOpen');
    evaluateIn(frameOf(element).contentWindow, `location.reload()`);
    await received.until('onOpen', 2);
    await untilState(element, 'ready');
    expect(received.of('running')).to.have.length(2);
  });
});

describe('connectLauncher() outside a frame', () => {
  it('does nothing, and warns', () => {
    const added: string[] = [];
    const before = Object.getOwnPropertyDescriptor(window, 'addEventListener');
    window.addEventListener = ((type: string) => added.push(type)) as never;
    try {
      expect(connectLauncher({ onOpen: () => expect.fail() })).to.equal(undefined);
    } finally {
      if (before) Object.defineProperty(window, 'addEventListener', before);
      else delete (window as Partial<Window>).addEventListener;
    }
    expect(added).to.deep.equal([]);
  });
});
