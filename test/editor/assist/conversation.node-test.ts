import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { PluginSource } from 'plugin-editor/client.js';
import type { AssistantPart } from '../../../src/editor.ts';
import {
  type AssistHost,
  Conversation,
  MAX_TESTS,
  partsOf,
} from '../../../editor/src/assist/conversation.ts';

const source: PluginSource = { contents: 'a\n', lang: 'javascript', tests: [{ name: 'one', payload: '1' }] };

let frames: (() => void)[] = [];
beforeEach(() => {
  frames = [];
  Object.assign(globalThis, { requestAnimationFrame: (draw: () => void) => frames.push(draw) });
});
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'requestAnimationFrame');
});

/** A conversation about this source, with what was checked, tested and replaced. */
function start(
  answer: (signal: AbortSignal) => AsyncIterable<AssistantPart>,
  changes: Partial<AssistHost['session']['client']> = {},
) {
  const seen = { checked: [] as string[], tested: [] as string[], draws: 0 };
  let current = source;
  const edit = (change: Partial<PluginSource>) => {
    current = { ...current, ...change };
    conversation.handleEdit();
  };
  const host: AssistHost = {
    session: {
      client: {
        checkSource: async (_, contents) => {
          seen.checked.push(contents);
          return { diagnostics: [] };
        },
        testSource: async (_, __, payload) => {
          seen.tested.push(payload);
          return { result: '' };
        },
        ...changes,
      },
      location: { environment: 'com.acme', userID: 't1', pluginName: 'add' },
      host: { assist: (_, { signal } = {}) => answer(signal ?? new AbortController().signal) },
      screen: { draw: () => void seen.draws++ },
      signal: new AbortController().signal,
    },
    access: { canWrite: true },
    document: {
      get source() {
        return current;
      },
      tests: { entries: [] },
      replace: (next) => edit(next),
    },
    serviceState: { loadFeatures: async () => {} },
    actions: { canTest: true, runTests: async () => {} },
    assistance: {
      work: { language: 'javascript', source: '', tests: [], problems: [], failures: [] },
      suggestions: [],
    },
  };
  const conversation = new Conversation(host);
  return {
    conversation,
    seen,
    edit,
    get proposal() {
      const { proposal } = conversation.exchanges.at(-1) ?? {};
      assert.ok(proposal);
      return proposal;
    },
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test('of an answer that floods with proposals and text, the last one is checked and few frames are drawn', async () => {
  const { conversation, seen } = start(async function* () {
    for (let number = 0; number < 10_000; number++) yield { text: 'x', source: `${number}\n` };
  });
  await conversation.ask('Flood.');
  await settle();
  assert.deepEqual(seen.checked, ['9999\n']);
  assert.deepEqual(seen.tested, ['1']);
  assert.equal(frames.length, 1);
  assert.ok(seen.draws < 10, `${seen.draws} drawings`);
});

for (const [what, error, answer] of [
  ['of a wrong shape', 'assistant-invalid', [{}]],
  ['with a test whose name is no text', 'assistant-invalid', [{ tests: [{ name: 5 as never }] }]],
  [
    'with more tests than may be saved',
    'assistant-invalid',
    [{ tests: Array.from({ length: 5001 }, Object) }],
  ],
  [
    'of too much text',
    'assistant-too-long',
    Array.from({ length: 12 }, () => ({ text: 'x'.repeat(100_000) })),
  ],
] as [string, string, AssistantPart[]][]) {
  test(`an answer ${what} ends with an error, and the next question is asked`, async () => {
    const { conversation } = start(async function* () {
      yield* answer;
    });
    await conversation.ask('Once.');
    assert.equal(conversation.exchanges[0]?.error, error);
    await conversation.ask('Twice.');
    assert.equal(conversation.exchanges.length, 2);
  });
}

test('an answer that never ends is stopped by the author, and by the next question', async () => {
  const { conversation } = start(async function* (signal) {
    yield { text: 'And on' };
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  const first = conversation.ask('First.');
  await settle();
  const second = conversation.ask('Second.');
  await first;
  assert.deepEqual(
    conversation.exchanges.map(({ state }) => state),
    ['stopped', 'running'],
  );
  conversation.stop();
  await second;
  assert.deepEqual(
    conversation.exchanges.map(({ state, error }) => [state, error]),
    [
      ['stopped', undefined],
      ['stopped', undefined],
    ],
  );
});

test('another choice begins the check anew, and what the former one finds is not shown', async () => {
  const waiting: ((message: string) => void)[] = [];
  const started = start(
    async function* () {
      yield { source: 'a\nb\n' };
    },
    {
      checkSource: async () => {
        const message = await new Promise<string>((resolve) => waiting.push(resolve));
        return {
          diagnostics: [{ severity: 'error', message, line: 1, column: 1, endLine: 1, endColumn: 1 }],
        };
      },
    },
  );
  await started.conversation.ask('Change it.');
  const { proposal, conversation } = started;
  const [part] = partsOf(proposal);
  assert.ok(part);
  conversation.choose(proposal, part, false);
  assert.equal(proposal.check, undefined);
  conversation.choose(proposal, part, true);
  waiting[0]?.('old');
  await settle();
  assert.deepEqual(proposal.check, { kind: 'checking' });
  waiting[1]?.('new');
  await settle();
  assert.deepEqual(proposal.check, { kind: 'problems', problems: ['new'] });
});

test('of a service that cannot run a source, a proposal builds, and its tests are not known', async () => {
  const started = start(
    async function* () {
      yield { source: 'b\n' };
    },
    { testSource: () => Promise.reject(new Error('404')) },
  );
  await started.conversation.ask('Change it.');
  await settle();
  assert.deepEqual(started.proposal.check, { kind: 'builds', ended: [], all: 1, isUnable: true });
});

test('the tests of a proposal are run once the service has said that it runs plugins', async () => {
  const started = start(async function* () {
    yield { source: 'b\n' };
  });
  const features = Promise.withResolvers<void>();
  Object.assign(started.conversation.host, {
    serviceState: { loadFeatures: () => features.promise },
    actions: { ...started.conversation.host.actions, canTest: false },
  });
  await started.conversation.ask('Change it.');
  await settle();
  assert.deepEqual(started.proposal.check, { kind: 'checking' });
  Object.assign(started.conversation.host.actions, { canTest: true });
  features.resolve();
  await settle();
  assert.deepEqual(started.seen.tested, ['1']);
  assert.equal(started.proposal.check?.kind === 'builds' && started.proposal.check.isUnable, false);
});

test("a proposal that the editor's own undo takes back counts as undone, and its redo takes it again", async () => {
  const started = start(async function* () {
    yield { source: 'b\n' };
  });
  const { conversation, edit } = started;
  await conversation.ask('Change it.');
  const { proposal } = started;
  conversation.take(proposal);
  assert.equal(proposal.state, 'taken');
  edit({ contents: 'a\n' });
  assert.equal(proposal.state, 'undone');
  edit({ contents: 'b\n' });
  assert.equal(proposal.state, 'taken');
  edit({ contents: 'b\nc\n' });
  assert.equal(proposal.state, 'taken');
  assert.equal(conversation.canUndo(proposal), false);
});

test('of two proposals of the same change, only the one that was taken last is taken', async () => {
  const { conversation, edit } = start(async function* () {
    yield { source: 'b\n' };
  });
  for (const question of ['Change it.', 'Once more.']) {
    await conversation.ask(question);
    const { proposal } = conversation.exchanges.at(-1) ?? {};
    assert.ok(proposal);
    conversation.take(proposal);
    conversation.undo(proposal);
  }
  edit({ contents: 'b\n' });
  assert.deepEqual(
    conversation.exchanges.map(({ proposal }) => proposal?.state),
    ['undone', 'taken'],
  );
});

test('a proposal has the line breaks of the source, and its last one, so that only what was changed differs', async () => {
  for (const [contents, proposed, block, parts] of [
    ['a\r\nb\r\n', 'a\nB\n', 'a\nb', [['b\r\n', 'B\r\n']]],
    ['a\nb\n', 'a\r\nB\r\n', 'a\r\nb', [['b\n', 'B\n']]],
    ['a\nb', 'a\nB', 'a\nb', [['b\n', 'B\n']]],
  ] as const) {
    const started = start(async function* () {
      yield { source: proposed };
    });
    started.edit({ contents });
    await started.conversation.ask('Change it.');
    assert.deepEqual(
      partsOf(started.proposal).map(({ before, after }) => [before.join(''), after.join('')]),
      parts,
    );
    started.conversation.propose(started.conversation.exchanges[0] ?? assert.fail(), block);
    assert.deepEqual(partsOf(started.proposal), [], JSON.stringify(contents));
  }
});

test('a gigantic proposal is taken or left as a whole', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index}\n`);
  const tests = Array.from({ length: 5000 }, (_, index) => ({ name: `${index}` }));
  const started = start(async function* () {
    yield { source: lines.map((line, index) => (index % 2 ? line : `x${line}`)).join(''), tests };
  });
  started.edit({ contents: lines.join('') });
  await started.conversation.ask('Change it.');
  await settle();
  assert.equal(partsOf(started.proposal).length, 2);
  assert.equal(started.seen.tested.length, MAX_TESTS);
});

test('a proposal is outdated once what it changes was changed', async () => {
  for (const [proposed, change, isOutdated] of [
    [{ source: 'b\n' }, { contents: 'c\n' }, true],
    [{ source: 'b\n' }, { tests: [] }, false],
    [{ tests: [] }, { tests: [{ name: 'two' }] }, true],
    [{ tests: [] }, {}, false],
  ] as const) {
    const started = start(async function* () {
      yield proposed as AssistantPart;
    });
    await started.conversation.ask('Change it.');
    started.edit(change as Partial<PluginSource>);
    assert.equal(
      started.conversation.isOutdated(started.proposal),
      isOutdated,
      JSON.stringify([proposed, change]),
    );
  }
});
