import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits } from '../../../service/src/sandbox/run-limits.ts';
import type { LoggedOutcome, RunErrorCode } from '../../../service/src/sandbox/outcome.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { running } from '../plugin.ts';
import { sharedToolProcesses } from '../tool-processes.ts';

const { sandbox } = sharedToolProcesses();

/** `time`: the limit of time where it is to be reached, in ms. */
const run = (code: string, input = '', tenant = 't1', time?: number) =>
  sandbox.run({
    program: loadedProgram({ kind: 'script', code, file: 'plugin.js' }),
    input,
    owner: { environment: 'com.acme', tenant, token: '' },
    ...(time !== undefined && { limits: { ...defaultLimits, time } }),
  });

const codeOf = (outcome: LoggedOutcome) => ('error' in outcome ? outcome.error.code : undefined);
const messageOf = (outcome: LoggedOutcome) => ('error' in outcome ? outcome.error.message : '');
const resultOf = (outcome: LoggedOutcome) => {
  assert.ok('result' in outcome, messageOf(outcome));
  return outcome.result;
};

const ends: Partial<Record<RunErrorCode, Record<string, string>>> = {
  'time-limit': {
    'a loop': running('for (;;);'),
    'a loop that catches its end': running('for (;;) try { for (;;); } catch {} finally { for (;;); }'),
    'a loop before run': 'for (;;);\n' + running('return ""'),
    'a loop in the engine': running(
      'const a = "a".repeat(4e6), b = "a".repeat(2e6) + "b"; for (;;) a.indexOf(b);',
    ),
    'a long sort': running('const a = Array.from({ length: 3e5 }, () => 0); for (;;) a.sort();'),
    'promises that await': 'export async function run() { for (;;) await 0; }',
    'promises that chain':
      'export async function run() { const next = () => ({ then(resolve) { resolve(next()); } }); return next(); }',
    microtasks: running('const next = () => queueMicrotask(next); next(); return new Promise(() => {});'),
    'an error that loops when it is read': running(
      'throw Object.defineProperty(new Error(""), "message", { get() { for (;;); } });',
    ),
    'a thrown object that loops when it is shown': running('throw { toJSON() { for (;;); } };'),
  },
  'memory-limit': {
    'an array': running('const all = []; for (;;) all.push("x".repeat(4e6) + all.length);'),
    'binary data': running('const all = []; for (;;) all.push(new Uint8Array(8e6).fill(1));'),
  },
  'stack-limit': {
    'a call of itself': running('return run(input) + 1;'),
  },
  'output-limit': {
    'characters of one byte': running('return "x".repeat(2 ** 20 + 1);'),
    'characters of two bytes': running('return "é".repeat(2 ** 19 + 1);'),
  },
  'log-limit': {
    'long lines': running('for (;;) console.log("x".repeat(1e5));'),
    'short lines': running('for (;;) console.log("a line of thirty characters...");'),
    'lines and a catch': running('for (;;) try { console.log("x".repeat(1e5)); } catch {}'),
  },
};

const { 'time-limit': endless = {}, ...others } = ends;

for (const [code, cases] of Object.entries(others)) {
  for (const [name, source] of Object.entries(cases)) {
    test(`${name} ends with ${code}, and the next run is answered`, async () => {
      const outcome = await run(source);
      assert.equal(codeOf(outcome), code, JSON.stringify({ ...outcome, logs: [] }));
      assert.equal(resultOf(await run(running('return input'), 'next')), 'next');
    });
  }
}

test(
  'what goes on for ever ends with time-limit, and the next runs are answered',
  { concurrency: true },
  async (t) => {
    // At once, because each takes a core for all of its time.
    await Promise.all(
      Object.entries(endless).map(([name, source]) =>
        t.test(name, async () => {
          const outcome = await run(source, '', name, 250);
          assert.equal(codeOf(outcome), 'time-limit', JSON.stringify({ ...outcome, logs: [] }));
        }),
      ),
    );
    const next = Object.keys(endless).map((name) => run(running('return input'), name, name));
    assert.deepEqual((await Promise.all(next)).map(resultOf), Object.keys(endless));
  },
);

test('entries that a plugin logged before it failed are reported', async () => {
  // The second loop is in the engine, where nothing but the end of its thread reaches it.
  const loops = {
    plugin: 'for (;;);',
    engine: 'const a = "a".repeat(1e6), b = a + "b", c = a + a; for (;;) c.indexOf(b);',
  };
  const outcomes = Object.entries(loops).map(([tenant, loop]) =>
    run(
      running(`console.log("é \\ud83d", { a: [1] }); console.log(); ${loop}`),
      '',
      tenant,
      // On a busy machine its start takes some of that.
      3000,
    ),
  );
  for (const outcome of await Promise.all(outcomes))
    assert.deepEqual([codeOf(outcome), outcome.logs], ['time-limit', ['é \ud83d {"a":[1]}', '']]);
});

test('run may be asynchronous', async () => {
  assert.equal(resultOf(await run('export const run = async (input) => (await input) + "!";', 'a')), 'a!');
  assert.match(
    messageOf(await run('export const run = async () => { await 0; throw new Error("late"); };')),
    /^Error: late/,
  );
  assert.match(
    messageOf(await run('export const run = () => new Promise(() => {});')),
    /nothing is left to settle/,
  );
});

test('an error that a plugin throws is reported with its place in the source', async () => {
  const source = 'export function run() {\n  const text = "é😀"; throw new TypeError("bad");\n}\n';
  assert.equal(messageOf(await run(source)), 'TypeError: bad\n    at run (plugin.js:2:33)');
});

test('the level of a log entry is a part of its text', async () => {
  const { logs } = await run(
    running(
      'console.log("a"); console.info("b"); console.debug("c"); console.warn("d", 1); console.error("e"); return "";',
    ),
  );
  assert.deepEqual(logs, ['a', '[info] b', '[debug] c', '[warn] d 1', '[error] e']);
});

test('values that JSON cannot express are logged readably', async () => {
  const { logs } = await run(
    running(`console.log(new Map([["a", { b: 1 }], [2, new Set([3])]]), new Set(["x", 4n]), 5n);
      console.log({ map: new Map([["a", 1]]), set: new Set(), big: 6n });
      return "";`),
  );
  assert.deepEqual(logs, [
    'Map(2) {"a" => {"b":1}, 2 => [3]} Set(2) {"x", "4n"} 5',
    '{"map":[["a",1]],"set":[],"big":"6n"}',
  ]);
});

test('a run can be refused when its turn comes', async () => {
  const order: string[] = [];
  // More than a tenant has slots, of which there are at most four: when the first ends, the next one of these has its turn.
  const before = Array.from({ length: 5 }, () =>
    run(running('for (;;);'), '', 'loops', 100).then(() => order.push('ended')),
  );
  const refused = sandbox.run({
    program: loadedProgram({ kind: 'script', code: running('return input;'), file: 'plugin.js' }),
    input: '',
    owner: { environment: 'com.acme', tenant: 'loops', token: '' },
    async onTurn() {
      order.push('turn');
      throw new Error('refused');
    },
  });
  await assert.rejects(refused, { message: 'refused' });
  assert.ok(order.indexOf('turn') > 0, order.join());
  await Promise.all(before);
});

test('two hundred simultaneous runs are each answered correctly', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, i) => run(running('return input + "!";'), `${i}`)),
  );
  assert.deepEqual(
    outcomes.map(resultOf),
    Array.from({ length: 200 }, (_, i) => `${i}!`),
  );
});

test('a closed sandbox refuses runs, and ends those in progress', async () => {
  const own = new Sandbox();
  const program = loadedProgram({ kind: 'script', code: running('for (;;);'), file: 'plugin.js' });
  const looping = own.run({ program, input: '', owner: { environment: 'com.acme', tenant: 'a', token: '' } });
  const rejected = assert.rejects(looping);
  await own.close();
  await rejected;
  await assert.rejects(
    own.run({ program, input: '', owner: { environment: 'com.acme', tenant: 'a', token: '' } }),
    /closed/,
  );
});
