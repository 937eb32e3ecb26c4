import { expect } from '@open-wc/testing';

import { PluginEditorError } from '../../src/index.ts';
import { fakeClock } from './fake-clock.ts';
import { leaks, watchConsole } from './plugin-editor-leaks.ts';
import {
  SECRET,
  editorServer,
  eventsOf,
  untilError,
  flush,
  untilState,
  mount,
  part,
  requestCounts,
} from './plugin-editor-setup.ts';

interface Row {
  title: string;
  fetchToken: () => unknown;
  timeout?: number;
  code: PluginEditorError['code'];
  /** Matches the message of the error. */
  message: RegExp;
}

const offline = new Error('offline');
const wrong = { code: 'token-invalid', message: /fetchToken returned wrong data: / } as const;

const rows: Row[] = [
  {
    title: 'throws',
    fetchToken: () => {
      throw offline;
    },
    code: 'token-source',
    message: /fetchToken failed; its error is the cause/,
  },
  {
    title: 'rejects',
    fetchToken: () => Promise.reject(offline),
    code: 'token-source',
    message: /fetchToken failed; its error is the cause/,
  },
  {
    title: 'never settles',
    fetchToken: () => new Promise(() => {}),
    timeout: 1000,
    code: 'token-timeout',
    message: /fetchToken did not answer within 1000 ms/,
  },
  { title: 'answers undefined', fetchToken: () => undefined, ...wrong },
  { title: 'answers null', fetchToken: async () => null, ...wrong },
  { title: 'answers a number', fetchToken: () => 5, ...wrong },
  { title: 'answers an empty string', fetchToken: () => '', ...wrong },
  { title: 'answers a list', fetchToken: () => [SECRET], ...wrong },
  { title: 'answers a Response', fetchToken: () => new Response(SECRET), ...wrong },
  { title: 'answers a record without a token', fetchToken: () => ({ tokne: SECRET }), ...wrong },
  { title: 'answers a record with a numeric token', fetchToken: () => ({ token: 5 }), ...wrong },
  { title: 'answers a function', fetchToken: () => () => SECRET, ...wrong },
  {
    title: 'answers 70 KB',
    fetchToken: () => SECRET.repeat(7168),
    ...wrong,
    message: /larger than 65536 bytes/,
  },
  {
    title: 'answers a token that is not well-formed',
    fetchToken: () => `${SECRET}\uD800`,
    code: 'token-invalid',
    message: /token must be well-formed/,
  },
];

describe('<plugin-editor> with fetchToken', () => {
  for (const { title, fetchToken, timeout = 30_000, code, message } of rows) {
    it(`ends in ${code} when it ${title}`, async () => {
      const lines = watchConsole();
      const server = await editorServer();
      let calls = 0;
      const counted = () => {
        calls += 1;
        return fetchToken();
      };
      const clock = code === 'token-timeout' ? fakeClock() : undefined;
      const element = mount(server, { fetchToken: counted, timeout });
      const events = eventsOf(element);
      await element.updateComplete;
      await clock?.advance(timeout);
      const error = await untilError(element);

      expect(error).to.be.instanceOf(PluginEditorError);
      expect(error).to.include({ code, status: undefined });
      expect(error.message).to.match(message);
      if (code === 'token-source') expect(error.cause).to.equal(offline);
      expect(part(element, 'error')?.textContent).not.to.contain(error.message);
      expect(lines.map(String).filter((line) => line.includes(error.message))).to.have.length(1);
      expect(calls).to.equal(1);
      await flush(element, server);
      expect(await requestCounts(server)).to.deep.equal({});
      expect(leaks(element, events, lines)).to.deep.equal([]);

      element.fetchToken = async () => SECRET;
      part(element, 'retry')?.click();
      await untilState(element, 'ready');
      expect(calls).to.equal(1);
      expect(leaks(element, events, lines)).to.deep.equal([]);
    });
  }

  it('takes a PluginEditorError that it rejects with as its error', async () => {
    const server = await editorServer();
    const own = new PluginEditorError('token-unauthorized', 'Sign in first', { status: 401, attempts: 2 });
    const element = mount(server, { fetchToken: () => Promise.reject(own) });
    expect(await untilError(element)).to.equal(own);
    expect(part(element, 'error')?.textContent).to.contain('your session has ended');
  });

  it('is not in error when the function rejects because its signal aborted', async () => {
    const server = await editorServer();
    const fetchToken = ({ signal }: { signal: AbortSignal }) =>
      new Promise<string>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    const element = mount(server, { fetchToken });
    const events = eventsOf(element);
    await element.updateComplete;
    element.fetchToken = async () => SECRET;
    element.fn = 'other';
    await untilState(element, 'ready');
    expect(events.map(({ type }) => type)).not.to.include('plugin-editor-error');
  });
});
