import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages, programOf, startBuilds } from './compiling.ts';

const { assertCompilerConfined, build, assertProblems, problemsOf } = startBuilds();

const good = 'def run(input: str) -> str:\n    return input\n';

test("Python: the compiler's process has no environment variables and no child processes", (t) =>
  assertCompilerConfined(t, 'python'));

test('Python: problems have their place, the signature of run among them', async () => {
  await assertProblems('python', 'x = "é😀"; y = )\n', [[1, 16, /unmatched '\)'/]]);
  await assertProblems('python', 'def run(input):\nreturn 1\n', [
    [2, 1, /^IndentationError: expected an indented block/],
  ]);
  await assertProblems('python', 'def go(input):\n    return input\n', [
    [1, 1, /function named "run": def run\(input: str\) -> str/],
  ]);
  await assertProblems('python', '\ndef run(a, b):\n    return a\n', [[2, 1, /called with one argument/]]);
  await assertProblems('python', 'def run():\n    return ""\n', [[1, 1, /called with one argument/]]);
  await assertProblems('python', 'def run(input):\n    yield input\n', [[1, 1, /generator/]]);
  await assertProblems('python', `from . import other\n${good}`, [[1, 1, /one file/]]);
  await assertProblems('python', 'def run(input):\n    return 1\n    x = \\\n', [
    [3, 10, /unexpected EOF|unexpected end|line continuation/i],
  ]);
});

test('Python: what is legal and probably wrong is a warning, and the build succeeds', async () => {
  const source = `import requests, json
def run(input):
    "é"; return jsn.dumps(input is "a")
`;
  const { isBuilt, found } = await problemsOf('python', source);
  assert.equal(isBuilt, true);
  assert.deepEqual(found, [
    [3, 5, 'warning', '"is" with \'str\' literal. Did you mean "=="?'],
    [
      1,
      1,
      'warning',
      'A plugin has no module "requests". It has the modules of the standard library that reach nothing outside.',
    ],
    [3, 17, 'warning', 'The name "jsn" is not defined.'],
  ]);
  const absent = await problemsOf(
    'python',
    `from urllib import parse, request\nimport urllib.request\n${good}`,
  );
  assert.deepEqual(
    absent.found.map(([line, , , message]) => [line, /no module "([^"]+)"/.exec(String(message))?.[1]]),
    [
      [1, 'urllib.request'],
      [2, 'urllib.request'],
    ],
  );
  for (const legal of [
    `from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n${good}`,
    'run = lambda input: input\n',
    'def make():\n    global run\n    def run(input): return input\nmake()\nrun = run\n',
    `def helper(*, a=1): return [y for y in range(a)]\n${good}`,
    `try:\n    import tomllib\nexcept ImportError:\n    tomllib = None\n${good}`,
    `match 1:\n    case int(n): pass\n${good}`,
    `type X = list[Y]\ntype Y = int\n${good}`,
    `\ufeff${good}`,
    'match 1:\n    case 1:\n        def run(input): return input\n',
    'try:\n    def run(input): return input\nexcept* ValueError:\n    pass\n',
    // Deeper than Python's functions may call one another.
    `if 0: pass\n${'elif 0: pass\n'.repeat(1500)}${good}`,
    `${good}f = ${'lambda: '.repeat(1200)}0\n`,
    'def joined(f):\n    return lambda input: "".join(f(input, 1))\n@joined\ndef run(a, b):\n    yield a\n',
    'from functools import partial\ndef run(a, b):\n    return b\nrun = partial(run, "")\n',
    `def run(input):\n    return str(${'1 + '.repeat(1200)}1)\n`,
  ]) {
    assert.deepEqual(await problemsOf('python', legal), { isBuilt: true, found: [] });
  }
});

test('Python: a source that would exhaust its parser is a problem, and the next build works', async () => {
  const flood = (text: string) => `${good}x = ${text}\n`;
  for (const source of [
    flood('-'.repeat(200_000) + '1'),
    flood(`${'1+'.repeat(100_000)}1`),
    flood(`${'a.'.repeat(100_000)}a`),
    flood('not '.repeat(100_000) + '1'),
  ]) {
    const outcome = await build('python', source);
    assert.ok('compiled' in outcome, JSON.stringify(outcome));
  }
  programOf(await build('python', good));
});

// That they run is in the tests of the sandbox: what is built is the source itself.
test('Python: the templates build', async () => {
  const python = languages.get('python') ?? assert.fail();
  const { contents } = python.template({ pluginName: 'add-record', namespace: 'n"s' });
  const declarations =
    'from typing import TypedDict\n\n\nclass Input(TypedDict):\n    name: str\n\n\ntype Output = str\n';
  for (const source of [contents, python.typedTemplate({ output: '"Ada"', declarations })]) {
    const end = await build('python', source);
    assert.deepEqual(end, { compiled: { program: { kind: 'python', code: source }, diagnostics: [] } });
  }
});
