import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import { loadLanguages } from '../../../service/src/toolchains/languages.ts';
import { systemTools } from '../../../service/src/processes/system-tools.ts';
import { languages } from './compiling.ts';

for (const [lang, language] of languages) {
  test(`${lang}: the compiler's processes have no environment variables and no child processes`, async (t) => {
    const compiler = new CompilerProcess(language);
    t.after(() => compiler.close());
    await compiler.ready;
    assert.ok(compiler.pids.length > 0);
    if (process.platform !== 'linux') return;
    const childrenOf = (pid: number) =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    for (const pid of compiler.pids) {
      assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
      // A native program may be the one child of bubblewrap, which hides files from it.
      const isWrapped = readFileSync(`/proc/${pid}/comm`, 'utf8') === 'bwrap\n';
      assert.equal(isWrapped, pid !== compiler.pids[0] && systemTools().hidesFiles);
      const programs = isWrapped ? childrenOf(pid) : [pid];
      assert.equal(programs.length, 1);
      for (const program of programs) {
        assert.equal(readFileSync(`/proc/${program}/environ`, 'utf8'), '');
        assert.deepEqual(childrenOf(program), []);
        const [, user] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${program}/status`, 'utf8')) ?? [];
        assert.equal(Number(user), systemTools().user ?? process.getuid?.());
      }
    }
  });
}

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
  assert.deepEqual([...loaded.keys()], ['assemblyscript', 'javascript']);
  assert.deepEqual(skipped, [['typescript', 'no such platform']]);
});
