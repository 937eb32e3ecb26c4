import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/run-node.js';
import { browserPages, releaseRuns, testRuns } from '../tiers.ts';
import { filesIn, referencesOf } from './references.ts';

const inNode = new Set([...testRuns(), ...releaseRuns()].flatMap(({ files }) => files));
const isInBrowsers = (file: string) => file.endsWith('.test.ts');

test('npm test or npm run test:release runs each file of tests', () => {
  const named = filesIn('test/**/*test.ts');
  assert.ok(named.length > 300);
  assert.deepEqual(
    named.filter((file) => !inNode.has(file) && !isInBrowsers(file)),
    [],
  );
});

test('a run of the release that does not exist is refused, and those that do are named', () => {
  const args = ['test/run-node-tests.ts', 'release', 'postgres-newst'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 2, stderr);
  assert.match(stderr, /^There is no run "postgres-newst" .*: release, postgres-newest, postgres-oldest\.$/m);
});

test('what registers tests is a file of tests, or is loaded by one', () => {
  const files = filesIn('test/**/*');
  const loaded = new Set(files.filter((file) => inNode.has(file) || isInBrowsers(file)));
  // What `run-node-tests.ts` starts loads it.
  loaded.add('test/support/in-turn.ts');
  const imports = new Map(
    files.map((file) => [file, referencesOf(file).filter(({ kind }) => kind === 'import')]),
  );
  for (const file of loaded) for (const { target } of imports.get(file) ?? []) loaded.add(target);
  assert.deepEqual(
    files.filter(
      (file) => imports.get(file)?.some(({ specifier }) => specifier === 'node:test') && !loaded.has(file),
    ),
    [],
  );
});

test('files of tests that share a page in browsers have no hooks outside of their suites', () => {
  const shared = browserPages([]).flatMap(({ files }) => (files.length > 1 ? files : []));
  assert.ok(shared.length > 30);
  // The formatter indents what is in a suite.
  const hook = /^(?:before|after)(?:Each)?\(/m;
  assert.deepEqual(
    shared.filter((file) => hook.test(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});
