import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import type { CompilerOptions } from '../../../service/src/toolchains/build/compiler-process.ts';
import { decodeOutcome } from '../../../service/src/toolchains/build/compiler-outcome.ts';
import {
  buildLimits,
  defectLimit,
  diagnosticLimits,
  programLimit,
} from '../../../service/src/toolchains/build/limits.ts';
import { probeFiles } from './build-fixtures/files.ts';
import probe from './build-fixtures/probe.ts';
import { temporaryDirectory } from '../harness.ts';
import { until } from '../../support/until.ts';

const language = { ...probe, module: new URL('./build-fixtures/probe.ts', import.meta.url) };

function start(t: TestContext, options: CompilerOptions = {}, of = language) {
  const process = new CompilerProcess(of, { readable: probeFiles, ...options });
  t.after(() => process.close());
  const build = async (source: string) => {
    const end = await process.build(source);
    return 'failed' in end
      ? end.failed
      : end.compiled.program?.kind === 'script'
        ? end.compiled.program.code
        : '';
  };
  return { process, build };
}

test('a compiler reads only the code of the service, starts nothing and has no network and no environment variables', async (t) => {
  const { build } = start(t);
  const secret = join(temporaryDirectory(t), 'secret');
  writeFileSync(secret, 'secret');
  for (const path of ['/etc/passwd', secret, join(import.meta.dirname, 'harness.ts'), '/proc/self/environ']) {
    assert.equal(await build(`read ${path}`), 'ERR_ACCESS_DENIED', path);
  }
  assert.equal(await build('run'), 'ERR_ACCESS_DENIED');
  assert.match(await build('fetch'), /fetch is not defined/);
  assert.equal(await build('environment'), '{}');
});

test('a compiler outside the readable folders does not work, and says so', async (t) => {
  const { build } = start(t, { readable: [] });
  assert.match(await build('nothing'), /^The toolchain does not work on this machine: .*could not be loaded/);
});

const ends: [source: string, message: RegExp][] = [
  ['loop', /more than 0\.5 s, which is the limit of time/],
  ['fill', /more than 160 MiB, which is the limit of memory/],
  ['crash', /ended unexpectedly \((?:SIGABRT|SIGSEGV)\)/],
  ['leave', /ended unexpectedly \(exit code 3\)/],
  ['speak too long', /sent a reply that the service does not accept/],
  ['speak nonsense', /sent a reply that the service does not accept/],
  ['say an unknown kind', /sent a reply that the service does not accept/],
];

for (const [source, message] of ends) {
  test(`a build that would ${source} ends with an error that says so, and its process ends with it`, async (t) => {
    // A memory of 160 MiB is filled well within the time that the other tests have.
    const limits = { time: source === 'loop' ? 500 : 30_000, memory: 160 * 2 ** 20 };
    const { process, build } = start(t, { limits });
    assert.match(await build(source), message);
    assert.equal(process.isUsable, false);
  });
}

test('a compiler that throws says why to the author, with its stack to the operator, and is not used again', async (t) => {
  const { process } = start(t);
  const outcome = await process.build('throw');
  assert.ok('failed' in outcome);
  assert.equal(outcome.failed, 'The compiler failed on this source. Error: No.');
  assert.match(outcome.defect ?? '', /^Error: No\.\ngoroutine 1 \[running\]:\n +at throw .*probe\.ts/);
  assert.equal(process.isUsable, false);
});

if (process.platform === 'linux') {
  test('the system gives a compiler no more memory than its limit, however fast it allocates', async (t) => {
    // A gibibyte in one go: looking at what the process holds, now and then, is too late for that.
    assert.match(await start(t).build('overreach'), /RangeError|more than 512 MiB/);
  });
}

test('a program beyond its limit fails the build, with its size', async (t) => {
  const { process } = start(t);
  const end = await process.build(`large ${programLimit}`);
  assert.ok('compiled' in end && !end.compiled.program);
  assert.match(end.compiled.diagnostics.at(-1)?.message ?? '', /too large: built, it has 41943\d\d bytes/);
});

test('problems are bounded in number, length and size, and the last one says how many are missing', async (t) => {
  const { process } = start(t);
  const found = async (source: string) => {
    const end = await process.build(source);
    assert.ok('compiled' in end);
    return end.compiled.diagnostics;
  };
  const { count, message, total } = diagnosticLimits;
  assert.equal((await found(`find ${count}x1`)).length, count);

  const many = await found(`find ${count + 1}x1`);
  assert.equal(many.length, count);
  assert.deepEqual(many.at(-1), {
    line: 1,
    column: 1,
    message: '2 more problems are not shown.',
    severity: 'information',
  });

  const [long] = await found('find 1x200000');
  assert.ok(Buffer.byteLength(long?.message ?? '') <= message);
  assert.match(long?.message ?? '', /^é{1000,} …$/);

  // As in the attack: hundreds of messages with a name of 200,000 characters.
  const flood = await found('find 400x200000');
  assert.ok(Buffer.byteLength(JSON.stringify(flood)) <= total);
  assert.match(flood.at(-1)?.message ?? '', /^\d+ more problems are not shown\.$/);
});

test('the service bounds the messages of a compiler even if the compiler does not', () => {
  const diagnostics = Array.from({ length: 1000 }, () => ({
    line: 1,
    column: 1,
    message: 'x'.repeat(5000),
    severity: 'warning',
  }));
  const code = 'x'.repeat(programLimit);
  const program = { kind: 'script', code, file: 'plugin.js' };
  const end = decodeOutcome(JSON.stringify({ compiled: { program, diagnostics } }));
  assert.ok('compiled' in end);
  assert.equal(end.compiled.program, undefined);
  assert.equal(end.compiled.diagnostics.length, diagnosticLimits.count);
  assert.ok(Buffer.byteLength(JSON.stringify(end.compiled.diagnostics)) <= diagnosticLimits.total);
  // The error that ended the build is kept, though it came last.
  assert.ok(
    end.compiled.diagnostics.some(
      ({ severity, message }) => severity === 'error' && /too large/.test(message),
    ),
  );
  const failed = decodeOutcome(JSON.stringify({ failed: 'x'.repeat(5000), defect: 'x'.repeat(50_000) }));
  assert.ok('failed' in failed && failed.failed.length <= diagnosticLimits.message);
  // The sign that it was cut has three bytes.
  assert.equal(failed.defect?.length, defectLimit - 2);
});

test('a compiler works with a native program that the service starts for it, and ends with it', async (t) => {
  const withHelper = (script: string) =>
    start(t, {}, { ...language, helper: () => ({ command: '/bin/sh', args: ['-c', script] }) });
  assert.equal(await withHelper('cat').build('large 3'), 'xxx');
  const { build, process } = withHelper('exit 5');
  assert.match(await build('loop'), /the program that it works with ended unexpectedly \(exit code 5\)/);
  assert.equal(process.isUsable, false);
});

test('a compiler is replaced once it holds much memory with its native program', async (t) => {
  const holding = (bytes: string) => ({
    ...language,
    helper: () => ({
      command: '/usr/bin/perl',
      args: [
        '-e',
        `vec($held, ${bytes}, 8) = 1; syswrite(STDOUT, $part) while sysread(STDIN, $part, 65536);`,
      ],
    }),
  });
  const limits = { ...buildLimits, memory: 450 * 2 ** 20 };
  const small = start(t, { limits }, holding('1000'));
  const large = start(t, { limits }, holding('300000000'));
  // Its program takes the memory while it compiles.
  await until('the compiler is replaced', async () => {
    assert.equal(await large.build('large 3'), 'xxx');
    return !large.process.isUsable;
  });
  assert.equal(await small.build('large 3'), 'xxx');
  assert.equal(small.process.isUsable, true);
});

test('a closed compiler has ended', async (t) => {
  const { process, build } = start(t, { limits: buildLimits });
  await build('nothing');
  process.close();
  assert.equal(process.isUsable, false);
  assert.match(await build('nothing'), /toolchain|unexpectedly/);
});
