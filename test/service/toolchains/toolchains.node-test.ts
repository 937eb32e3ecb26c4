import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import { MissingPackageError } from '../../../service/src/toolchains/language.ts';
import { loadLanguages } from '../../../service/src/toolchains/languages.ts';
import { assertConfined, languages } from './compiling.ts';

// With its native program, which the service starts. The files of the other languages ask this of the processes that they have.
test("typescript: the compiler's processes have no environment variables and no child processes", async (t) => {
  const compiler = new CompilerProcess(languages.get('typescript') ?? assert.fail());
  t.after(() => compiler.close());
  await compiler.ready;
  assert.equal(compiler.pids.length, 2);
  if (process.platform !== 'linux') return;
  for (const pid of compiler.pids) assertConfined(pid);
});

test('Python is left out without a word where its package is not installed, and the reason says how to get it', () => {
  const without = [...languages.values()].map((one) =>
    one.identifier === 'python'
      ? {
          ...one,
          probe: () => {
            throw new MissingPackageError('pyodide');
          },
        }
      : one,
  );
  let reason: unknown;
  const loaded = loadLanguages((_identifier, skipped) => (reason = skipped), without);
  assert.equal(loaded.has('python'), false);
  assert.match((reason as Error).message, /npm install pyodide/);
});

test('a toolchain that does not work here is left out, and its language and the reason are reported', () => {
  const broken = {
    probe: () => {
      throw new Error('no such platform');
    },
  };
  const skipped: [string, string][] = [];
  const loaded = loadLanguages(
    (identifier, reason) => skipped.push([identifier, (reason as Error).message]),
    [...languages.values()].map((one) => (one.identifier === 'typescript' ? { ...one, ...broken } : one)),
  );
  assert.deepEqual([...loaded.keys()], ['assemblyscript', 'javascript', 'python']);
  assert.deepEqual(skipped, [['typescript', 'no such platform']]);
});
