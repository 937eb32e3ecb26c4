import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import type { RunOutcome } from '../../../service/src/sandbox/outcome.ts';
import type { ScriptInput } from '../../../service/src/sandbox/script/script-run.ts';
import { ScriptRunner } from '../../../service/src/sandbox/script/script-runner.ts';
import { running } from '../plugin.ts';

/** A runner in this process, which keeps what the engine's memory was before each run from a captured state. */
function startRunner() {
  const memories: { code: string; memory: Uint8Array }[] = [];
  let current = '';
  const runner = new ScriptRunner((engine) =>
    memories.push({ code: current, memory: engine.memoryToCompare() }),
  );
  const run = async (code: string, input = '', time = 10_000) => {
    current = code;
    const logs: string[] = [];
    const program = { kind: 'script', code, file: 'plugin.js' } as const;
    const deadline = performance.now() + time;
    const job = { hash: code, program, deadline, logs: new Logs((entry) => logs.push(entry)) };
    const end = await runner.run(job, input);
    runner.restoreAhead();
    return { end, logs };
  };
  const resultOf = async (code: string, input?: string) => textOf((await run(code, input)).end);
  /** The runs of `code` that started from a captured state, and not with the top level. */
  const restoredRuns = async (code: string, times: number) => {
    const before = memories.length;
    for (let i = 0; i < times; i++) await run(code);
    return memories.length - before;
  };
  return { run, resultOf, restoredRuns, memories };
}

function textOf(end: RunOutcome): string {
  assert.ok('result' in end, JSON.stringify(end));
  return end.result;
}

/** What a run could leave behind, in as many ways as the language has. */
const leftovers: Record<string, string> = {
  'global variables': 'globalThis.left = "x".repeat(1e4); Array.prototype.left = left; return left;',
  'changed built-ins': 'JSON.parse = () => 1; Object.freeze(Object.prototype); return "";',
  'module state': 'state.push(input); return String(state.length);',
  'microtasks that throw': 'queueMicrotask(() => { throw 1; }); return "";',
  'promises that nothing settles': 'new Promise(() => {}).then(() => {}); return "";',
  'a registry of finalizers':
    'const all = new FinalizationRegistry(() => state.push(1)); all.register({}, 1); return String(all);',
  'symbols and regular expressions':
    'Symbol.for("left"); RegExp.lastIndex = 7; return String(/a/g.exec("a"));',
  'logs and errors': 'console.log("é", { a: [1] }); throw new TypeError("bad");',
  'random numbers and the time': 'return Math.random() + String(new Date());',
  'a deep stack': 'const dive = (n) => n && dive(n - 1) + 1; return String(dive(500));',
  'garbage in cycles': 'for (let i = 0; i < 2000; i++) { const a = {}; a.a = a; } return "";',
  'URLs and headers':
    'const url = new URL("https://example.com/a?b=1"); url.hash = input; return url + String(new Headers({ a: "b" }).get("a"));',
  'texts and bytes': 'return new TextDecoder("utf-16le").decode(new TextEncoder().encode("left€"));',
  'a structured clone': 'return String(structuredClone(new Map([[1, new Set(input)]])).size);',
  'random bytes and a digest':
    'crypto.randomUUID(); return crypto.subtle.digest("SHA-256", new Uint8Array(99)).then(String);',
  'a key':
    'return crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, false, ["encrypt"]).then(String);',
  'a rejected promise': 'return Promise.reject(new Error("bad"));',
};

for (const [name, body] of Object.entries(leftovers)) {
  test(`the engine's memory is the same, byte by byte, before each run of a plugin that leaves ${name}`, async () => {
    const { run, memories } = startRunner();
    const code = `const state = [];\n${running(body)}`;
    for (let i = 0; i < 6; i++) {
      await run(code, `${i}`);
      // Once more, and then from a memory that was put back ahead.
      if (i === 1) for (let again = 0; again < 3; again++) await run(code, `${i}`);
      // Runs of others come between, one of which has its engine thrown away.
      await run(running('globalThis.other = input; return other;'), 'other');
      if (i === 3) await run(running('return "x".repeat(2 ** 21);'));
    }
    const own = memories.filter((one) => one.code === code).map(({ memory }) => memory);
    assert.ok(own.length >= 8, `${own.length} runs started from a captured state.`);
    for (const memory of own) assert.equal(Buffer.compare(memory, own[0] ?? memory), 0);
  });
}

test('the top level of a plugin is evaluated once, and each run starts from the state after it', async () => {
  const { restoredRuns, resultOf } = startRunner();
  const code = `const table = [...Array(1000).keys()];\n${running('return String(table.length);')}`;
  assert.equal(await restoredRuns(code, 5), 4);
  assert.equal(await resultOf(code), '1000');
});

test("the engine's memory is the same, byte by byte, after runs that wait, go on and end, and after those of another plugin", async () => {
  let current = '';
  const memories: { code: string; memory: Uint8Array }[] = [];
  const runner = new ScriptRunner((engine) =>
    memories.push({ code: current, memory: engine.memoryToCompare() }),
  );
  const waiting = `const dive = (n) => n && dive(n - 1) + 1;
    export async function run(input) {
      globalThis.left = "x".repeat(1e4) + dive(500);
      return input === "wait" ? (await fetch("https://example.com/")).text() : input;
    }`;
  const other = running('globalThis.other = input; return other;');
  let called = 0;
  const calls = { call: (id: number) => ((called = id), true), startTimer: () => true, stopTimer() {} };
  const take = async (code: string, input: ScriptInput) => {
    current = code;
    const program = { kind: 'script', code, file: 'plugin.js' } as const;
    const job = { hash: code, program, deadline: Infinity, logs: new Logs() };
    const outcome = await runner.take(code === waiting ? { ...job, calls } : job, input);
    runner.restoreAhead();
    return outcome;
  };
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await take(waiting, { text: 'ended' }), { result: 'ended' });
    const waits = await take(waiting, { text: 'wait' });
    assert.ok('suspended' in waits, JSON.stringify(waits));
    // Twice, so that the memory is restored ahead the next time.
    for (const text of ['a', 'b', 'c']) assert.deepEqual(await take(other, { text }), { result: text });
    assert.ok('suspended' in (await take(waiting, { text: 'wait' })));
    const response = [200, 'OK', 'https://example.com/', []] as const;
    const arrivals = [{ id: called, head: response, body: new TextEncoder().encode('body') }];
    const resumed = await take(waiting, { suspended: waits.suspended, arrivals, elapsed: 1 });
    assert.deepEqual(resumed, { result: 'body' });
  }
  for (const code of [waiting, other]) {
    const own = memories.filter((one) => one.code === code).map(({ memory }) => memory);
    assert.ok(own.length >= 8, `${own.length} runs started from a captured state.`);
    for (const memory of own) assert.equal(Buffer.compare(memory, own[0] ?? memory), 0);
  }
});

for (const [what, expression] of Object.entries({
  'a random number': 'Math.random()',
  'the time': 'Date.now()',
  'the date': 'String(new Date())',
  'the time since the start': 'performance.now()',
  'a random identifier': 'crypto.randomUUID()',
  'random bytes': 'crypto.getRandomValues(new Uint8Array(4))',
  'a new key': 'await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"])',
})) {
  test(`a plugin whose top level reads ${what} is evaluated anew for each run`, async () => {
    const { restoredRuns } = startRunner();
    assert.equal(await restoredRuns(`const read = ${expression};\n${running('return String(read);')}`, 4), 0);
  });
}

test('random identifiers, bytes and keys do not repeat from run to run', async () => {
  const { resultOf } = startRunner();
  const code = `export async function run() {
    const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
    const raw = new Uint8Array(await crypto.subtle.exportKey("raw", key));
    return JSON.stringify([crypto.randomUUID(), crypto.getRandomValues(new Uint32Array(4)).join(), raw.join()]);
  }`;
  const read = new Set<unknown>();
  for (let i = 0; i < 100; i++)
    for (const one of JSON.parse(await resultOf(code)) as unknown[]) read.add(one);
  assert.equal(read.size, 300);
});

test('random numbers cannot be derived from the time at which the engine was made', async () => {
  // With the engine's own seed, engines that are made within one microsecond give the same numbers.
  const numbers = new Set<string>();
  const realNow = Date.now;
  try {
    Date.now = () => 1_800_000_000_000;
    for (let i = 0; i < 20; i++)
      numbers.add(await startRunner().resultOf(running('return String(Math.random());')));
  } finally {
    Date.now = realNow;
  }
  assert.equal(numbers.size, 20);
});

test('logs of the top level are in the logs of each run, and count towards their limit', async () => {
  const { run } = startRunner();
  const code = `console.log("top");\n${running('console.log(input); return input;')}`;
  for (const input of ['a', 'b', 'c']) assert.deepEqual((await run(code, input)).logs, ['top', input]);
  const much = `console.log("x".repeat(1e6));\n${running('console.log("x".repeat(1e5)); return "";')}`;
  for (let i = 0; i < 3; i++) {
    const { end } = await run(much);
    assert.ok('error' in end && end.error.code === 'log-limit', JSON.stringify(end));
  }
});

test('a top level that throws makes each run throw', async () => {
  const { run } = startRunner();
  for (let i = 0; i < 3; i++) {
    const { end } = await run(`throw new Error("top");\n${running('return "";')}`);
    assert.ok('error' in end && end.error.message.startsWith('Error: top'), JSON.stringify(end));
  }
});

test('a plugin that needs more memory than others gets more, and still starts each run afresh', async () => {
  const { run, restoredRuns } = startRunner();
  const code = running('return String(Array.from({ length: 40_000 }, (_, i) => ({ i })).length);');
  for (let i = 0; i < 3; i++) assert.equal(textOf((await run(code)).end), '40000');
  assert.equal(await restoredRuns(code, 3), 3);
});

test('a plugin whose memory is too large to be restored still runs', async () => {
  const { resultOf } = startRunner();
  const code = running('return String(new Uint8Array(24e6).fill(1).length);');
  for (let i = 0; i < 8; i++) assert.equal(await resultOf(code), '24000000');
});

test("text that cannot be passed for lack of memory ends the run with an error, not with the engine's text for it", async () => {
  const { run } = startRunner();
  const full = (body: string) =>
    running(`const all = (globalThis.all = []); try { for (;;) all.push("x".repeat(1e5) + all.length); } catch {}
      for (let size = 1e4; size > 8; size /= 2) try { for (;;) all.push("y".repeat(size) + all.length); } catch {}
      ${body}`);
  // Text beyond ASCII needs a copy to be handed over.
  const { end } = await run(`const text = "é€😀".repeat(1e5);\n${full('return text;')}`);
  assert.ok('error' in end && end.error.code === 'memory-limit', JSON.stringify(end).slice(0, 300));
  const { end: logged } = await run(
    `const text = "é€😀".repeat(1e5);\n${full('console.log(text); return "";')}`,
  );
  assert.ok('error' in logged && logged.error.code === 'memory-limit', JSON.stringify(logged).slice(0, 300));
});

test('a log entry of many mebibytes is cut by the limit of logs', async () => {
  const { run } = startRunner();
  const { end, logs } = await run(running('console.log("x".repeat(2 ** 24)); return "";'));
  assert.ok('error' in end && end.error.code === 'log-limit', JSON.stringify(end));
  assert.deepEqual(logs, []);
});

test('a million empty log entries are cut by the limit of logs', async () => {
  const { run } = startRunner();
  const { end, logs } = await run(running('for (let i = 0; i < 1e6; i++) console.log(); return "";'));
  assert.ok('error' in end && end.error.code === 'log-limit', JSON.stringify(end));
  assert.equal(logs.length, 10_000);
});
