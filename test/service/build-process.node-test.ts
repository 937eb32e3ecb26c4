import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { buildLimits } from '../../demo/service/build/limits.ts';
import { BuildProcess } from '../../demo/service/build/process.ts';
import probe from './build-fixtures/probe.ts';
import { temporaryDirectory } from './harness.ts';

const fixtures = join(import.meta.dirname, 'build-fixtures');
const language = { ...probe, file: '../../../test/service/build-fixtures/probe.ts' };

function start(t: TestContext, limits = buildLimits, alsoReadable = [fixtures]) {
  const process = new BuildProcess(language, limits, alsoReadable);
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

test('a build process reads its toolchain and nothing else, starts nothing and has no environment', async (t) => {
  const { build } = start(t);
  const secret = join(temporaryDirectory(t), 'secret');
  writeFileSync(secret, 'secret');
  for (const path of ['/etc/passwd', secret, join(import.meta.dirname, 'harness.ts'), '/proc/self/environ']) {
    assert.equal(await build(`read ${path}`), 'ERR_ACCESS_DENIED', path);
  }
  assert.equal(await build('run'), 'ERR_ACCESS_DENIED');
  // Node gives a forked process its channel, and nothing of ours.
  const environment = JSON.parse(await build('environment')) as Record<string, string>;
  assert.deepEqual(
    Object.keys(environment).filter((name) => !name.startsWith('NODE_CHANNEL_')),
    [],
  );
});

test('a toolchain outside of what can be read does not work, and says so', async (t) => {
  const { build } = start(t, buildLimits, []);
  assert.match(await build('nothing'), /^The toolchain does not work on this machine: .*could not be loaded/);
});

const ends: [source: string, message: RegExp][] = [
  ['loop', /more than 0\.5 s, which is the limit of time/],
  ['fill', /more than 160 MiB, which is the limit of memory/],
  ['crash', /ended unexpectedly \(SIGSEGV\)/],
  ['leave', /ended unexpectedly \(exit code 3\)/],
];

for (const [source, message] of ends) {
  test(`a build that would ${source} ends with its name, and its process with it`, async (t) => {
    // A memory of 160 MiB is filled well within the time that the other tests have.
    const { process, build } = start(t, { time: source === 'loop' ? 500 : 10_000, memory: 160 * 2 ** 20 });
    assert.match(await build(source), message);
    assert.equal(process.usable, false);
  });
}

test('a build process that is closed is gone', async (t) => {
  const { process, build } = start(t);
  await build('nothing');
  process.close();
  assert.equal(process.usable, false);
  assert.match(await build('nothing'), /toolchain|unexpectedly/);
});
