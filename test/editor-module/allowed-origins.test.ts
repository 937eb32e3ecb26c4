import { expect, oneEvent } from '@open-wc/testing';

import { connectLauncher } from '../../src/editor.ts';
import { fakeClock } from '../element/fake-clock.ts';
import { untilError, untilState, place } from '../element/plugin-editor-setup.ts';
import {
  CHANNEL,
  evaluateIn,
  flushMessages,
  recordMessages,
  mountWithMessages,
} from '../element/protocol-setup.ts';
import { OPEN, moduleServer } from './module-page.ts';

/** The option as code for the page of an editor. */
const allowing = (...origins: string[]) =>
  `capabilities: ['open'], allowedOrigins: ${JSON.stringify(origins)},`;

describe('allowedOrigins', () => {
  it('let pages of these origins open plugins, renew tokens and close', async () => {
    const server = await moduleServer(allowing('https://other.example', location.origin));
    const received = recordMessages();
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    await element.renewToken();
    await received.until('onToken');
    const closed = received.until('onClose');
    await element.close();
    expect(await closed).to.include({ type: 'onClose' });
  });

  const others: [why: string, origins: string[]][] = [
    [
      'they are others, the beginning of its own, and its own with another scheme or port',
      [
        'https://other.example',
        location.origin.slice(0, -1),
        location.origin.replace('http:', 'https:'),
        `http://${location.hostname}:1`,
      ],
    ],
    ['there are none', []],
  ];
  for (const [why, origins] of others) {
    it(`make an editor ignore the page, and post only its greeting, when ${why}`, async () => {
      const server = await moduleServer(allowing(...origins));
      const received = recordMessages();
      const posted: unknown[] = [];
      const frame = document.createElement('iframe');
      const record = ({ data, source }: MessageEvent) => {
        if (source === frame.contentWindow && !data.received && !data.mark) posted.push(data);
      };
      addEventListener('message', record);
      frame.src = server.url('/editor');
      place().append(frame);
      await received.until('running');
      for (const type of ['open', 'token', 'token-failed', 'close'])
        frame.contentWindow?.postMessage({ ...OPEN, code: 'c', type }, server.origin);
      evaluateIn(
        frame.contentWindow,
        `launcher.ready(); launcher.error('x'); launcher.dirty(true); launcher.save(); launcher.deploy({ version: 'v1' });
         launcher.requestToken('missing').catch(({ message }) => report({ type: 'got', message }));`,
      );
      expect(await received.until('got')).to.include({ message: 'closed' });
      await flushMessages(frame);
      removeEventListener('message', record);
      expect(received.messages.filter(({ type }) => type.startsWith('on'))).to.have.length(0);
      expect(posted).to.deep.equal([{ ...CHANNEL, type: 'hello', capabilities: ['open'] }]);
    });
  }

  it('leave an element on another page with an error', async () => {
    const server = await moduleServer(allowing('https://other.example'));
    const received = recordMessages();
    const clock = fakeClock();
    const element = mountWithMessages(server, { timeout: '2000', fetchToken: async () => 'token' });
    await received.until('running');
    await flushMessages(element);
    await clock.advance(2000);
    expect(await untilError(element)).to.include({ code: 'frame-timeout' });
    expect(received.of('onOpen')).to.have.length(0);
  });

  it('allow every page when there are none', async () => {
    const server = await moduleServer('allowedOrigins: undefined,');
    const element = mountWithMessages(server);
    await untilState(element, 'ready');
    expect(element.state).to.equal('ready');
  });

  it('are compared with the page that posts, not with the page around it', async () => {
    const server = await moduleServer(allowing(location.origin));
    const received = recordMessages();
    // A page of another site frames the editor, and passes its messages on.
    await server.on({
      path: '/thief',
      html: `<!doctype html><iframe src="${server.url('/editor')}"></iframe><script>
        addEventListener('message', ({ data, source }) => {
          if (data.type === 'hello') {
            source.postMessage(${JSON.stringify(OPEN)}, '*');
            source.postMessage({ evaluate: "report({ type: 'alive' })" }, '*');
          } else parent.postMessage(data, '*');
        });</script>`,
    });
    const thief = document.createElement('iframe');
    thief.src = server.crossSite.url('/thief');
    place().append(thief);
    await oneEvent(thief, 'load');
    await received.until('alive');
    expect(received.of('onOpen')).to.have.length(0);
  });

  const wrong: [entries: unknown, problem: string][] = [
    [
      ['https://app.example.com/'],
      'allowedOrigins: "https://app.example.com/" is not an origin; it should be like "https://app.example.com"',
    ],
    [
      ['HTTPS://APP.example.com'],
      '"HTTPS://APP.example.com" is not an origin; it should be like "https://app.example.com"',
    ],
    [['https://app.example.com:443'], 'it should be like "https://app.example.com"'],
    [['https://app.example.com', '*'], '"*" is not an origin; it should be like "https://app.example.com"'],
    [
      ['https://*.example.com'],
      '"https://*.example.com" is not an origin; it should be like "https://app.example.com"',
    ],
    [['null'], '"null" is not an origin'],
    [['app.example.com'], '"app.example.com" is not an origin'],
    [[''], '"" is not an origin'],
    [[/x/], '"/x/" is not an origin'],
    ['https://app.example.com', 'allowedOrigins must be an array of origins'],
    [null, 'allowedOrigins must be an array of origins'],
  ];
  // This happens outside a frame, too, so that a mistake shows before the editor is framed.
  it('reject what is no origin with an explanation', () => {
    for (const [entries, problem] of wrong) {
      const connect = () => connectLauncher({ onOpen: () => {}, allowedOrigins: entries as string[] });
      expect(connect, JSON.stringify(entries)).to.throw(TypeError, problem);
    }
  });

  it('may have the scheme of a native app', () => {
    expect(connectLauncher({ onOpen: () => {}, allowedOrigins: ['capacitor://localhost'] })).to.equal(
      undefined,
    );
  });
});
