import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import type { BuildOutcome } from '../../../service/src/toolchains/build/limits.ts';
import type { PluginTypes } from '../../../service/src/toolchains/types/declarations.ts';
import { loadLanguages } from '../../../service/src/toolchains/languages.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { Program, StoredProgram } from '../../../service/src/plugins/program.ts';
import { systemTools } from '../../../service/src/processes/system-tools.ts';
import { defaultLimits } from '../../../service/src/sandbox/run-limits.ts';
import { sharedToolProcesses } from '../tool-processes.ts';

export const languages = loadLanguages();

export const owner = { environment: 'com.acme', tenant: 't1', token: '' };

/** The program of a build, which must have succeeded. */
export function programOf(end: BuildOutcome): Program {
  const program = 'compiled' in end ? end.compiled.program : undefined;
  assert.ok(program, JSON.stringify(end));
  return program;
}

/** What the tests of a language do with the compilers and the sandbox of the process. */
export function startBuilds() {
  const { builds, sandbox } = sharedToolProcesses();
  const build = (lang: string, source: string, types?: PluginTypes) =>
    builds.build(lang, { source, owner, ...(types && { types }) });
  /** `time`: the limit of time where it is to be reached, in ms. */
  const runProgram = (program: StoredProgram, input: string, time?: number) =>
    sandbox.run({ program, input, owner, ...(time !== undefined && { limits: { ...defaultLimits, time } }) });
  const run = async (lang: string, source: string, input = '') =>
    runProgram(loadedProgram(programOf(await build(lang, source))), input);

  /** The error that a run ends with. */
  const runErrorOf = async (lang: string, source: string, input = '') => {
    const outcome = await run(lang, source, input);
    assert.ok('error' in outcome, JSON.stringify(outcome));
    return outcome.error;
  };

  /** Asserts that a build fails with problems at exactly these places and with these messages. */
  const assertProblems = async (
    lang: string,
    source: string,
    expected: [line: number, column: number, message: RegExp][],
  ) => {
    const end = await build(lang, source);
    assert.ok(!('compiled' in end) || !end.compiled.program, `This was built: ${source}`);
    const actual = 'compiled' in end ? end.compiled.diagnostics : [];
    assert.deepEqual(
      actual.map(({ line, column }) => [line, column]),
      expected.map(([line, column]) => [line, column]),
      JSON.stringify(actual),
    );
    for (const [i, [, , message]] of expected.entries()) assert.match(actual[i]?.message ?? '', message);
  };

  /** The problems of a source, with their severity, and whether it was built all the same. */
  const problemsOf = async (lang: string, source: string, types?: PluginTypes) => {
    const end = await build(lang, source, types);
    assert.ok('compiled' in end, JSON.stringify(end));
    const { diagnostics, program } = end.compiled;
    return {
      isBuilt: program !== undefined,
      found: diagnostics.map(({ line, column, severity, message }) => [line, column, severity, message]),
    };
  };

  /** Asserts that a source that the compiler cannot cope with fails, and that the next one is built. */
  const assertSurvivesFlood = async (lang: string) => {
    // Signs, because brackets are counted before a parser sees them.
    const end = await build(lang, '-~'.repeat(200_000));
    assert.ok(!('compiled' in end) || !end.compiled.program);
    const template = languages.get(lang)?.template({ pluginName: 'x', namespace: 'y' });
    programOf(await build(lang, template?.contents ?? ''));
  };
  /** Asserts that the template of a language builds, and passes the tests that come with it. */
  const assertTemplateWorks = async (lang: string) => {
    const template = languages.get(lang)?.template({ pluginName: 'add-record', namespace: 'n"s' });
    assert.ok(template?.tests?.length);
    const program = loadedProgram(programOf(await build(lang, template.contents)));
    for (const input of [...template.tests.map(({ payload = '' }) => payload), '\0😀']) {
      const result = `Hello, ${input || 'world'}! This is add-record in n"s.`;
      assert.deepEqual(await runProgram(program, input), { result, logs: [] });
    }
  };
  /** Asserts that the compiler's process has no variables and no child, and runs as the user that it should, during a build. */
  const assertCompilerConfined = async (t: TestContext, lang: string) => {
    let asked = 0;
    // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
    const { build: buildIn } = CompilerProcess.prototype;
    t.mock.method(
      CompilerProcess.prototype,
      'build',
      async function (this: CompilerProcess, ...args: Parameters<typeof buildIn>) {
        await this.ready;
        for (const pid of this.pids) {
          asked += 1;
          if (process.platform === 'linux') assertConfined(pid);
        }
        return buildIn.apply(this, args);
      },
    );
    const template = languages.get(lang)?.template({ pluginName: 'x', namespace: 'y' });
    programOf(await build(lang, template?.contents ?? ''));
    assert.ok(asked > 0);
  };
  return {
    assertCompilerConfined,
    assertTemplateWorks,
    build,
    runProgram,
    run,
    runErrorOf,
    assertProblems,
    problemsOf,
    assertSurvivesFlood,
  };
}

/** Asserts that a process has no variables and no child, and runs as the user that it should. On Linux. */
export function assertConfined(pid: number): void {
  assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
  assert.equal(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), '');
  const user = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const { users } = systemTools();
  if (users) assert.ok(user >= users.first && user < users.first + users.count, String(user));
  else assert.equal(user, process.getuid?.());
}
