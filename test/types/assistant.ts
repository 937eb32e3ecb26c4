import type { Assistant, PluginEditorElement } from '../../src/index.ts';

// Assistants of vendors: what a wrong one returns does not compile.

const element = null as unknown as PluginEditorElement;

async function* model(prompt: string, signal: AbortSignal): AsyncGenerator<string> {
  if (!signal.aborted) yield prompt;
}

element.assistant = async function* ({ prompt, source, tests, problems, failures, declarations, signal }) {
  yield* model(
    [prompt, source, declarations ?? '', ...problems.map(({ message }) => message)].join('\n'),
    signal,
  );
  yield { source: `${source}\n`, tests: [...tests, { name: 'new', payload: failures[0]?.payload ?? '' }] };
};
element.assistant = ({ prompt, signal }) => model(prompt, signal);
element.assistant = undefined;

// @ts-expect-error text is no stream
element.assistant = ({ prompt }) => prompt;
// @ts-expect-error a promise is no stream
element.assistant = async ({ prompt }) => prompt;
// @ts-expect-error a list is no stream
element.assistant = () => ['text'];
// @ts-expect-error a generator that is not async
element.assistant = function* () {
  yield 'text';
};
// @ts-expect-error numbers are no parts
element.assistant = async function* () {
  yield 7;
};
// @ts-expect-error a proposal has a source or tests
element.assistant = async function* () {
  yield { code: 'x' };
};
// @ts-expect-error a source is text
element.assistant = async function* () {
  yield { source: ['x'] };
};
// @ts-expect-error tests are objects
element.assistant = async function* () {
  yield { tests: ['x'] };
};
// @ts-expect-error there is no such field
element.assistant = async function* ({ token }) {
  yield String(token);
};

export const typed: Assistant = async function* () {
  yield { tests: [] };
};

// A test of an initial source asserts and mocks calls, as one of a draft does.
element.initialSource = {
  contents: 'x',
  lang: 'javascript',
  tests: [{ payload: 'a', expected: { total: 1 }, calls: [{ url: 'https://api.example/*', response: {} }] }],
};

interface VendorTest {
  payload: string;
  expected: string;
}
export const vendorTests = (tests: readonly VendorTest[]) => {
  element.initialSource = { contents: 'x', lang: 'javascript', tests };
};
// @ts-expect-error -- the field is misspelt
element.initialSource = { contents: 'x', lang: 'javascript', tests: [{ expcted: 'a' }] };
