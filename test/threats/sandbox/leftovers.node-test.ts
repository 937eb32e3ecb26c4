import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import { ScriptRunner } from '../../../service/src/sandbox/script/script-runner.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { running } from '../../service/plugin.ts';
import { littleMemory, script, startTarget } from './target.ts';

/** A runner in this process, for the tests that ask what a run can know of those before it, whatever these were. */
function startReader() {
  const runner = new ScriptRunner();
  return async (code: string): Promise<string> => {
    const program = { kind: 'script', code, file: 'plugin.js' } as const;
    const outcome = await runner.run({ hash: code, program, deadline: Infinity, logs: new Logs() }, '');
    assert.ok('result' in outcome, JSON.stringify(outcome));
    return outcome.result;
  };
}

const read = startReader();

const clocks = 'JSON.stringify([performance.timeOrigin, performance.now(), Date.now()])';
const readClocks = running(`return ${clocks};`);
const clocksIn = (json: string) => JSON.parse(json) as [origin: number, now: number, date: number];

test('the monotonic clock starts with each run, whatever ran before, and has the same origin in every runner', async () => {
  for (const run of [read, startReader()]) {
    // A plugin that needs more memory runs in another engine.
    const larger = running(`const room = new Uint8Array(5e6); return ${clocks};`);
    const wait = running('const end = Date.now() + 20; while (Date.now() < end); return "";');
    for (const code of [readClocks, wait, readClocks, larger, larger, wait, larger, wait, readClocks]) {
      const began = performance.now();
      const output = await run(code);
      if (code === wait) continue;
      const [origin, now] = clocksIn(output);
      assert.equal(origin, 0);
      assert.ok(now >= 0 && now <= performance.now() - began, `${now}`);
    }
  }
});

test('the time of day in a run is the real one', async () => {
  for (let i = 0; i < 3; i++) {
    const before = Date.now();
    const [, , date] = clocksIn(await read(readClocks));
    assert.ok(date >= before && date <= Date.now());
  }
});

const wholeWord = (1n << 64n) - 1n;
const multiplier = 0x2545f4914f6cdd1dn;
/** What undoes the multiplication, modulo 2^64. */
const inverse = 0x59071d96d81ecd35n;

/** One step of the engine's generator, xorshift64*. */
function nextState(state: bigint): bigint {
  let next = state;
  next ^= next >> 12n;
  next = (next ^ (next << 25n)) & wholeWord;
  return next ^ (next >> 27n);
}

/** A number from 0 to 1 has the upper 52 bits of the product. */
const numberFrom = (state: bigint) => Number(((state * multiplier) & wholeWord) >> 12n) / 2 ** 52;

/** The generator's state after `numbers`, found as anybody can who knows the generator: there are 12 bits to guess. */
function stateAfter([first = 0, ...rest]: readonly number[]): bigint {
  const upper = BigInt(first * 2 ** 52) << 12n;
  for (let guess = 0n; guess < 4096n; guess++) {
    let state = ((upper | guess) * inverse) & wholeWord;
    if (rest.every((number) => numberFrom((state = nextState(state))) === number)) return state;
  }
  throw new Error('No state gives these numbers.');
}

function numbersAfter(state: bigint, count: number): number[] {
  let next = state;
  return Array.from({ length: count }, () => numberFrom((next = nextState(next))));
}

const sixNumbers = 'JSON.stringify(Array.from({ length: 6 }, () => Math.random()))';
const inRun = running(`return ${sixNumbers};`);
const inOtherRun = running(`return input + ${sixNumbers};`);
const inTopLevel = `const numbers = ${sixNumbers};\n${running('return numbers;')}`;
const numbersIn = (json: string) => JSON.parse(json) as number[];

test('the random numbers of a run predict only later ones of the same run', async () => {
  for (let round = 0; round < 5; round++) {
    const numbers = numbersIn(await read(inRun));
    const state = stateAfter(numbers.slice(0, 3));
    assert.deepEqual(numbersAfter(state, 3), numbers.slice(3));
    const predicted = new Set(numbersAfter(state, 10_000));
    for (const code of [inRun, inOtherRun, inTopLevel, inTopLevel]) {
      for (const number of numbersIn(await read(code))) assert.ok(!predicted.has(number), code);
    }
  }
});

for (const [place, code] of Object.entries({ run: inRun, 'the top level': inTopLevel })) {
  test(`every bit of the random numbers' state differs from run to run, in ${place}`, async () => {
    let everSet = 0n;
    let everClear = 0n;
    for (let i = 0; i < 64; i++) {
      const state = stateAfter(numbersIn(await read(code)).slice(0, 3));
      everSet |= state;
      everClear |= ~state & wholeWord;
    }
    assert.deepEqual([everSet, everClear], [wholeWord, wholeWord]);
  });
}

const target = startTarget();
const run = (program: StoredProgram, input?: string) => target.run(program, input, { memory: littleMemory });

/** What a run leaves, how a later run looks for it (an expression that is to be false), and what the module begins with. */
interface Leftover {
  readonly leave: string;
  readonly look: string;
  readonly module?: string;
}

const leftovers: Record<string, Leftover> = {
  'a global variable': { leave: 'globalThis.left = 1;', look: '"left" in globalThis' },
  'a property of a function of the engine': {
    leave: 'JSON.parse.left = Math.left = console.log.left = 1;',
    look: 'JSON.parse.left || Math.left || console.log.left',
  },
  'a changed function of the engine': {
    leave: 'JSON.parse = Math.random = Date.now = () => "left";',
    look: '[JSON.parse("1"), Math.random(), Date.now()].includes("left")',
  },
  'a property of a class of Intl or of the web': {
    leave:
      'for (const type of [Intl.NumberFormat, Intl.Collator, URL, Headers, TextDecoder, CryptoKey]) type.prototype.left = type.left = 1; Intl.left = crypto.left = 1;',
    look: 'Intl.left || crypto.left || new Intl.NumberFormat("de").left || new URL("a:b").left || new Headers().left || CryptoKey.left',
  },
  'a URL, a query, headers and a decoder': {
    module:
      'const url = new URL("https://a/?b=1"), all = url.searchParams, headers = new Headers(), decoder = new TextDecoder();',
    leave:
      'all.set("b", 2); headers.set("a", 1); decoder.decode(new Uint8Array([0xe2, 0x82]), { stream: true });',
    look: 'url.search !== "?b=1" || headers.has("a") || decoder.decode(new Uint8Array([0x61])) !== "a"',
  },
  'an order that was learnt': {
    module: 'const order = new Intl.Collator("de");',
    leave:
      'order.left = Array.from({ length: 600 }, (_, i) => "ä" + i).sort(order.compare).map((text) => text.localeCompare("b"));',
    look: 'order.left || order.compare("a", "b") !== -1 || "a".localeCompare("b") !== -1',
  },
  'a key': {
    module: 'const keys = [];',
    leave: 'keys.push(crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]));',
    look: 'keys.length',
  },
  'a changed console': {
    leave: 'console.log = console.info = () => globalThis.left; globalThis.console = null;',
    look: '!console || console.log.name !== "write"',
  },
  'a deleted global': {
    leave: 'delete globalThis.Map; delete globalThis.console; delete Array.prototype.map;',
    look: 'typeof Map + typeof console + typeof [].map !== "functionobjectfunction"',
  },
  'a hook of stacks': {
    leave: 'Error.prepareStackTrace = () => "left"; Error.stackTraceLimit = 0;',
    look: 'Error.prepareStackTrace || new Error("").stack === "left" || Error.stackTraceLimit !== 10',
  },
  'a variable of the module': {
    module: 'let left = 0; const all = [];',
    leave: 'left += 1; all.push(input);',
    look: 'left || all.length',
  },
  'a promise that waits': {
    module: 'let resolve;',
    leave: 'new Promise((given) => { resolve = given; }).then(() => { globalThis.left = 1; });',
    look: 'resolve || "left" in globalThis',
  },
  'a queue of jobs': {
    leave:
      'let jobs = 0; const again = () => { globalThis.left = 1; console.log("left"); if ((jobs += 1) < 100) queueMicrotask(again); }; queueMicrotask(again);',
    look: '"left" in globalThis',
  },
  'an asynchronous function that waits': {
    leave:
      '(async () => { await new Promise(() => {}); globalThis.left = 1; })(); (async () => { await 1; globalThis.left = 1; console.log("left"); })();',
    look: '"left" in globalThis',
  },
  'what is called at the end of objects': {
    leave:
      'globalThis.all = new FinalizationRegistry(() => { globalThis.left = 1; console.log("left"); }); for (let i = 0; i < 100; i++) all.register({}, 1);',
    look: '(() => { for (let i = 0; i < 1e4; i++) ({ i }); return "left" in globalThis || "all" in globalThis; })()',
  },
  'a proxy behind the globals': {
    leave:
      'Object.setPrototypeOf(Object.getPrototypeOf(globalThis) ?? {}, null); try { Object.setPrototypeOf(globalThis, new Proxy({}, { has: () => true, get: () => "left" })); } catch {}',
    look: 'globalThis.anything',
  },
  'an accessor in the way of the sandbox': {
    leave:
      'Object.defineProperty(Object.prototype, "then", { get() { return undefined; }, set() { throw 1; }, configurable: false });',
    look: '"then" in {}',
  },
  'a random state': {
    module: 'let first;',
    leave: 'for (let i = 0; i < 1000; i++) first = Math.random();',
    look: 'first',
  },
};

/** How a run ends after it left something; some of these have the engine thrown away. */
const endings: Record<string, string> = {
  'with an answer': 'return "done";',
  'with a promise': 'return Promise.resolve("done");',
  'with a promise that nothing settles': 'return new Promise(() => {});',
  'with an error': 'throw new Error("done");',
  'for want of stack': 'const dive = () => dive() + 1; dive();',
  'for want of memory': 'const hoard = []; for (;;) hoard.push(new Uint8Array(1e6).fill(1));',
  'by logging too much': 'for (;;) console.log("x".repeat(5e5));',
};

/** A module that leaves something in each run but those that look for it. */
const inEachRun = ({ module = '', leave, look }: Leftover, end: string) => `${module}
    export let run = (input) => {
      const look = () => Boolean(${look});
      if (input === 'look') return String(look());
      ${leave}
      ${end}
    };`;

describe('a run leaves', () => {
  const others = target.watchOthers();
  for (const [i, [what, leftover]] of Object.entries(leftovers).entries()) {
    test(`${what} neither for the next run of its plugin nor for another's`, async () => {
      others.note(what);
      const other = script(`${inEachRun(leftover, 'return "done";')}// of another`);
      // The usual end, and one of the others: the leftovers take turns with them.
      const [usual, ...unusual] = Object.entries(endings);
      for (const [how, end] of [usual, unusual[i % unusual.length]].filter((one) => one !== undefined)) {
        const own = script(inEachRun(leftover, end));
        // Twice, after which the engine is put back ahead of the next run.
        for (let count = 0; count < 2; count++) await run(own, 'leave');
        for (const program of [own, own, other, own]) {
          assert.deepEqual(await run(program, 'look'), { result: 'false', logs: [] }, how);
        }
      }
      await others.lookAfterSome();
    });
  }
});

for (const [what, leftover] of Object.entries(leftovers)) {
  test(`the test's own detection finds ${what} in the run that leaves it`, async () => {
    const afterJobs =
      'return (async () => { for (let i = 0; i < 3; i++) await null; return String(look()); })();';
    const outcome = await run(script(inEachRun(leftover, afterJobs)), 'leave');
    assert.equal('result' in outcome && outcome.result, 'true', JSON.stringify(outcome));
  });
}

const secret = 0xa7;

/** Ways to have a secret in as much of the memory as there is. */
const writers: Record<string, string> = {
  bytes: `const all = []; try { for (;;) all.push(new Uint8Array(1e5).fill(${secret})); } catch {}`,
  'texts of one byte a character': `const all = []; try { for (;;) all.push("\\xa7".repeat(1e5) + all.length); } catch {}`,
  'texts of two bytes a character': `const all = []; try { for (;;) all.push("\\ua7a7".repeat(5e4) + all.length); } catch {}`,
  'arrays of numbers': `const all = []; try { for (;;) all.push(Array.from({ length: 1000 }, () => 0x27a7a7a7)); } catch {}`,
  'bytes that are given back': `for (let i = 0; i < 50; i++) new Uint8Array(5e5).fill(${secret});`,
};

/** Takes memory in blocks of many sizes and kinds, and tells how many of them had the secret in it. */
const search = `export function run() {
  let found = 0;
  const look = (buffer) => { if (new Uint8Array(buffer).includes(${secret})) found += 1; };
  for (let size = 1; size < 3e5; size = Math.ceil(size * 2.3)) {
    for (let i = 0; i < 2; i++) {
      look(new ArrayBuffer(size));
      look(new Float64Array(Math.ceil(size / 8)).buffer);
      look(new ArrayBuffer(1).transfer(size));
      const growing = new ArrayBuffer(1, { maxByteLength: size });
      growing.resize(size);
      look(growing);
    }
  }
  return String(found);
}`;

for (const [i, [what, write]] of Object.entries(writers).entries()) {
  test(`memory that a run allocates holds nothing of another's ${what}`, async () => {
    for (const end of ['return "done";', i % 2 ? 'throw 1;' : 'return "x".repeat(2e6);']) {
      await run(script(`export const run = () => { ${write} ${end} };`));
      // Both one that starts from a state that is kept, and one that is new here.
      for (const code of [search, `${search}// ${what} ${end}`]) {
        assert.deepEqual(await run(script(code)), { result: '0', logs: [] });
      }
    }
  });
}

test('a run has the same amount of memory, whatever ran before it', async () => {
  const count = script(`export function run() {
    const counts = [];
    for (const make of [() => new Uint8Array(1e6), () => "x".repeat(1e5) + counts.length, () => new Array(1e5).fill({})]) {
      let all = [];
      try { for (;;) all.push(make()); } catch { counts.push(all.length); }
      all = null;
    }
    return counts.join();
  }`);
  const before = await run(count);
  assert.ok('result' in before, JSON.stringify(before));
  for (const write of Object.values(writers)) await run(script(`export const run = () => { ${write} };`));
  assert.deepEqual(await run(count), before);
});

test("the engine's stack is empty before each run, however the previous one ended", async () => {
  // The place of its end is all that the engine keeps outside of its memory.
  const places = new Set<number>();
  const runner = new ScriptRunner((engine) => places.add(engine.vm.snapshot().stackPointer));
  const runHere = (code: string) => {
    const program = { kind: 'script', code, file: 'plugin.js' } as const;
    const deadline = performance.now() + 10_000;
    return runner.run({ hash: code, program, deadline, logs: new Logs(() => {}) }, '');
  };
  const bodies = [...Object.values(endings), 'const more = () => [1].map(more); more();', 'null.x;'];
  for (const body of bodies) {
    await runHere(running(body));
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(await runHere(running('return "next";')), { result: 'next' });
    }
  }
  assert.equal(places.size, 1);
});
