import type { Assistant } from 'plugin-editor';

const ABOUT = `I am no model: I answer from a few written rules, to show how a page's own assistant works. Ask me to explain a problem,
to make a test pass, or to write a test.`;

/** The demo's assistant. Yours would ask your server, which asks your model. */
export const assistant: Assistant = async function* ({ prompt, source, tests, problems, failures }) {
  yield `${ABOUT}\n\n`;
  const [problem] = problems;
  const [failure] = failures;
  if (/write a test|einen test schreiben/i.test(prompt)) {
    yield 'This test calls the plugin with an empty input. Run it once, then keep what it returns as expected.';
    yield { tests: [...tests, { name: 'Empty input', description: 'Nothing is sent.', payload: '' }] };
  } else if (/problem/i.test(prompt) && problem) {
    yield `Line ${problem.line ?? '?'}, column ${problem.column ?? '?'} says: ${problem.message}`;
  } else if (/test/i.test(prompt) && failure) {
    yield `"${failure.name ?? 'A test'}" got this:\n\`\`\`\n${failure.result ?? JSON.stringify(failure.error)}\n\`\`\`\n`;
    if (failure.expected !== undefined)
      yield `It expected:\n\`\`\`\n${typeof failure.expected === 'string' ? failure.expected : JSON.stringify(failure.expected)}\n\`\`\`\n`;
  } else if (/comment/i.test(prompt)) {
    yield 'A comment at the top says what the plugin is.';
    yield { source: `// A plugin of Larder.\n${source}` };
  } else {
    yield 'I have no rule for that.';
  }
};
