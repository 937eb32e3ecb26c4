import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { startIsolated, startNative } from '../../../service/src/processes/isolated-process.ts';
import { serviceCode } from '../../../service/src/processes/package-folders.ts';
import type { IsolatedOptions } from '../../../service/src/processes/isolated-process.ts';
import { systemTools } from '../../../service/src/processes/system-tools.ts';
import type { SystemTools } from '../../../service/src/processes/system-tools.ts';
import { temporaryDirectory } from '../harness.ts';

const fixtures = join(import.meta.dirname, 'isolation-fixtures');
const linux = process.platform === 'linux';
// Not the system's folder for temporary files, which is empty in an isolated process where there is no bubblewrap.
const cache = join(import.meta.dirname, '../../../node_modules/.cache');
const mebibyte = 2 ** 20;

const withoutSeparation: SystemTools = { ...systemTools(), separation: 'none' };

/** With the strongest separation that works here, and without any. */
const kinds = [systemTools(), withoutSeparation];

function start(t: TestContext, args: string[], options: Partial<IsolatedOptions> = {}) {
  const started = startIsolated({
    file: new URL('./isolation-fixtures/probe.ts', import.meta.url),
    args,
    readable: [...serviceCode(), fixtures],
    memoryLimit: 128 * mebibyte,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  t.after(() => started.kill());
  const ended = once(started.child, 'exit') as Promise<[code: number | null, signal: string | null]>;
  return { ...started, ended, output: () => text(started.child.stdout as Readable) };
}

test('no known way out of a process works in an isolated one', async (t) => {
  const { output, child } = start(t, ['attempts']);
  const errors = text(child.stderr as Readable);
  const printed = await output();
  assert.notEqual(printed, '', await errors);
  const { tried, succeeded } = JSON.parse(printed) as { tried: number; succeeded: string[] };
  assert.deepEqual(succeeded, []);
  assert.ok(tried > 30);
});

test('an isolated process has no environment variables, however it is started', async (t) => {
  for (const tools of [
    ...kinds,
    { ...withoutSeparation, namespaces: 'none' as const, privileges: undefined },
  ]) {
    assert.deepEqual(JSON.parse(await start(t, ['environment'], { tools }).output()), {});
  }
});

test('an isolated process gives way to the service', async (t) => {
  const { child, pid } = start(t, ['loop']);
  await once(child.stdout as Readable, 'data');
  assert.equal(getPriority(pid()), Math.min(getPriority() + 5, 19));
});

test('an isolated process reads the files that are named to it, and no other', async (t) => {
  const folder = temporaryDirectory(t, cache);
  const file = join(folder, 'a file');
  writeFileSync(file, 'contents');
  assert.match(
    await start(t, ['read', file], { readable: [...serviceCode(), fixtures, folder] }).output(),
    /contents/,
  );
  assert.equal(await start(t, ['read', file]).output(), '');
});

test('a link to code stays a link, so that a package finds its dependencies beside what the link leads to', async (t) => {
  const folder = temporaryDirectory(t, cache);
  const real = join(folder, 'store', 'package');
  mkdirSync(real, { recursive: true });
  writeFileSync(join(real, 'file'), 'contents');
  symlinkSync('store', join(folder, 'link'));
  symlinkSync(join(folder, 'link', 'package'), join(folder, 'package'));
  const linked = join(folder, 'package');
  const readable = [...serviceCode(), fixtures, linked, join(folder, 'link', 'package'), real];
  for (const tools of kinds) {
    const output = await start(t, ['real path', join(linked, 'file')], { readable, tools }).output();
    assert.equal(output.trim(), join(real, 'file'));
  }
});

test('an isolated process loads native add-ons when it is allowed to', async (t) => {
  assert.equal((await start(t, ['addon'], { needs: ['addons'] }).output()).trim(), 'function');
  assert.equal(await start(t, ['addon']).output(), '');
});

if (linux) {
  for (const kind of ['buffers', 'wasm', 'texts']) {
    test(`the system refuses an isolated process more memory than its limit: ${kind}`, async (t) => {
      const { child } = start(t, [kind], { heapLimit: 4096 });
      let taken = 0;
      let isRefused = false;
      // Not to its exit: once in some fifty times Node waits for one of its own threads for ever when it exits after "wasm".
      for await (const line of createInterface(child.stdout as Readable)) {
        isRefused = line.startsWith('refused');
        if (isRefused) break;
        taken = Number(line);
      }
      // Else V8 has ended the process.
      assert.ok(isRefused || kind === 'texts');
      assert.ok(taken >= 16 && taken <= 128 + 64, `${taken} MiB of 128 MiB were given`);
    });
  }

  test('the system refuses a native program more memory than its limit', async (t) => {
    const run = (memoryLimit: number) => {
      const started = startNative({
        // A shell that doubles a text until it gets no more memory for it.
        command: '/bin/sh',
        args: ['-c', 'a=0123456789abcdef; while :; do a=$a$a; echo ${#a}; done'],
        visible: [],
        memoryLimit,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      t.after(() => started.kill());
      return text(started.child.stdout as Readable);
    };
    const largest = (output: string) => Number(output.trim().split('\n').at(-1));
    assert.ok(largest(await run(32 * mebibyte)) < 32 * mebibyte);
    assert.ok(largest(await run(128 * mebibyte)) > 16 * mebibyte);
  });

  test('a process sees no network except its own loopback, where the system permits that', async (t) => {
    const started = startNative({
      command: '/bin/cat',
      args: ['/proc/net/dev'],
      visible: [],
      memoryLimit: 32 * mebibyte,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => started.kill());
    const interfaces = [...(await text(started.child.stdout as Readable)).matchAll(/^ *([\w-]+):/gm)].map(
      ([, name]) => name,
    );
    const all = [...readFileSync('/proc/net/dev', 'utf8').matchAll(/^ *([\w-]+):/gm)].map(([, name]) => name);
    assert.deepEqual(interfaces, systemTools().namespaces === 'none' ? all : ['lo']);
  });
}

test('a process can write no file, even if it knows no permission model', async (t) => {
  const folder = temporaryDirectory(t, cache);
  const file = join(folder, 'file');
  writeFileSync(file, 'before');
  // Also for the user that the process may run as.
  chmodSync(file, 0o666);
  for (const tools of kinds) {
    const started = startNative({
      command: '/bin/sh',
      args: ['-c', 'cat "$1"; echo text >> "$1"', 'sh', file],
      visible: [folder],
      memoryLimit: 32 * mebibyte,
      stdio: ['ignore', 'pipe', 'ignore'],
      tools,
    });
    assert.equal(await text(started.child.stdout as Readable), 'before');
    assert.equal(readFileSync(file, 'utf8'), 'before');
  }
});

test('processes that a native program leaves behind are ended with it', { skip: !linux }, async (t) => {
  for (const tools of kinds) {
    const started = startNative({
      command: '/bin/sh',
      // The one that is left behind holds the output open.
      args: ['-c', 'sleep 600 & echo started'],
      visible: [],
      memoryLimit: 32 * mebibyte,
      stdio: ['ignore', 'pipe', 'ignore'],
      tools,
    });
    t.after(() => started.kill());
    assert.equal(await text(started.child.stdout as Readable), 'started\n');
  }
});

test('an isolated process that never rests is ended at once, with its whole group', async (t) => {
  for (const tools of [...kinds, { ...withoutSeparation, privileges: undefined }]) {
    const { child, kill, ended } = start(t, ['loop'], { tools });
    await once(child.stdout as Readable, 'data');
    kill();
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    // Its output ends when nobody of the group holds it any more.
    if (!child.stdout?.readableEnded) await once(child.stdout?.resume() as Readable, 'end');
    // A second time does nothing, to no one.
    kill();
  }
});

for (const way of ['signal', 'watchdog']) {
  test(`an isolated process that never rests ends with a service that was killed (${way})`, async (t) => {
    const parent = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(fixtures, 'parent.ts'), way],
      { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] },
    );
    t.after(() => parent.kill('SIGKILL'));
    await once(parent.stdout as Readable, 'data');
    const held = parent.stdio[3] as Readable;
    const released = once(held.resume(), 'end');
    parent.kill('SIGKILL');
    // The process that never rests is the last one to hold the other end of this pipe.
    await released;
  });
}
