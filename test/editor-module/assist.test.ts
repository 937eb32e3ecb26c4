import { expect } from '@open-wc/testing';

import type { Assistant } from '../../src/core/assistant.ts';
import { frameOf, untilState } from '../element/plugin-editor-setup.ts';
import { evaluateIn, recordMessages, mountWithMessages } from '../element/protocol-setup.ts';
import { scriptedAssistant } from '../../src/testing/assistant.ts';
import { moduleServer } from './module-page.ts';

/** An editor's page with `ask`, which reports the parts of an answer and how it ended. */
const OPTIONS = `capabilities: ['open', 'assist'],
  onConfigure: () => {},`;

const ASK = `
  globalThis.ask = async (changes = {}, options = {}, each = () => {}) => {
    const parts = [];
    let error;
    try {
      const question = { prompt: 'p', language: 'l', source: 's', tests: [], problems: [], failures: [], ...changes };
      for await (const part of launcher.assist(question, options)) {
        parts.push(part);
        if (each(part) === false) break;
      }
    } catch (thrown) {
      error = String(thrown?.message ?? thrown);
    }
    report({ type: 'answered', parts, error });
  };`;

async function openConnected(assistant: Assistant | undefined) {
  const server = await moduleServer(OPTIONS);
  const received = recordMessages();
  const element = mountWithMessages(server, { assistant });
  await untilState(element, 'ready');
  const run = (code: string) => evaluateIn(frameOf(element).contentWindow, `${ASK} ${code}`);
  const answered = async (times = 1) =>
    (await received.until('answered', times)) as never as { parts: object[]; error?: string };
  return { received, element, run, answered };
}

describe('assist() of connectLauncher()', () => {
  it('asks the assistant of the page, and iterates over its answer', async () => {
    const assistant = scriptedAssistant(['a', { source: 'b' }, { tests: [{ name: 'c' }] }]);
    const { run, answered, received } = await openConnected(assistant);
    const { open } = (await received.until('onOpen')) as never as { open: { assistant?: boolean } };
    expect(open.assistant).to.equal(true);
    run(`ask({ prompt: 'why?', failures: [{ name: 'n' }] })`);
    const { parts, error } = await answered();
    expect(parts).to.deep.equal([{ text: 'a' }, { source: 'b' }, { tests: [{ name: 'c' }] }]);
    expect(error).to.equal(undefined);
    const { signal: _, ...asked } = assistant.requests[0] as object & { signal: unknown };
    expect(asked).to.deep.equal({
      prompt: 'why?',
      language: 'l',
      source: 's',
      tests: [],
      problems: [],
      failures: [{ name: 'n' }],
      ident: 'com.example.tenant-1',
      namespace: 'default',
      fn: 'add-record',
    });
  });

  it('throws what the assistant said, and the code of the launcher where there is no assistant', async () => {
    const { element, run, answered } = await openConnected(scriptedAssistant([new Error('No money left')]));
    run('ask()');
    expect((await answered()).error).to.equal('No money left');
    element.assistant = undefined;
    await element.updateComplete;
    run('ask()');
    expect((await answered(2)).error).to.equal('assistant-invalid');
  });

  it('stops the assistant when its signal aborts or the loop is left, and throws when the plugin is closed', async () => {
    const aborted: number[] = [];
    let count = 0;
    const third = Promise.withResolvers<void>();
    const { element, run, answered } = await openConnected(async function* ({ signal }) {
      const number = ++count;
      signal.addEventListener('abort', () => aborted.push(number));
      if (number === 3) third.resolve();
      yield 'a';
      await new Promise(() => {});
    });
    run(
      `{ const stop = new AbortController(); ask({}, { signal: stop.signal }, () => stop.abort('stopped')); }`,
    );
    expect(await answered()).to.deep.include({ parts: [{ text: 'a' }], error: 'stopped' });
    run('ask({}, {}, () => false)');
    const left = await answered(2);
    expect(left.error).to.equal(undefined);
    run('ask()');
    // The third answer goes on while another plugin is opened.
    await third.promise;
    element.fn = 'g';
    expect((await answered(3)).error).to.equal('closed');
    expect(aborted).to.deep.equal([1, 2, 3]);
  });
});
