import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistant } from '../../demo/page/assistant.ts';

const question = {
  ident: 'a.b',
  namespace: 'default',
  fn: 'f',
  language: 'javascript',
  source: 'export const run = String;\n',
  tests: [{ name: 'one' }],
  problems: [{ message: 'No such name', line: 3, column: 4 }],
  failures: [{ name: 'one', expected: 'a', result: 'b' }],
  signal: new AbortController().signal,
};

test('the demo’s assistant says what it is, and answers from its rules', async () => {
  for (const [prompt, said, proposed] of [
    ['Explain this problem', /Line 3, column 4 says: No such name/, undefined],
    ['Make this test pass', /"one" got this:\n```\nb\n/, undefined],
    ['Write a test', /empty input/, 'tests'],
    ['Add a comment', /A comment at the top/, 'source'],
    ['Sing', /I have no rule for that/, undefined],
  ] as const) {
    let text = '';
    let proposal: object = {};
    for await (const part of assistant({ ...question, prompt })) {
      if (typeof part === 'string') text += part;
      else proposal = part;
    }
    assert.match(text, /I am no model/);
    assert.match(text, said);
    assert.deepEqual(Object.keys(proposal), proposed === undefined ? [] : [proposed]);
  }
});
