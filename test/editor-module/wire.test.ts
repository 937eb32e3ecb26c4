import { expect, oneEvent } from '@open-wc/testing';
import * as fc from 'fast-check';

import { parseEditorMessage } from '../../src/core/parse-editor-message.ts';
import { place } from '../element/plugin-editor-setup.ts';
import {
  CHANNEL,
  evaluateIn,
  flushMessages,
  recordMessages,
  protocolPage,
  testSignal,
} from '../element/protocol-setup.ts';
import type { ScriptedServer } from '../support/scripted-server.ts';
import { OPEN, moduleServer } from './module-page.ts';

/** The page of an editor in a frame of the test, which acts as the launcher, and all that the page posts. */
async function openFrame(options = '') {
  const server = await moduleServer(options);
  const received = recordMessages();
  const posted: { data: Record<string, unknown>; origin: string }[] = [];
  const frame = document.createElement('iframe');
  const record = ({ data, source, origin }: MessageEvent) => {
    if (source === frame.contentWindow && !data.received && !data.mark) posted.push({ data, origin });
  };
  addEventListener('message', record, { signal: testSignal() });
  frame.src = server.url('/editor?mute');
  place().append(frame);
  await received.until('running');
  const postToFrame = (message: unknown) => frame.contentWindow?.postMessage(message, server.origin);
  /** The callbacks that were called, once all messages have arrived. */
  const calls = async () => {
    await flushMessages(frame);
    return received.messages.filter(({ type }) => type.startsWith('on'));
  };
  return { server, received, posted, frame, postToFrame, calls };
}

describe('the messages that an editor sends', () => {
  for (const [options, hello] of [
    ['', { ...CHANNEL, type: 'hello' }],
    [`capabilities: ['open', 'x'],`, { ...CHANNEL, type: 'hello', capabilities: ['open', 'x'] }],
  ] as const) {
    it(`begin with a greeting (options: "${options}")`, async () => {
      const { posted, frame } = await openFrame(options);
      await flushMessages(frame);
      expect(posted.map(({ data }) => data)).to.deep.equal([hello]);
    });
  }

  it('are exactly those of the protocol, and the launcher accepts each', async () => {
    const { posted, frame, postToFrame, server } = await openFrame();
    postToFrame(OPEN);
    evaluateIn(
      frame.contentWindow,
      `launcher.ready();
       launcher.error('why');
       launcher.dirty(true);
       launcher.save();
       launcher.build({ succeeded: false, outputLog: 'l', diagnostics: [] });
       launcher.test({});
       launcher.test({ name: 'n', result: 'r', error: { code: 'c', message: 'm' } });
       launcher.deploy({ version: 'v1.0.0' });
       for (const reason of ['missing', 'expired', 'refused']) launcher.requestToken(reason).catch(() => {});`,
    );
    await flushMessages(frame);
    const session = 's1';
    expect(posted.slice(1).map(({ data }) => data)).to.deep.equal(
      [
        { type: 'ready' },
        { type: 'error', message: 'why' },
        { type: 'dirty', dirty: true },
        { type: 'save' },
        { type: 'build', succeeded: false, outputLog: 'l' },
        { type: 'test' },
        { type: 'test', name: 'n', result: 'r', error: { code: 'c', message: 'm' } },
        { type: 'deploy', version: 'v1.0.0' },
        { type: 'token-request', reason: 'missing' },
        { type: 'token-request', reason: 'expired' },
        { type: 'token-request', reason: 'refused' },
      ].map((message) => ({ ...CHANNEL, session, ...message })),
    );
    for (const { data, origin } of posted) {
      const taken = parseEditorMessage(data, session, []);
      expect({ ...CHANNEL, ...('session' in data && { session }), ...taken }).to.deep.equal(data);
      expect(origin).to.equal(server.origin);
    }
  });

  it('are only the greeting before the first open and after close', async () => {
    const { posted, frame, postToFrame } = await openFrame();
    const sendEveryMessage = `launcher.ready(); launcher.save(); launcher.requestToken('missing').catch(() => {});`;
    evaluateIn(frame.contentWindow, sendEveryMessage);
    await flushMessages(frame);
    expect(posted).to.have.length(1);
    postToFrame(OPEN);
    postToFrame({ ...CHANNEL, type: 'close', session: 's1' });
    evaluateIn(frame.contentWindow, sendEveryMessage);
    await flushMessages(frame);
    expect(posted).to.have.length(1);
  });

  it('end with disconnect()', async () => {
    const { posted, frame, postToFrame, calls } = await openFrame();
    postToFrame(OPEN);
    evaluateIn(frame.contentWindow, 'launcher.disconnect(); launcher.ready()');
    postToFrame({ ...OPEN, session: 's2' });
    expect(await calls()).to.have.length(1);
    expect(posted).to.have.length(1);
  });
});

describe('the messages that an editor accepts', () => {
  it('are an open with all that is required, then tokens and a close in its session', async () => {
    const { postToFrame, calls } = await openFrame();
    postToFrame({ ...OPEN, template: 'typescript', expiresAt: '2030-01-01T00:00:00.000Z', later: 1 });
    postToFrame({ ...CHANNEL, type: 'token', session: 's1', token: 't2' });
    postToFrame({
      ...CHANNEL,
      type: 'token',
      session: 's1',
      token: 't3',
      expiresAt: '2030-01-02T00:00:00.000Z',
    });
    postToFrame({ ...CHANNEL, type: 'close', session: 's1' });
    const { channel, version, type, session, ...open } = OPEN;
    expect([channel, version, type, session]).to.have.length(4);
    expect((await calls()).map(({ type: name, open: it, token }) => [name, it ?? token])).to.deep.equal([
      ['onOpen', { ...open, template: 'typescript', expiresAt: '2030-01-01T00:00:00.000Z' }],
      ['onToken', { token: 't2' }],
      ['onToken', { token: 't3', expiresAt: '2030-01-02T00:00:00.000Z' }],
      ['onClose', undefined],
    ]);
  });

  it('include another open, which ends the wait for a token of the previous plugin', async () => {
    const { frame, postToFrame, received } = await openFrame();
    postToFrame(OPEN);
    evaluateIn(
      frame.contentWindow,
      `launcher.requestToken('expired').catch(({ message }) => report({ type: 'got', message }))`,
    );
    postToFrame({ ...OPEN, session: 's2' });
    postToFrame({ ...CHANNEL, type: 'token', session: 's2', token: 't2' });
    expect(await received.until('got')).to.include({ message: 'closed' });
  });

  it('are not of another session, channel or version, and not incomplete', async () => {
    const { postToFrame, calls } = await openFrame();
    postToFrame(OPEN);
    for (const type of ['token', 'token-failed', 'close']) {
      for (const wrong of [{ session: 's0' }, { session: undefined }, { channel: 'x' }, { version: 2 }]) {
        postToFrame({ ...CHANNEL, type, session: 's1', token: 't', code: 'c', ...wrong });
      }
    }
    for (const token of ['', 7, null, undefined])
      postToFrame({ ...CHANNEL, type: 'token', session: 's1', token });
    for (const odd of [null, undefined, 'open', 7, [], [OPEN], new Map()]) postToFrame(odd);
    expect(await calls()).to.have.length(1);
  });

  for (const whose of ['sameOrigin', 'crossSite'] as const) {
    it(`are not from a frame beside it (${whose})`, async () => {
      const { server, postToFrame, calls, received, posted } = await openFrame();
      postToFrame(OPEN);
      const other = document.createElement('iframe');
      await server.on({ path: '/other', html: protocolPage({ hello: null }) });
      other.src = server[whose].url('/other');
      place().append(other);
      await oneEvent(other, 'load');
      const messages = [
        { ...OPEN, session: 's9' },
        { ...CHANNEL, type: 'close', session: 's1' },
      ];
      evaluateIn(
        other.contentWindow,
        `for (const frame of Array.from(parent.frames)) for (const it of ${JSON.stringify(messages)}) frame.postMessage(it, '*')`,
      );
      await flushMessages(other);
      expect(await calls()).to.have.length(1);
      expect(received.of('onClose')).to.have.length(0);
      expect(posted).to.have.length(1);
    });
  }

  it('do not include an open from an opaque origin, which could not be answered', async () => {
    const server: ScriptedServer = await moduleServer();
    const received = recordMessages();
    const outer = document.createElement('iframe');
    outer.setAttribute('sandbox', 'allow-scripts');
    outer.srcdoc = `<iframe src="${server.url('/editor')}"></iframe><script>
      addEventListener('message', ({ data, source }) => {
        if (data.type === 'hello') {
          source.postMessage(${JSON.stringify(OPEN)}, '*');
          source.postMessage({ evaluate: "report({ type: 'alive' })" }, '*');
        } else parent.postMessage(data, '*');
      });</script>`;
    place().append(outer);
    await received.until('alive');
    expect(received.of('onOpen')).to.have.length(0);
  });

  it('include an open if and only if the protocol allows it', async () => {
    const { frame, postToFrame, calls } = await openFrame();
    const text = fc.oneof(
      { weight: 8, arbitrary: fc.string({ minLength: 1 }) },
      fc.constantFrom('', 0, 7, null, true, [], {}),
    );
    const near = fc.record(
      Object.fromEntries(
        ['session', 'builder', 'ident', 'namespace', 'fn', 'token', 'template', 'expiresAt'].map((name) => [
          name,
          text,
        ]),
      ),
      { requiredKeys: ['session', 'builder', 'fn'] },
    );
    const required = ['builder', 'ident', 'namespace', 'fn', 'token'];
    const isText = (value: unknown) => typeof value === 'string' && value !== '';
    const samples: Record<string, unknown>[] = fc.sample(near, 400);
    for (const sample of samples) postToFrame({ ...CHANNEL, type: 'open', ...sample });
    const expected = samples
      // Messages about a plugin need the name of its session.
      .filter((sample) => ['session', ...required].every((name) => isText(sample[name])))
      .map((sample) =>
        Object.fromEntries(
          [...required, 'template', 'expiresAt']
            .filter((name) => isText(sample[name]))
            .map((name) => [name, sample[name]]),
        ),
      );
    expect((await calls()).map(({ open }) => open)).to.deep.equal(expected);
    expect(expected.length).to.be.within(20, 380);
    expect(frame.isConnected).to.equal(true);
  });
});
