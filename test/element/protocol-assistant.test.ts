/* oxlint-disable require-yield -- some of these generators yield nothing */
import { expect } from '@open-wc/testing';

import type { Assistant, AssistantRequest } from '../../src/core/assistant.ts';
import type { PluginEditorElement } from './plugin-editor-setup.ts';
import { fakeClock, settle } from './fake-clock.ts';
import { PLUGIN, openEditor } from './protocol-opened.ts';
import { type ReceivedMessage, flushMessages, sendFromEditor } from './protocol-setup.ts';

const CAN = { capabilities: ['open', 'configure', 'assist'] };
const QUESTION = {
  type: 'assist',
  prompt: 'Round the price.',
  language: 'typescript',
  source: 'export const run = String;',
  tests: [{ name: 'n', payload: '1' }],
  declarations: 'type Input = string;',
  problems: [{ message: 'm', severity: 'error', line: 1, column: 2 }],
  failures: [{ name: 'n', result: '2' }],
};

/** Opens an editor of a page with this assistant, of any shape. */
async function openWith(assistant: unknown, hello: object = CAN) {
  const all = await openEditor({ assistant: assistant as Assistant }, hello);
  const ask = (request = '1', changes = {}) =>
    sendFromEditor(all.element, all.received, { ...QUESTION, request, ...changes });
  /** The parts of the answer to a request, once it has ended, and how that was. */
  const answer = async (request = '1'): Promise<{ parts: object[]; end: ReceivedMessage }> => {
    for (let times = 1; ; times++) {
      const end = await all.received.until('assist-end', times);
      if (end['request'] !== request) continue;
      const parts = all.received
        .of('assist-part')
        .filter((each) => each['request'] === request)
        .map(({ text, source, tests }) => ({
          ...(text !== undefined && { text }),
          ...(source !== undefined && { source }),
          ...(tests !== undefined && { tests }),
        }));
      return { parts, end: { ...end, by: undefined } as ReceivedMessage };
    }
  };
  return { ...all, ask, answer };
}

const textOf = (parts: { text?: string }[]) => parts.map(({ text = '' }) => text).join('');

async function* nothing() {}

describe('the settings of an editor', () => {
  it('say that there is an assistant, by open and, when that changes, by configure', async () => {
    const { element, received } = await openWith(nothing);
    expect(received.of('open')[0]).to.include({ assistant: true });
    const change = async (assistant: Assistant | undefined) => {
      element.assistant = assistant;
      await element.updateComplete;
      await flushMessages(element);
      return received.of('configure').map((message) => message['assistant']);
    };
    // A new function, as React makes one at every render, is no change.
    expect(await change(async function* () {})).to.deep.equal([]);
    expect(await change(undefined)).to.deep.equal([false]);
    expect(await change(nothing)).to.deep.equal([false, true]);
    const without = await openEditor({}, CAN);
    expect(without.received.of('open').at(-1)).not.to.have.property('assistant');
  });
});

describe('an assistant', () => {
  const logged: unknown[] = [];
  const { error: realError } = console;
  beforeEach(() => {
    logged.length = 0;
    console.error = (...args: unknown[]) => void logged.push(args);
  });
  afterEach(() => {
    console.error = realError;
  });

  it('is asked with the plugin that the element shows, whatever the editor says', async () => {
    let asked: AssistantRequest | undefined;
    const all = await openWith(async function* (request: AssistantRequest) {
      asked = request;
    });
    all.ask('1', { ident: 'other.tenant', namespace: 'x', fn: 'y', more: 1, source: 'a token-1 b' });
    expect((await all.answer()).end).not.to.have.property('error');
    const { signal, ...fields } = asked as AssistantRequest;
    const { type: _, ...question } = QUESTION;
    // A token that the editor knows goes to no assistant.
    expect(fields).to.deep.equal({ ...question, ...PLUGIN, source: 'a … b' });
    expect(signal.aborted).to.equal(false);
  });

  it('answers with texts and proposals in order', async () => {
    const all = await openWith(async function* () {
      yield 'One ';
      yield 'two';
      yield { source: 's', extra: 1 };
      yield { tests: [{ name: 'n' }] };
      yield 'three';
    });
    all.ask();
    const { parts, end } = await all.answer();
    expect(parts).to.deep.equal([
      { text: 'One ' },
      { text: 'two' },
      { source: 's' },
      { tests: [{ name: 'n' }] },
      { text: 'three' },
    ]);
    expect(end).not.to.have.property('error');
  });

  it('is ended when it yields without end and without waiting', async () => {
    const all = await openWith(async function* () {
      // Nearly all that an answer may have, because tens of thousands of empty parts take seconds.
      yield 'x'.repeat(1_000_000);
      for (;;) yield '';
    });
    all.ask();
    expect((await all.answer()).end['error']).to.equal('assistant-too-long');
  });

  const failing: [what: string, error: string, assistant: unknown][] = [
    [
      'throws at once',
      'Quota used up',
      () => {
        throw new Error('Quota used up');
      },
    ],
    [
      'throws later',
      'no luck',
      async function* () {
        yield 'a';
        throw new Error('no luck');
      },
    ],
    [
      'throws without a message',
      'assistant-failed',
      async function* () {
        throw new Error('');
      },
    ],
    [
      'throws what has no text',
      'assistant-failed',
      async function* () {
        throw Object.create(null);
      },
    ],
    [
      'throws a long message',
      'x'.repeat(500),
      async function* () {
        throw new Error('x'.repeat(600));
      },
    ],
    ['returns text', 'assistant-invalid', () => 'text'],
    ['returns a list', 'assistant-invalid', () => ['text']],
    ['returns nothing', 'assistant-invalid', () => {}],
    ['returns a promise', 'assistant-invalid', async () => nothing()],
    ['is no function', 'assistant-invalid', { answer: 1 }],
    [
      'yields a number',
      'assistant-invalid',
      async function* () {
        yield 7;
      },
    ],
    [
      'yields null',
      'assistant-invalid',
      async function* () {
        yield null;
      },
    ],
    [
      'yields no proposal',
      'assistant-invalid',
      async function* () {
        yield { text: 'a' };
      },
    ],
    [
      'proposes a source that is no text',
      'assistant-invalid',
      async function* () {
        yield { source: 1 };
      },
    ],
    [
      'proposes tests that are no list',
      'assistant-invalid',
      async function* () {
        yield { tests: {} };
      },
    ],
    [
      'proposes tests of text',
      'assistant-invalid',
      async function* () {
        yield { tests: ['a'] };
      },
    ],
    [
      'proposes what is no JSON',
      'assistant-invalid',
      async function* () {
        yield { tests: [1n] };
      },
    ],
    [
      'says too much',
      'assistant-too-long',
      async function* () {
        yield 'x'.repeat(2 ** 20);
      },
    ],
    [
      'proposes too much',
      'assistant-too-long',
      async function* () {
        yield { source: 'x'.repeat(2 ** 20) };
      },
    ],
  ];
  it('that fails, or gives what is no answer, is ended with an error', async () => {
    const { element, ask, answer } = await openWith(nothing);
    for (const [index, [what, error, assistant]] of failing.entries()) {
      element.assistant = assistant as Assistant;
      ask(String(index));
      expect((await answer(String(index))).end['error'], what).to.equal(error);
      expect(logged.splice(0), what).to.have.length(1);
    }
  });

  it('that is taken away is ended, and none answers then', async () => {
    let signal: AbortSignal | undefined;
    const all = await openWith(async function* (request: AssistantRequest) {
      ({ signal } = request);
      yield 'a';
      await new Promise(() => {});
    });
    all.ask();
    await all.received.until('assist-part');
    all.element.assistant = undefined;
    expect((await all.answer()).end['error']).to.equal('assistant-missing');
    expect(signal?.aborted).to.equal(true);
    all.ask('2');
    expect((await all.answer('2')).end['error']).to.equal('assistant-invalid');
  });

  it('is stopped by the editor, and what it still yields goes nowhere', async () => {
    let goOn = () => {};
    let isClosed = false;
    const all = await openWith(async function* ({ prompt }: AssistantRequest) {
      try {
        yield 'a';
        if (prompt === 'later') return;
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        yield 'b';
      } finally {
        isClosed = true;
      }
    });
    all.ask();
    await all.received.until('assist-part');
    sendFromEditor(all.element, all.received, { type: 'assist-stop', request: 'another' });
    sendFromEditor(all.element, all.received, { type: 'assist-stop', request: '1' });
    expect((await all.answer()).end).not.to.have.property('error');
    goOn();
    all.ask('2', { prompt: 'later' });
    expect(textOf((await all.answer('2')).parts)).to.equal('a');
    expect(textOf((await all.answer('1')).parts)).to.equal('a');
    expect(isClosed).to.equal(true);
    expect(logged).to.deep.equal([]);
  });

  it('answers one request at a time: the next one ends it', async () => {
    const signals: AbortSignal[] = [];
    const all = await openWith(async function* ({ prompt, signal }: AssistantRequest) {
      signals.push(signal);
      yield prompt;
      if (prompt === 'first') await new Promise(() => {});
    });
    all.ask('1', { prompt: 'first' });
    await all.received.until('assist-part');
    all.ask('2', { prompt: 'second' });
    expect((await all.answer('1')).end['error']).to.equal('assistant-replaced');
    expect(textOf((await all.answer('2')).parts)).to.equal('second');
    expect(signals[0]?.aborted).to.equal(true);
  });

  for (const [what, change] of [
    ['another plugin', (element) => void (element.fn = 'g')],
    ['a sign-out', (element) => void element.close()],
    ['a reload', (element) => void element.reload()],
    ['the removal of the element', (element) => element.remove()],
  ] as [what: string, change: (element: PluginEditorElement) => void][]) {
    it(`is aborted by ${what}`, async () => {
      const aborted = Promise.withResolvers<void>();
      const all = await openWith(async function* ({ signal }: AssistantRequest) {
        signal.addEventListener('abort', () => aborted.resolve());
        yield 'a';
        await new Promise(() => {});
      });
      all.ask();
      await all.received.until('assist-part');
      change(all.element);
      await aborted.promise;
      await settle();
      expect(all.received.of('assist-end')).to.have.length(0);
      expect(logged).to.deep.equal([]);
    });
  }

  for (const yields of [false, true]) {
    it(`that never ends${yields ? ', but goes on and on,' : ''} is ended in time`, async () => {
      const clock = fakeClock();
      let goOn = () => {};
      const all = await openWith(async function* () {
        for (;;) {
          await new Promise<void>((resolve) => {
            goOn = resolve;
          });
          yield 'a';
        }
      });
      all.ask();
      await flushMessages(all.element);
      for (let minute = 0; minute < 5; minute++) {
        if (yields) goOn();
        await settle();
        await clock.advance(60_000);
      }
      expect((await all.answer()).end['error']).to.equal('assistant-timeout');
    });
  }
});
