import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { ScriptRunner } from '../../../service/src/sandbox/script-runner.ts';
import { running } from '../../service/plugin.ts';
import { inTime, script } from './target.ts';

const isWatched = process.platform === 'linux';

test('a runner that holds much memory after a run is not used again', { skip: !isWatched }, async () => {
  let runner = new RunnerProcess({ recycleMemory: 1 });
  after(() => runner.close());
  const program = script(running('const end = Date.now() + 20; while (Date.now() < end); return "fine";'));
  const outcome = await inTime(() => {
    if (!runner.isUsable) runner = new RunnerProcess({ recycleMemory: 1 });
    return runner.run(program, '');
  });
  assert.deepEqual(outcome, { result: 'fine', logs: [] });
  assert.equal(runner.isUsable, false);
});

const kept: Record<string, (i: number) => string> = {
  'long logs of its top level': (i) => `console.log("${i}" + "x".repeat(1e6));\n${running('return "";')}`,
  'many logs of its top level': (i) =>
    `for (let i = 0; i < 3000; i++) console.log("${i}" + "x".repeat(330));\n${running('return "";')}`,
  'a state of many small changes': (i) =>
    `const all = new Uint8Array(2e6); for (let at = 0; at < 2e6; at += 512) all[at] = ${i + 1};\n${running('return "";')}`,
};

for (const [what, codeOf] of Object.entries(kept)) {
  test(`a runner keeps few programs of which it has to keep ${what}`, async () => {
    const runner = new ScriptRunner();
    const programs = Array.from({ length: 12 }, (_, i) =>
      loadedProgram({ kind: 'script', code: codeOf(i), file: 'plugin.js' }),
    );
    for (const stored of programs) {
      const program = await stored.load();
      assert.ok(program.kind === 'script');
      // By then it has an engine that is large enough, and its state is kept.
      for (let i = 0; i < 3; i++) {
        const end = await runner.run(
          stored.hash,
          program,
          '',
          performance.now() + 10_000,
          new Logs(() => {}),
        );
        assert.deepEqual(end, { result: '' });
      }
    }
    const known = programs.filter(({ hash }) => runner.has(hash)).length;
    assert.ok(known >= 1 && known <= 8, `${known}`);
  });
}

test('a run is not ended for memory that the runs of others have left', async (t) => {
  const sandbox = new Sandbox();
  t.after(() => sandbox.close());
  const run = (tenant: string, code: string) => {
    const share = { environment: tenant, tenant, token: '' };
    return sandbox.run({ program: script(code), input: '', share });
  };
  const modest = running(`const all = new Uint8Array(24e6).fill(1);
    const end = Date.now() + 50; while (Date.now() < end); return String(all.length);`);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 12; i++)
      await run('attacker', `// ${round}\n${kept['many logs of its top level']?.(i)}`);
    for (let i = 0; i < 3; i++) {
      await run('attacker', running(`return String(new Uint8Array(28e6).fill(${round}).length);`));
    }
    assert.deepEqual(await inTime(() => run('other', modest)), { result: '24000000', logs: [] });
  }
});
