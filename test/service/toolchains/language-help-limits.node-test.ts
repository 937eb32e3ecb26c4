import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { assertConfined } from './compiling.ts';
import { HelpProcess } from '../../../service/src/toolchains/language-help/help-process.ts';
import { decodeOutcome } from '../../../service/src/toolchains/language-help/help-protocol.ts';
import { LanguageHelp } from '../../../service/src/toolchains/language-help/language-help.ts';
import { helpLimits } from '../../../service/src/toolchains/language-help/limits.ts';
import { SupersededError } from '../../../service/src/toolchains/process/superseding-queue.ts';
import { textTypes } from '../../../service/src/toolchains/types/declarations.ts';
import { temporaryDirectory } from '../harness.ts';
import { helpJob, runs, startLanguageHelp } from './asking-for-help.ts';

const { help, requestHelp, labels, hoverOf } = startLanguageHelp();

describe('hostile sources', () => {
  test('read no file, by reference or import of any kind', async (t) => {
    const directory = temporaryDirectory(t);
    writeFileSync(
      join(directory, 'secret.ts'),
      'export const hunter2 = 1; declare global { const HUNTER2: 1; }',
    );
    writeFileSync(join(directory, 'secret.json'), '{ "hunter2": 1 }');
    const source = `/// <reference path="/etc/passwd" />
/// <reference path="${directory}/secret.ts" />
/// <reference types="node" />
import json from '${directory}/secret.json';
import * as all from '${directory}/secret.ts';
import * as other from '${directory}/secret';
const loaded: typeof import('${directory}/secret.ts') = all;
export const run = (input: string) => input;
`;
    for (const [place, name] of [
      ['json from', 'default'],
      ['all from', 'hunter2'],
      ['loaded:', 'hunter2'],
    ] as const) {
      const hover = await hoverOf('typescript', source.replace(place, `|${place}`));
      assert.doesNotMatch(hover ?? '', /hunter2/, name);
    }
    for (const expression of ['json.|', 'all.|', 'loaded.|', 'HUNTER|']) {
      const found = await labels('typescript', `${source}${expression}`);
      assert.ok(!found.some((label) => /hunter2/i.test(label)), `${expression} ${found.join()}`);
    }
    // Names of files are not completed either.
    for (const path of [
      `import '${directory}/|'`,
      "import '/etc/|'",
      "import './|'",
      '/// <reference path="/etc/|" />',
    ]) {
      assert.deepEqual(await labels('typescript', path), [], path);
    }
    const definition = await requestHelp(
      'typescript',
      source.replace("secret.ts';", "sec|ret.ts';"),
      'textDocument/definition',
    );
    assert.deepEqual(definition?.ranges ?? [], []);
  });

  test('with endless types cost at most their own result', async () => {
    const endless = `type Tuple<N extends number, R extends unknown[] = []> = R['length'] extends N ? R : Tuple<N, [...R, 1]>;
export const run = (input: string): string => { const t: Tuple<99999> = []; t|; return input; };`;
    const [before = '', behind = ''] = endless.split('|');
    const position = { line: 1, character: before.split('\n')[1]?.length ?? 0 };
    const request = { method: 'textDocument/hover' as const, params: { position } };
    await help.help(helpJob('typescript', before + behind, request));
    assert.ok((await labels('typescript', runs.typescript.replace('BODY', 'input.|'))).includes('trim'));
  });

  test('that nest endlessly cost at most their own result', async () => {
    const position = { line: 0, character: 5 };
    await help.help(
      helpJob('javascript', '('.repeat(helpLimits.source), {
        method: 'textDocument/hover',
        params: { position },
      }),
    );
    assert.ok((await labels('javascript', runs.javascript.replace('BODY', 'input.|'))).includes('trim'));
  });

  test('with thousands of names get the names that match what is typed, within the limits', async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `key${i}: 1`).join(', ');
    const all = await requestHelp(
      'javascript',
      `const o = { ${names}, other: 1 };\no.|`,
      'textDocument/completion',
    );
    assert.equal(all?.items.length, helpLimits.completions);
    assert.equal(all.isIncomplete, true);
    const fitting = await requestHelp(
      'javascript',
      `const o = { ${names}, other: 1 };\no.oth|`,
      'textDocument/completion',
    );
    assert.deepEqual(
      fitting?.items.map(({ label }) => label),
      ['other'],
    );
    assert.equal(fitting.isIncomplete, true);
    const beginnings = await labels('javascript', `const o = { ${names}, key: 1 };\no.key|`);
    assert.equal(beginnings[0], 'key');
  });

  test('with names and comments of any length get results within the limits', async () => {
    const long = 'x'.repeat(60_000);
    const source = `/** ${long}\n\`\`\`\n${long} */\nfunction f(${long}) { return ${long} }\nf|(1, `;
    assert.ok(((await hoverOf('javascript', source)) ?? '').length <= helpLimits.documentation);
    const signatures = await requestHelp(
      'javascript',
      source.replace('f|', 'f').concat('|'),
      'textDocument/signatureHelp',
    );
    assert.ok((signatures?.signatures[0]?.label ?? '').length <= helpLimits.documentation);
    assert.ok(!(await labels('javascript', `const ${long} = 1;\n|`)).includes(long));
    const many = `const a = 1;\n${'a;\n'.repeat(helpLimits.edits + 1)}`;
    assert.equal(
      await requestHelp('javascript', many.replace('a;', 'a|;'), 'textDocument/rename', { newName: 'b' }),
      null,
    );
  });
});

test('the service accepts no reply beyond the limits, whatever the process sends', () => {
  const items = Array.from({ length: helpLimits.completions + 1 }, () => ({ label: 'a' }));
  for (const [method, result] of [
    ['textDocument/completion', { isIncomplete: false, items }],
    [
      'textDocument/completion',
      { isIncomplete: false, items: [{ label: 'a'.repeat(helpLimits.label + 1) }] },
    ],
    [
      'textDocument/hover',
      { contents: { kind: 'markdown', value: 'a'.repeat(helpLimits.documentation + 1) } },
    ],
    ['textDocument/hover', { contents: { kind: 'html', value: '' } }],
    ['textDocument/rename', [{ range: {}, newText: '' }]],
    ['textDocument/definition', undefined],
  ] as const) {
    assert.throws(() => decodeOutcome(JSON.stringify({ result }), method), method);
  }
});

const question = (contents: string) => ({
  language: 'javascript' as const,
  contents,
  types: textTypes,
  request: { method: 'textDocument/hover' as const, params: { position: { line: 0, character: 0 } } },
});

test('a process beyond its time limit is ended, and the error says so', async (t) => {
  const process = new HelpProcess(1);
  t.after(() => process.close());
  const end = await process.doJob(question('const a = 1;\n'.repeat(15_000)));
  assert.match('failed' in end ? end.failed : '', /more than 0\.001 s, which is the limit of time/);
  assert.equal(process.isUsable, false);
});

test('a waiting request is dropped when a newer one of its kind arrives, or its client goes', async (t) => {
  const own = new LanguageHelp();
  t.after(() => own.close());
  const hover = (signal?: AbortSignal) =>
    own.help({ ...helpJob('javascript', 'let a;', question('').request), ...(signal && { signal }) });
  // As many as begin at once: the process still comes up, so that what follows waits.
  const first = hover();
  const overtaken = hover();
  const gone = new AbortController();
  const rejected = assert.rejects(overtaken, SupersededError);
  const dropped = hover(gone.signal);
  const withdrawn = assert.rejects(dropped, { name: 'AbortError' });
  gone.abort();
  await Promise.all([rejected, withdrawn]);
  assert.ok('result' in (await first));
  assert.equal(own.waiting, 0);
});

describe('a process of language help', () => {
  const started: HelpProcess[] = [];
  const own = new LanguageHelp(() => {
    const process = new HelpProcess();
    started.push(process);
    return process;
  });
  after(() => own.close());
  const hover = () => own.help({ ...helpJob('javascript', 'let a;', question('').request) });
  /** The one that answers now. */
  const current = async () => {
    assert.ok('result' in (await hover()));
    return started.at(-1) ?? assert.fail();
  };

  test('has no environment variables and no child processes', async () => {
    const { pids } = await current();
    assert.equal(pids.length, 2);
    if (process.platform !== 'linux') return;
    for (const pid of pids) assertConfined(pid);
  });

  test('whose language server crashes is replaced, and one request is lost', async () => {
    const first = await current();
    process.kill(first.pids.at(-1) ?? assert.fail(), 'SIGKILL');
    // It is known to be gone at the latest once a request to it is lost.
    while (first.isUsable) await hover();
    assert.notEqual(await current(), first);
  });
});
