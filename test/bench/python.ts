import assert from 'node:assert/strict';
import { loadedProgram } from '../../service/src/plugins/program.ts';
import { residentMemory } from '../../service/src/processes/memory.ts';
import { PythonProcess } from '../../service/src/sandbox/python/python-process.ts';
import type { PythonImage } from '../../service/src/sandbox/python/python-process.ts';
import { Sandbox } from '../../service/src/sandbox/sandbox.ts';
import { mebibyte } from '../../service/src/units.ts';
import { type Figure, median } from './figures.ts';

const runs = 200;

const python = (code: string) => loadedProgram({ kind: 'python', code });
const hello = python('def run(input): return "Hello, " + input');
const sums = python(
  'import json\ndef run(input):\n    rows = json.loads(input)\n    return str(sum(row["n"] for row in rows))\n',
);
const objects = python('def run(input): return str(len([bytes(1000) for _ in range(40_000)]))');
const busy = python('def run(input):\n    while True: pass\n');
const script = loadedProgram({
  kind: 'script',
  code: 'export const run = (input) => `Hello, ${input}`;',
  file: 'plugin.js',
});

/** What plugins in Python cost, without HTTP. */
export async function measurePython(): Promise<Figure[]> {
  const limits = { time: 1000, memory: 64 * mebibyte };
  const image: PythonImage = {};
  const began = performance.now();
  const first = new PythonProcess(limits, image);
  await first.ready;
  const firstTook = performance.now() - began;
  const again = performance.now();
  const second = new PythonProcess(limits, image);
  await second.ready;
  const laterTook = performance.now() - again;
  // In a new runner, whose memory has to grow.
  assert.ok('result' in (await first.run(objects, '')));
  const objectsTook = first.lastDuration;
  const timeOf = async (program: typeof hello, input: string) => {
    const times: number[] = [];
    for (let i = 0; i < runs; i++) {
      const outcome = await second.run(program, input);
      assert.ok('result' in outcome, JSON.stringify(outcome));
      times.push(second.lastDuration);
    }
    return median(times);
  };
  const helloTook = await timeOf(hello, 'Ada');
  const rows = JSON.stringify(
    Array.from({ length: 2500 }, (_, n) => ({ n, name: `row number ${n} of many` })),
  );
  const jsonTook = await timeOf(sums, rows);
  const memory = Math.max(residentMemory(first.pid), residentMemory(second.pid)) / 1e6;
  await Promise.all([first.close(), second.close()]);
  const { alone, beside } = await measureNeighbour();
  return [
    { name: 'Python: "Hello"', value: helloTook, limit: 5, unit: 'ms' },
    {
      name: 'Python: 100 KB of JSON',
      value: jsonTook,
      limit: 15,
      unit: 'ms',
      note: `${(rows.length / 1000).toFixed()} KB`,
    },
    { name: 'Python: the first 40,000 objects of 1 KB', value: objectsTook, limit: 500, unit: 'ms' },
    {
      name: 'Python: a runner up after the first',
      value: laterTook,
      limit: 1000,
      unit: 'ms',
      note: `the first: ${firstTook.toFixed()} ms`,
    },
    { name: 'Python: memory of a runner', value: memory, limit: 450, unit: 'MB' },
    {
      name: 'JavaScript\'s "Hello" beside a busy Python runner',
      value: beside / alone,
      limit: 1.5,
      unit: '×',
      note: `${alone.toFixed(2)} and ${beside.toFixed(2)} ms`,
    },
  ];
}

/** How long "Hello" in JavaScript takes, one run at a time: alone, and while Python loops. */
async function measureNeighbour(): Promise<{ alone: number; beside: number }> {
  const sandbox = new Sandbox();
  const owner = { environment: 'com.acme', tenant: 'one', token: '' };
  try {
    await sandbox.run({ program: hello, input: '', owner });
    const looping = new AbortController();
    const measure = async () => {
      const times: number[] = [];
      for (let i = 0; i < 1000; i++) {
        const started = performance.now();
        await sandbox.run({ program: script, input: 'Ada', owner });
        times.push(performance.now() - started);
      }
      return median(times);
    };
    await measure();
    const alone = await measure();
    const loops = (async () => {
      while (!looping.signal.aborted)
        await sandbox.run({ program: busy, input: '', owner: { ...owner, tenant: 'two' } });
    })();
    const beside = await measure();
    looping.abort();
    await loops;
    return { alone, beside };
  } finally {
    await sandbox.close();
  }
}
