import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { LoggedOutcome } from '../../../service/src/sandbox/outcome.ts';
import { PythonProcess } from '../../../service/src/sandbox/python/python-process.ts';
import { defaultLimits, type AdjustableLimits } from '../../../service/src/sandbox/run-limits.ts';
import { loadLanguages } from '../../../service/src/toolchains/languages.ts';
import { linkSchema } from '../../../service/src/toolchains/schemas/link-schema.ts';
import { declarePythonTypes } from '../../../service/src/toolchains/schemas/python-types.ts';
import { mebibyte } from '../../../service/src/units.ts';
import { PATIENCE, until } from '../../support/until.ts';
import { sharedToolProcesses } from '../tool-processes.ts';
import { typedProgram } from '../typed-program.ts';

// What does not end is given less time.
const { sandbox } = sharedToolProcesses();
const owner = { environment: 'com.acme', tenant: 'one', token: '' };

const run = (code: string, input = '', limits?: AdjustableLimits): Promise<LoggedOutcome> =>
  sandbox.run({ program: loadedProgram({ kind: 'python', code }), input, owner, limits });

async function resultOf(code: string, input?: string): Promise<string> {
  const outcome = await run(code, input);
  assert.ok('result' in outcome, JSON.stringify(outcome));
  return outcome.result;
}

async function errorOf(code: string, input?: string, limits?: AdjustableLimits) {
  const outcome = await run(code, input, limits);
  assert.ok('error' in outcome, JSON.stringify(outcome));
  return outcome.error;
}

test('Python: text goes in and out unchanged, and an async function is run to its end', async () => {
  const text = 'NUL \0, half \ud83d, whole 😀, é';
  assert.equal(await resultOf('def run(input): return input', text), text);
  assert.equal(
    await resultOf('async def one(): return "1"\nasync def run(input): return await one() + input', 'x'),
    '1x',
  );
  assert.match(
    (await errorOf('class Never:\n  def __await__(self): yield 1\nasync def run(input): await Never()'))
      .message,
    /waits for something that does not happen/,
  );
  assert.match(
    (await errorOf('def run(input): return 1')).message,
    /must return a str; it returned a value of the type int/,
  );
});

test('Python: values are checked by the schemas of the program', async () => {
  const typed = (code: string, input: string) =>
    sandbox.run({
      program: loadedProgram({ kind: 'python', code, types: { schemas: {} } }),
      input,
      owner,
    });
  assert.deepEqual(await typed('def run(input): return {"n": input["n"] + 1, "é": None}', '{"n": 1}'), {
    result: '{"n":2,"é":null}',
    logs: [],
  });
  const wrong = await typed('def run(input): return {1, 2}', '{}');
  assert.ok('error' in wrong);
  assert.match(wrong.error.message, /value that JSON can hold.*set/s);
  const within = await typed(
    'from decimal import Decimal\ndef run(input): return {"rows": [{"total": Decimal(1)}]}',
    '{}',
  );
  assert.match(
    'error' in within ? within.error.message : '',
    /Decimal is not JSON serializable, when serializing dict item 'total', when serializing list item 0/,
  );
  const half = await typed('def run(input): return ["\\ud83d", "😀"]', '{}');
  assert.equal('result' in half && half.result, '["\\ud83d","😀"]');
  const infinite = await typed('def run(input): return float("inf")', '{}');
  assert.ok('error' in infinite);
  const invalid = await typed('def run(input): return 1', '{');
  assert.equal('error' in invalid && invalid.error.code, 'invalid-input');
});

test('Python: input and output are checked by the types of a namespace, which are types in Python', async () => {
  const schemas = {
    input: {
      title: 'One\nimport os # "',
      type: 'object',
      required: ['class', 'a b'],
      properties: {
        class: { enum: ['a"b', 1, true, null] },
        'a b': { type: 'array', items: { type: 'object', properties: { n: { type: ['number', 'null'] } } } },
        any: { not: {} },
        'x-y': { const: 'plain' },
        '"""': { const: '\n' },
      },
    },
    output: { oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: { type: 'boolean' } }] },
  };
  const types = declarePythonTypes(linkSchema(schemas.input), linkSchema(schemas.output));
  assert.match(types, /^# One\n# import os # "\nInput = TypedDict\("Input", \{\n/m);
  assert.match(types, /"a b": "list\[InputABItem\]",/);
  assert.match(types, /"x-y": 'NotRequired\[Literal\["plain"\]\]',/);
  assert.match(types, /class InputABItem\(TypedDict\):\n {4}n: NotRequired\[float \| None\]/);
  assert.match(types, /type Output = str \| dict\[str, bool\]/);
  const code = `${types}
def run(input: Input) -> Output:
    return str(Output.__value__) if Input.__annotations__ and input["a b"] else {"a": input["class"]}
`;
  const program = typedProgram({ kind: 'python', code }, schemas);
  const end = async (input: string) => {
    const outcome = await sandbox.run({ program, input, owner });
    return 'result' in outcome ? outcome.result : [outcome.error.code, outcome.error.path];
  };
  assert.equal(await end('{"class": 1, "a b": [{}]}'), '"str | dict[str, bool]"');
  assert.equal(await end('{"class": true, "a b": []}'), '{"a":true}');
  assert.deepEqual(await end('{"class": 2, "a b": []}'), ['invalid-input', '/class']);
  assert.deepEqual(await end('{"class": null, "a b": []}'), ['invalid-output', '']);
});

test('Python: the templates pass their own tests', async () => {
  const python = loadLanguages().get('python') ?? assert.fail();
  const { contents, tests = [] } = python.template({ pluginName: 'add-record', namespace: 'n"s' });
  for (const input of [...tests.map(({ payload = '' }) => payload), '\0😀'])
    assert.equal(await resultOf(contents, input), `Hello, ${input || 'world'}! This is add-record in n"s.`);
  const output = '{"text":"Ada","all":[null,true,1.5]}';
  const typed = python.typedTemplate({ output, declarations: declarePythonTypes(undefined, undefined) });
  const program = typedProgram({ kind: 'python', code: typed }, { input: true, output: true });
  assert.deepEqual(await sandbox.run({ program, input: '1', owner }), { result: output, logs: [] });
});

test('Python: print, logging, warnings and errors are entries of the logs, with their levels', async () => {
  const { logs } = await run(`import logging, sys, warnings
def run(input):
    print('a', 1, end=' ')
    print('b\\nc')
    print('bad', file=sys.stderr)
    logging.debug('d %s', 1)
    logging.info('i')
    logging.getLogger('shop').warning('w')
    logging.error('e')
    warnings.warn('old')
    print('last', end='')
    return ''
`);
  assert.deepEqual(logs, [
    'a 1 b',
    'c',
    '[error] bad',
    '[debug] d 1',
    '[info] i',
    '[warn] shop: w',
    '[error] e',
    '[warn] plugin.py:10: UserWarning: old',
    'last',
  ]);
});

test('Python: an error names its kind and the lines of the author', async () => {
  const { code, message } = await errorOf(
    `import json
def read(text):
    return json.loads(text)["total"]

def run(input):
    return read(input)
`,
    '[]',
  );
  assert.equal(code, 'plugin-error');
  assert.equal(
    message,
    `TypeError: list indices must be integers or slices, not str
  File "plugin.py", line 6, in run
    return read(input)
  File "plugin.py", line 3, in read
    return json.loads(text)["total"]
           ~~~~~~~~~~~~~~~~^^^^^^^^^`,
  );
  const chained = await errorOf(`import json
def run(input):
    try:
        {}["total"]
    except KeyError as error:
        raise ValueError(jsn) from error
`);
  assert.equal(
    chained.message.replaceAll(/\n +[~^]+(?=\n|$)/g, ''),
    `NameError: name 'jsn' is not defined. Did you mean: 'json'?
  File "plugin.py", line 6, in run
    raise ValueError(jsn) from error
While handling KeyError: 'total'
  File "plugin.py", line 4, in run
    {}["total"]`,
  );
  assert.match((await errorOf('def run(input): raise SystemExit(3)')).message, /^SystemExit: 3\n/);
  assert.match(
    (await errorOf('x = 1 / 0\ndef run(input): return ""')).message,
    /^ZeroDivisionError.*line 1, in <module>/s,
  );
});

test('Python: there is UTC, and an error says that there is no other time zone', async () => {
  const code = `from datetime import datetime
from zoneinfo import ZoneInfo
def run(input): return datetime(2026, 1, 1, tzinfo=ZoneInfo(input)).isoformat()
`;
  assert.equal(await resultOf(code, 'UTC'), '2026-01-01T00:00:00+00:00');
  assert.match((await errorOf(code, 'Europe/Berlin')).message, /no data of the time zone Europe\/Berlin/);
});

test('Python: a module that needs another for what no plugin can do is there, and that one is not', async () => {
  const code = 'import importlib\ndef run(input): return importlib.import_module(input).escape("<")';
  assert.equal(await resultOf(code, 'xml.sax.saxutils'), '&lt;');
  assert.match((await errorOf(code, 'urllib.request')).message, /A plugin has no module 'urllib\.request'/);
});

test('Python: nothing of a run is left for the next, and each has random numbers and ids that no other has', async () => {
  const leave = `import builtins, json, random, sys, uuid
seen = getattr(builtins, 'left', None)
builtins.left = 'left'
json.left = True
sys.modules['colorsys'] = json
random.Random.random = random.Random.random
big = [0] * 1_000_000
def run(input):
    return json.dumps([seen, hasattr(random, 'left'), random.random(), str(uuid.uuid4()), random.getrandbits(64), sys.modules['colorsys'] is json])
`;
  const answers = [];
  for (let i = 0; i < 5; i++) answers.push(JSON.parse(await resultOf(leave)) as unknown[]);
  assert.deepEqual(new Set(answers.map(([seen]) => seen)), new Set([null]));
  assert.equal(new Set(answers.map((one) => one[2])).size, 5);
  assert.equal(new Set(answers.map((one) => one[3])).size, 5);
  assert.equal(new Set(answers.map((one) => one[4])).size, 5);
  assert.equal(await resultOf('import json\ndef run(input): return str(hasattr(json, "left"))'), 'False');
});

test('Python: each limit ends a run with its code, and the next run works', async () => {
  const ends = {
    'memory-limit': 'def run(input): return str(len([0] * 20_000_000))',
    'stack-limit': 'def run(input): return run(input)',
    'output-limit': 'def run(input): return "x" * 1_048_577',
    'log-limit': 'def run(input):\n    while True: print("x" * 1000)',
  };
  for (const [code, source] of Object.entries(ends)) {
    assert.equal((await errorOf(source)).code, code);
    assert.equal(await resultOf('def run(input): return "works"'), 'works');
  }
  assert.match((await errorOf('def run(input): return str(len(bytearray(80_000_000)))')).message, /64 MiB/);
  assert.equal(await resultOf('def run(input): return str(len(bytearray(10_000_000)))'), '10000000');
});

test('Python: a run has the limits of its tenant where they are lower, and the next run its own', async () => {
  const endless = [
    'def run(input):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass',
    // A loop in C that asks for nothing.
    'def run(input): return str(sum(range(10**12)))',
  ].map((code) => errorOf(code, '', { ...defaultLimits, time: 500 }));
  for (const { code, message } of await Promise.all(endless)) {
    assert.deepEqual(
      [code, message],
      ['time-limit', 'The plugin ran for more than 0.5 s, which is the limit of time.'],
    );
  }
  // Leaves a memory that has room for all that follows.
  const list = 'def run(input): return str(len([0] * 5_000_000))';
  assert.equal(await resultOf(list), '5000000');
  const little = { time: 20_000, memory: 16 * mebibyte };
  for (const large of [list, 'def run(input):\n    all = []\n    while True: all.append([0] * 1000)']) {
    const { code, message } = await errorOf(large, '', little);
    assert.deepEqual(
      [code, message],
      ['memory-limit', 'The plugin needed more than 16 MiB, which is the limit of memory.'],
    );
  }
  // As much as the service allows in other languages limits no Python.
  assert.ok('result' in (await run(list, '', { ...defaultLimits, time: 20_000 })));
});

test('Python: runs that do not end keep no run in JavaScript waiting', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let held = 0;
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { run: runIn } = PythonProcess.prototype;
  t.mock.method(
    PythonProcess.prototype,
    'run',
    async function (this: PythonProcess, ...args: Parameters<typeof runIn>) {
      held += 1;
      await promise;
      return runIn.apply(this, args);
    },
  );
  t.after(() => resolve());
  const program = loadedProgram({ kind: 'python', code: 'def run(input): return input' });
  // As many of each as a tenant may have, and of all as there are, on a machine of many cores.
  const owners = ['a', 'b', 'c', 'd'].map((environment) => ({ environment, tenant: 'one', token: '' }));
  const runs: Promise<LoggedOutcome>[] = [];
  let ended = 0;
  for (const one of owners)
    for (let i = 0; i < 4; i++) {
      const outcome = sandbox.run({ program, input: 'held', owner: one });
      runs.push(outcome.finally(() => (ended += 1)));
    }
  await until('they wait', () => held === 1 && sandbox.waiting === runs.length - 1);
  // Where a script waits for them, it runs after a while, so that the test ends and says so.
  const late = setTimeout(resolve, PATIENCE);
  t.after(() => clearTimeout(late));
  const script = loadedProgram({
    kind: 'script',
    code: 'export const run = (input) => input;',
    file: 'plugin.js',
  });
  for (const one of [...owners, owner])
    assert.deepEqual(await sandbox.run({ program: script, input: 'a', owner: one }), {
      result: 'a',
      logs: [],
    });
  assert.equal(ended, 0);
  resolve();
  for (const outcome of await Promise.all(runs)) assert.deepEqual(outcome, { result: 'held', logs: [] });
});

test('Python: a call of a closed function ends the run and its runner, and the next run gets another', async () => {
  const { code, message } = await errorOf(
    'import os\ndef run(input):\n    try:\n        os.system("id")\n    except BaseException: pass\n    return "went on"',
  );
  assert.equal(code, 'plugin-error');
  assert.match(message, /leads out of the sandbox and is closed/);
  assert.equal(await resultOf('def run(input): return "works"'), 'works');
});
