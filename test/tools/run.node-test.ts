import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runNode } from '../../tools/run-node.js';

const runner = fileURLToPath(new URL('../../tools/run.js', import.meta.url));

/** Starts `tools/run.js` with a program of this source, as the leader of a process group, like a terminal. */
async function start(t: TestContext, source: string, ...args: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'run-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'program.mjs');
  await writeFile(file, source);
  const child = spawn(process.execPath, [runner, file, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8');
  return child;
}

const exitCode = async (child: ChildProcess): Promise<unknown> =>
  ((await once(child, 'close')) as unknown[])[0];

/** A program that reports when it runs, and ends in the given way on a signal. */
const waiting = (end: string) =>
  `for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { console.log(signal); ${end} });
  console.log('running');
  setInterval(() => {}, 1000);`;

describe('tools/run.js', () => {
  it('passes the program its arguments, and exits with its code', async (t) => {
    const child = await start(
      t,
      'console.log(process.argv.slice(2).join()); process.exitCode = 7;',
      'a',
      'b c',
    );
    const output = child.stdout.toArray();
    assert.equal(await exitCode(child), 7);
    assert.equal((await output).join(''), 'a,b c\n');
  });

  it('passes a signal on to the program, and waits for its end', async (t) => {
    const child = await start(t, waiting('process.exit(3);'));
    await once(child.stdout, 'data');
    const output = child.stdout.toArray();
    child.kill('SIGTERM');
    assert.equal(await exitCode(child), 3);
    assert.equal((await output).join(''), 'SIGTERM\n');
  });

  it('exits with 130 when interrupted although the program succeeded, so that a script stops', async (t) => {
    const child = await start(t, waiting('process.exit(0);'));
    await once(child.stdout, 'data');
    const output = child.stdout.toArray();
    process.kill(-(child.pid ?? 0), 'SIGINT');
    assert.equal(await exitCode(child), 130);
    assert.equal((await output).join(''), 'SIGINT\n');
  });

  it('ends the program with the shell of npm, which passes no signal on', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'run-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'program.mjs');
    await writeFile(file, waiting('process.exit(0);'));
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${runner}" "${file}"; exit $?`], {
      detached: true,
      env: { ...process.env, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => {
      try {
        process.kill(-(shell.pid ?? 0), 'SIGKILL');
      } catch {
        // All have ended, as they should.
      }
    });
    shell.stdout.setEncoding('utf8');
    await once(shell.stdout, 'data');
    const output = shell.stdout.toArray();
    shell.kill('SIGTERM');
    assert.equal((await output).join(''), 'SIGTERM\n');
  });

  it('explains its usage when no program is named', async () => {
    const child = spawn(process.execPath, [runner, 'packages'], { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.setEncoding('utf8');
    const output = child.stderr.toArray();
    assert.equal(await exitCode(child), 2);
    assert.match(
      (await output).join(''),
      /^Usage: node tools\/run\.js \[packages \| build \| chromium \| release\]/,
    );
  });
});

test('many programs at once share the listeners for signals', async () => {
  const before = process.listenerCount('SIGTERM');
  const ended = Array.from({ length: 3 }, () => runNode(['--version'], process.execPath, () => {}));
  assert.equal(process.listenerCount('SIGTERM'), before + 1);
  assert.deepEqual(await Promise.all(ended), [0, 0, 0]);
  assert.equal(process.listenerCount('SIGTERM'), before);
});
