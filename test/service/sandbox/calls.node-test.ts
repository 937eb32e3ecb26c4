import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueOwner } from '../../../service/src/processes/fair-queue.ts';
import { FrameReader } from '../../../service/src/processes/frames.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { runError, RunFailure } from '../../../service/src/sandbox/outcome.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import type { Turn } from '../../../service/src/sandbox/runner-process.ts';
import type { CallResult, GuestRequest } from '../../../service/src/sandbox/run-calls.ts';
import { RunCalls } from '../../../service/src/sandbox/run-calls.ts';
import { encodeCall, frameKind } from '../../../service/src/sandbox/protocol.ts';
import { defaultLimits } from '../../../service/src/sandbox/run-limits.ts';
import { ConnectedRun } from '../../../service/src/sandbox/connected-run.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { until } from '../../support/until.ts';
import { defaultWaiting, WaitingRuns } from '../../../service/src/sandbox/waiting-runs.ts';
import { mebibyte } from '../../../service/src/units.ts';
import { patientLimits } from '../tool-processes.ts';
import { answering, asyncRun, begin, encoder, response, sandbox, show, upstream } from './calling.ts';

const run = async (
  body: string,
  answer: (request: GuestRequest) => CallResult | string = () => '',
  more = {},
) => show((await begin(asyncRun(body), answering(answer), more)).outcome);

test('a plugin gets the response to its call', async () => {
  const requests: GuestRequest[] = [];
  const result = await run(
    `const response = await fetch('https://a.example/rates?of=1', { method: 'post', headers: { 'X-One': '1' }, body: 'ä' });
     return JSON.stringify([response.ok, response.status, response.statusText, response.url, response.headers.get('x-two'), await response.text(), input]);`,
    (request) => {
      requests.push(request);
      return response('body ✓', { status: 201, statusText: 'Created', headers: [['x-two', '2']] });
    },
  );
  assert.deepEqual(JSON.parse(result), [true, 201, 'Created', 'https://a.example/', '2', 'body ✓', 'in']);
  assert.deepEqual(requests, [
    {
      method: 'POST',
      url: 'https://a.example/rates?of=1',
      headers: [
        ['content-type', 'text/plain;charset=UTF-8'],
        ['x-one', '1'],
      ],
      body: requests[0]?.body,
    },
  ]);
  assert.equal(Buffer.from(requests[0]?.body ?? []).toString(), 'ä');
});

test('runs wait outside of the runners, so that many more wait than there are runners', async () => {
  const { caller, waiting, come } = upstream();
  const before = await begin(
    asyncRun('return "first"'),
    answering(() => ''),
  );
  assert.equal(show(before.outcome), 'first');
  const code = asyncRun(
    'const own = { input, random: Math.random() }; const text = await (await fetch("https://a.example/" + input)).text(); return own.input + text + own.random;',
  );
  const runs = Array.from({ length: 60 }, (_, i) => begin(code, caller, { input: String(i) }));
  await come(60);
  assert.equal(sandbox.connected.size, 60);
  assert.equal(show((await begin('export const run = (input) => input + "!"', undefined)).outcome), 'in!');
  for (const { request, answer } of waiting.toReversed()) answer(response(` got ${request.url.slice(18)} `));
  const shown = (await Promise.all(runs)).map(({ outcome }) => show(outcome));
  assert.deepEqual(
    shown.map((text) => text.split(' ').slice(0, 3).join(' ')),
    shown.map((_, i) => `${i} got ${i}`),
  );
  assert.equal(
    new Set(shown.map((text) => text.split(' ')[3])).size,
    60,
    'each has random numbers of its own',
  );
  assert.equal(sandbox.connected.size, 0);
});

test('what keeps a run that waits from going on is told to the operator', async () => {
  const errors: unknown[] = [];
  const lost = new Error('It is away.');
  const waitingRun = new ConnectedRun(
    {
      program: loadedProgram({ kind: 'script', code: '', file: 'plugin.js' }),
      input: '',
      owner: { environment: 'com.acme', tenant: 't1', token: '' },
      caller: upstream().caller,
      limits: patientLimits,
      onError: (error) => errors.push(error),
    },
    sandbox.connected,
  );
  const { outcome } = await waitingRun.execute(async (makeTurn, isFirst) => {
    if (!isFirst) throw lost;
    makeTurn().calls?.startTimer(1, 0);
    return { outcome: { suspended: Buffer.alloc(1) }, took: 0, isWarm: true };
  });
  assert.equal(show(outcome), 'runner-crashed: The run could not go on.');
  assert.deepEqual(errors, [lost]);
});

test('several responses are given in the order in which they came', async () => {
  const { caller, waiting, come } = upstream();
  const running = begin(
    asyncRun(
      'const order = []; await Promise.all(["a", "b", "c"].map((name) => fetch("https://" + name + ".example").then(() => order.push(name)))); return order.join("");',
    ),
    caller,
  );
  await come(3);
  for (const i of [2, 0, 1]) waiting[i]?.answer(response(''));
  assert.equal(show((await running).outcome), 'cab');
});

test('what a call gives a plugin is a standard response', async () => {
  const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
  const shown = await run(
    `const get = () => fetch("https://a.example");
     const twice = await get(); await twice.text();
     const again = await twice.text().catch((error) => error.name + ": " + error.message);
     const list = (value) => Array.from(value).join();
     return JSON.stringify([await (await get()).text(), await (await get()).json(), list(await (await get()).bytes()), list(new Uint8Array(await (await get()).arrayBuffer())), twice.bodyUsed, again, (await get()) instanceof Response, new Response("a", { status: 404 }).ok]);`,
    () => response('', { body: bytes }),
  );
  const [text, json, ...rest] = JSON.parse(shown) as unknown[];
  assert.deepEqual([text, json], ['{}', {}]);
  assert.deepEqual(rest, [
    '239,187,191,123,125',
    '239,187,191,123,125',
    true,
    'TypeError: The body of this response was read already.',
    true,
    false,
  ]);
});

test('whatever a server may send as status and headers, the plugin can read', async () => {
  const headers = [
    ['x-a', '\u00e9\u00ff'],
    ['x-a', ''],
    ["x!#$%&'*+-.^_`|~", ' \t '],
    ['__proto__', 'own'],
  ];
  assert.deepEqual(
    JSON.parse(
      await run(
        'const got = await fetch("https://a.example"); return JSON.stringify([got.status, got.ok, got.statusText, [...got.headers]]);',
        () => response('', { status: 999, statusText: '\u00ff', headers }),
      ),
    ),
    [
      999,
      false,
      '\u00ff',
      [
        ['__proto__', 'own'],
        ["x!#$%&'*+-.^_`|~", ''],
        ['x-a', '\u00e9\u00ff, '],
      ],
    ],
  );
});

test('the bodies that a plugin may send arrive as they are', async () => {
  const got: string[] = [];
  await run(
    `const bytes = Uint8Array.of(9, 1, 2, 3, 9);
     for (const body of ["\\ud800", new URLSearchParams("a=1 2"), bytes.buffer, bytes.subarray(1, 4), new DataView(bytes.buffer, 1, 1), null])
       await fetch("https://a.example", { method: body === null ? "DELETE" : "PUT", body });
     return "";`,
    ({ headers, body }) => {
      got.push(
        `${new Map(headers).get('content-type') ?? ''} ${body ? Buffer.from(body).toString('hex') : 'none'}`,
      );
      return '';
    },
  );
  assert.deepEqual(got, [
    'text/plain;charset=UTF-8 efbfbd',
    `application/x-www-form-urlencoded;charset=UTF-8 ${Buffer.from('a=1+2').toString('hex')}`,
    ' 0901020309',
    ' 010203',
    ' 01',
    ' none',
  ]);
});

test('what fetch does not take is a TypeError that says so, and makes no call', async () => {
  const cases: Record<string, RegExp> = {
    '"https://a.example", { signal: {} }':
      /"signal" is not supported here; "method", "headers" and "body" are\. A call/,
    '"https://a.example", { redirect: "follow" }': /"redirect" is not supported/,
    '"https://a.example", { method: "GET", body: "x" }': /method GET has no body/,
    '"https://a.example", { method: "PO ST" }': /"method" must be the name of a method/,
    '"https://a.example", { method: "POST", body: {} }': /"body" must be text, URLSearchParams/,
    '"https://a.example", { headers: { "a b": "1" } }': /header name/,
    '"https://a.example", { headers: { a: "1\\r\\nb: 2" } }': /header value/,
    '"https://a.example/" + "x".repeat(9000)': /at most 8192 characters/,
  };
  for (const [args, expected] of Object.entries(cases)) {
    const shown = await run(
      `try { await fetch(${args}); return "no error" } catch (error) { return error.name + " " + error.message }`,
      () => assert.fail('no call'),
    );
    assert.match(shown, expected, args);
    assert.match(shown, /^TypeError /, args);
  }
});

test('a call that cannot be made rejects with a code, and ends the run where the plugin does not catch it', async () => {
  const error: CallResult = { error: { code: 'not-granted', message: 'a.example is not granted.' } };
  const call = 'await fetch("https://a.example");';
  assert.equal(
    await run(
      `try { ${call} } catch (error) { return error.name + " " + error.code + " " + error.message }`,
      () => error,
    ),
    'TypeError not-granted a.example is not granted.',
  );
  assert.match(
    await run(call, () => error),
    /^plugin-error: TypeError: a\.example is not granted\.\n {2}at plugin\.js:|^plugin-error: TypeError: a\.example is not granted\./,
  );
});

test('at the top level calls and timers throw, and say where they work', async () => {
  for (const [name, code] of Object.entries({
    fetch: 'fetch("https://a.example")',
    setTimeout: 'setTimeout(() => {})',
    clearTimeout: 'clearTimeout(1)',
  })) {
    const { outcome } = await begin(
      `${code};\nexport const run = () => "";`,
      answering(() => ''),
    );
    assert.match(
      show(outcome),
      new RegExp(`plugin-error: TypeError: ${name} works inside of "run" alone: call it there`),
    );
  }
});

test('without a caller a plugin has no fetch and no timers, also after runs that had', async () => {
  const code =
    'export const run = () => [typeof fetch, typeof Response, typeof setTimeout, typeof clearTimeout].join();';
  for (let i = 0; i < 3; i++) {
    const { outcome } = await begin(
      code,
      answering(() => ''),
    );
    assert.equal(show(outcome), 'function,function,function,function');
    assert.equal(show((await begin(code, undefined)).outcome), 'undefined,undefined,undefined,undefined');
  }
});

test('timers fire with their values, in order of their time, and not once they are cleared', async () => {
  assert.equal(
    await run(
      `const order = [];
       await new Promise((resolve) => { setTimeout(resolve, 600); setTimeout((a, b) => order.push(a + b), 300, "x", "y"); setTimeout(() => order.push("first"), 1); clearTimeout(setTimeout(() => order.push("never"), 5)); clearTimeout(); setTimeout(() => order.push("never"), Infinity); });
       return order.join();`,
    ),
    'first,xy',
  );
  assert.match(
    await run('setTimeout(() => { throw new RangeError("late") }); await new Promise(() => {});'),
    /plugin-error: RangeError: late/,
  );
  assert.match(
    await run(
      'for (let i = 0; ; i++) { try { setTimeout(() => {}, 1e9) } catch (error) { return i + error.message } }',
    ),
    /^100setTimeout: this run has set as many timers as a run may/,
  );
});

test('a run that waits for a promise that nothing settles ends, also after a call', async () => {
  for (const before of [
    '',
    'await fetch("https://a.example");',
    'clearTimeout(setTimeout(() => {}, 1e6));',
  ]) {
    assert.match(
      await run(`${before} await new Promise(() => {});`),
      /waits for a promise that nothing is left to settle/,
    );
  }
});

test('the clock, the logs and the random state go on where a run has waited', async () => {
  const { caller, waiting, come } = upstream();
  const running = begin(
    asyncRun(
      'const before = performance.now(), at = Date.now(); console.log("one"); await fetch("https://a.example"); console.log("two"); return JSON.stringify([performance.now() - before, Date.now() - at]);',
    ),
    caller,
  );
  await come(1);
  const began = performance.now();
  while (performance.now() - began < 60) await new Promise((resolve) => setImmediate(resolve));
  waiting[0]?.answer(response(''));
  const { outcome, took, waited } = await running;
  const [monotonic = 0, wall = 0] = JSON.parse(show(outcome)) as number[];
  assert.ok(monotonic >= 55 && wall >= 55, `${monotonic} ${wall}`);
  assert.deepEqual(outcome.logs, ['one', 'two']);
  assert.ok(waited > 0 && took > 0, `${took} ${waited}`);
});

test('limits of logs and time are those of the whole run', async () => {
  const [half, most] = ['"x".repeat(600_000)', 600];
  assert.match(
    await run(`console.log(${half}); await fetch("https://a.example"); console.log(${half}); return "";`),
    /^log-limit/,
  );
  const loop = `for (const end = performance.now() + ${most}; performance.now() < end;);`;
  const limits = { ...defaultLimits, time: 1000 };
  const ended = await begin(
    asyncRun(`${loop} await fetch("https://a.example"); ${loop} return "late";`),
    answering(() => ''),
    { limits },
  );
  assert.equal(
    show(ended.outcome),
    'time-limit: The plugin ran for more than 1 s, which is the limit of time.',
  );
});

test('the time of a run in engines is what runners report, and no more than this process has seen', async (t) => {
  const call = 'await fetch("https://a.example");';
  let reported = '';
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its reader
  const { push } = FrameReader.prototype;
  t.mock.method(FrameReader.prototype, 'push', function (this: FrameReader, chunk: Buffer) {
    return push
      .call(this, chunk)
      .map((frame) => (frame.kind === frameKind.took ? { ...frame, text: reported } : frame));
  });
  const ended = async (text: string, body = `${call} return "done";`) => {
    reported = text;
    const limits = { ...patientLimits, time: 19_999 };
    return begin(
      asyncRun(body),
      answering(() => ''),
      { limits },
    );
  };
  assert.equal((await ended('0')).took, 0);
  const { took } = await ended('19000', 'return "done";');
  assert.ok(took > 0 && took < 19_000, String(took));
  assert.match(show((await ended('x')).outcome), /^runner-crashed: .*reported no time/);
});

test('a run of many short turns ends once they have taken its time', async (t) => {
  t.mock.getter(RunnerProcess.prototype, 'lastDuration', () => 8000);
  const body = (calls: number) =>
    `for (let i = 0; i < ${calls}; i++) await fetch("https://a.example"); return "done";`;
  const limits = { ...patientLimits, time: 20_000 };
  assert.equal(await run(body(1), () => '', { limits }), 'done');
  assert.match(await run(body(3), () => '', { limits }), /^time-limit: The plugin ran for more than 20 s/);
});

test('a run may have less memory than the service permits', async () => {
  const body =
    'const all = []; for (let i = 0; i < 40; i++) all.push(new Uint8Array(2 ** 18).fill(1)); return String(all.length);';
  const limits = { ...patientLimits, memory: 4 * mebibyte };
  for (const caller of [undefined, answering(() => '')]) {
    assert.equal(show((await begin(asyncRun(body), caller)).outcome), '40');
    assert.match(
      show((await begin(asyncRun(body), caller, { limits })).outcome),
      /^memory-limit: The plugin needed more than 4 MiB/,
    );
    assert.equal(show((await begin(asyncRun(body), caller)).outcome), '40');
  }
  // A response takes of it, too, and cannot be caught where it does not fit.
  assert.match(
    await run(
      'try { return await (await fetch("https://a.example")).text() } catch { return "caught" }',
      () => 'x'.repeat(5e6),
      { limits },
    ),
    /^memory-limit: The plugin needed more than 4 MiB/,
  );
});

test('a run waits with a memory that has grown, and the next ones too', async () => {
  const body = `const rows = Array.from({ length: 8 }, (_, i) => new Uint8Array(2 ** 19).fill(i));
     await fetch("https://a.example"); rows.push(new Uint8Array(2 ** 20).fill(1)); await fetch("https://a.example");
     return rows.map((row) => row.at(-1)).join();`;
  const expected = [...Array.from({ length: 8 }, (_, i) => i), 1].join();
  for (let i = 0; i < 3; i++) assert.equal(await run(body), expected);
});

test('six calls are made at once, and more than a run may make are refused', async () => {
  const { caller, waiting, requests, come } = upstream();
  const running = begin(
    asyncRun(
      'const ends = await Promise.allSettled(Array.from({ length: 22 }, (_, i) => fetch("https://a.example/" + i))); return ends.map(({ reason }) => reason?.code ?? "ok").join();',
    ),
    caller,
  );
  await come(6);
  for (let i = 0; i < 20; i++) {
    await come(Math.min(20, i + 6));
    assert.ok(requests.length <= i + 6, `${requests.length} calls after ${i} have ended`);
    waiting[i]?.answer(response(''));
  }
  const { outcome } = await running;
  assert.equal(
    show(outcome),
    [...Array.from({ length: 20 }, () => 'ok'), 'too-many-calls', 'too-many-calls'].join(),
  );
});

test('calls that are left when a run ends are aborted', async () => {
  const { caller, waiting } = upstream();
  const { outcome } = await begin(
    asyncRun('void fetch("https://a.example").catch(() => {}); await 0; return "done"'),
    caller,
  );
  assert.equal(show(outcome), 'done');
  assert.deepEqual(
    waiting.map(({ signal }) => signal.aborted),
    [true],
  );
});

test('calls that have not begun when a run ends count no longer', async () => {
  let held = 0;
  const calls = new RunCalls(upstream().caller, 20, (bytes) => {
    held += bytes;
    return () => (held -= bytes);
  });
  const head = JSON.stringify(['https://a.example', 'POST', []]);
  for (let id = 0; id < 8; id++) calls.call(encodeCall(id, head, encoder.encode('body')));
  assert.ok(held > 0);
  await calls.end();
  assert.equal(held, 0);
});

test('the state of a run keeps no response that the run has read, and no input that it has left', async (t) => {
  const held: number[] = [];
  const { connected } = sandbox;
  const hold = connected.hold.bind(connected);
  t.mock.method(connected, 'hold', (owner: QueueOwner, bytes: number) => {
    held.push(bytes);
    return hold(owner, bytes);
  });
  const { outcome } = await begin(
    `async function read() { for (let i = 0; i < 4; i++) await (await fetch("https://a.example")).bytes(); return ''; }
     export const run = () => read();`,
    answering(() => 'x'.repeat(mebibyte / 2)),
    { input: 'x'.repeat(mebibyte) },
  );
  assert.equal(show(outcome), '');
  assert.ok(Math.max(...held) < 2.5 * mebibyte, held.join());
});

test('a run whose client goes, or whose tenant is ended, ends, and its calls are aborted', async () => {
  const code = asyncRun('console.log("logged"); await fetch("https://a.example"); return "";');
  const gone = new AbortController();
  const ends: [object, () => void, RegExp][] = [
    [{ signal: () => gone.signal }, () => gone.abort(), /^cancelled: The client has gone/],
    [
      {},
      () =>
        sandbox.connected.end(
          runError('tenant-suspended', 'The tenant was suspended.'),
          ({ tenant }) => tenant === 't1',
        ),
      /^tenant-suspended: The tenant was suspended/,
    ],
  ];
  for (const [more, end, expected] of ends) {
    const { caller, waiting, come } = upstream();
    const running = begin(code, caller, more);
    await come(1);
    end();
    const { outcome } = await running;
    assert.match(show(outcome), expected);
    assert.deepEqual(outcome.logs, ['logged']);
    assert.deepEqual(
      waiting.map(({ signal }) => signal.aborted),
      [true],
    );
    assert.equal(sandbox.connected.size, 0);
  }
});

test('a run whose tenant ends before its first turn comes is refused for that', async (t) => {
  const ended = Promise.withResolvers<void>();
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { take } = RunnerProcess.prototype;
  t.mock.method(RunnerProcess.prototype, 'take', async function (this: RunnerProcess, turn: Turn) {
    await ended.promise;
    return take.call(this, turn);
  });
  // A tenant has three turns at once.
  const running = [1, 2, 3, 4].map(async () =>
    begin(
      asyncRun('return "";'),
      answering(() => ''),
    ),
  );
  const all = Promise.allSettled(running);
  await until('the fourth waits for its turn', () => sandbox.waiting === 1);
  sandbox.connected.end(
    runError('tenant-deleted', 'The tenant was deleted.'),
    ({ tenant }) => tenant === 't1',
  );
  ended.resolve();
  const last = (await all)[3];
  assert.ok(last?.status === 'rejected' && last.reason instanceof RunFailure, last?.status);
  assert.equal(last.reason.error.code, 'tenant-deleted');
});

test('a run that takes too long with all that it waits for ends with wait-limit', async (t) => {
  const impatient = new Sandbox({ limits: patientLimits, waiting: { ...defaultWaiting, time: 50 } });
  t.after(() => impatient.close());
  const { caller, waiting } = upstream();
  const { outcome } = await begin(
    asyncRun('await fetch("https://a.example"); return "";'),
    caller,
    {},
    impatient,
  );
  assert.match(show(outcome), /^wait-limit: The run took more than 0\.05 s with all that it waited for/);
  assert.ok(waiting.every(({ signal }) => signal.aborted));
});

test('a module takes no place of runs with calls, because it can make none', async (t) => {
  const enter = t.mock.method(sandbox.connected, 'enter');
  const program = loadedProgram({ kind: 'wasm', module: '' });
  const { outcome } = await begin(
    '',
    answering(() => ''),
    { program },
  );
  assert.ok('error' in outcome);
  assert.equal(enter.mock.callCount(), 0);
});

test('the program of a run that waits is kept once for all of its runs, within a share', async () => {
  const runs = new WaitingRuns();
  const owner = { environment: 'com.acme', tenant: 't1', token: '' };
  let loads = 0;
  const programOf = (hash: string) => ({
    hash,
    isTyped: false,
    load: async () => {
      loads += 1;
      return { kind: 'script', code: 'x'.repeat(10 * mebibyte), file: 'plugin.js' } as const;
    },
  });
  const first = await runs.keep(owner, programOf('a'));
  const second = await runs.keep(owner, programOf('a'));
  const other = await runs.keep(owner, programOf('b'));
  const isKept = async ({ program }: typeof first) => {
    loads = 0;
    await program.load();
    return loads === 0;
  };
  assert.deepEqual(await Promise.all([first, second].map(isKept)), [true, true]);
  assert.equal(await isKept(other), false);
  first.release();
  assert.equal(
    await isKept(await runs.keep(owner, programOf('b'))),
    false,
    'the other is kept for one run yet',
  );
  second.release();
  assert.equal(await isKept(await runs.keep(owner, programOf('b'))), true);
});

test('places for runs with calls are shared by environments and tenants', () => {
  const runs = new WaitingRuns({ ...defaultWaiting, runs: 8 });
  const enter = (environment: string, tenant: string) => {
    try {
      runs.enter({ owner: { environment, tenant, token: '' }, end: () => assert.fail() });
      return '';
    } catch (error) {
      return String(error);
    }
  };
  const entered = ['t1', 't1', 't1', 't2', 't2', 't3'].map((tenant) => enter('com.acme', tenant));
  entered.push(enter('com.other', 't1'));
  const busy = (level: string) => `BusyError: Too much is waiting for this ${level}.`;
  // A quarter of the places is for a tenant, and half of them for an environment.
  assert.deepEqual(entered, ['', '', busy('tenant'), '', '', busy('environment'), '']);
  assert.equal(runs.size, 5);
});

test('a run that waits with more than fits into the memory for waiting runs ends with memory-limit', async (t) => {
  const small = new Sandbox({ limits: patientLimits, waiting: { ...defaultWaiting, memory: 4 * mebibyte } });
  t.after(() => small.close());
  const call = 'await fetch("https://a.example");';
  const shownOf = async (body: string, answer = '') =>
    show(
      (
        await begin(
          asyncRun(body),
          answering(() => answer),
          {},
          small,
        )
      ).outcome,
    );
  const tooLarge = /^memory-limit: What the run holds while it waits does not fit/;
  assert.match(
    await shownOf(`const held = new Uint8Array(5e6).fill(1); ${call} return String(held.length);`),
    tooLarge,
  );
  assert.match(
    await shownOf(`await fetch("https://a.example", { method: "POST", body: "x".repeat(2e6) }); return "";`),
    tooLarge,
  );
  assert.match(await shownOf(`${call} return "";`, 'x'.repeat(2e6)), tooLarge);
  assert.match(
    await shownOf(`for (let i = 0; i < 600; i++) console.log("x".repeat(1000)); ${call} return "";`),
    tooLarge,
  );
  assert.equal(await shownOf(`${call} return "fits";`, 'x'.repeat(5e5)), 'fits');
});
