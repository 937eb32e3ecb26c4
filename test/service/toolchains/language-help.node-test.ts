import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { systemTools } from '../../../service/src/processes/system-tools.ts';
import { HelpProcess } from '../../../service/src/toolchains/language-help/help-process.ts';
import { decodeEnd } from '../../../service/src/toolchains/language-help/help-protocol.ts';
import { LanguageHelp } from '../../../service/src/toolchains/language-help/language-help.ts';
import { helpLimits } from '../../../service/src/toolchains/language-help/limits.ts';
import type {
  HelpMethod,
  HelpRequest,
  HelpResult,
  TextEdit,
} from '../../../service/src/toolchains/language-help/requests.ts';
import { SupersededError } from '../../../service/src/toolchains/process/superseded.ts';
import { textTypes } from '../../../service/src/toolchains/types/declarations.ts';
import type { CheckedLanguage } from '../../../service/src/toolchains/types/declarations.ts';
import { temporaryDirectory } from '../harness.ts';

const help = new LanguageHelp();
after(() => help.close());

const share = { environment: 'com.acme', tenant: 't1', token: '' };
const of = (language: CheckedLanguage, contents: string, request: HelpRequest) => ({
  language,
  contents,
  request,
  share,
  subject: 'add-record',
});

/** Asks about a source in which "|" says where; what is asked by place needs no more. */
async function ask<Method extends HelpMethod>(
  language: CheckedLanguage,
  marked: string,
  method: Method,
  params: object = {},
): Promise<HelpResult<Method>> {
  const [before = '', behind = ''] = marked.split('|');
  const lines = before.split('\n');
  const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  const all =
    method === 'textDocument/codeAction' ? { range: { start: position, end: position } } : { position };
  const request = { method, params: { ...all, ...params } } as HelpRequest;
  const end = await help.help(of(language, before + behind, request));
  assert.ok('result' in end, JSON.stringify(end));
  return end.result as HelpResult<Method>;
}

const labels = async (language: CheckedLanguage, marked: string) =>
  (await ask(language, marked, 'textDocument/completion'))?.items.map(({ label }) => label) ?? [];
const hoverOf = async (language: CheckedLanguage, marked: string) =>
  (await ask(language, marked, 'textDocument/hover'))?.contents.value;

function apply(source: string, edits: readonly TextEdit[]): string {
  const lines = source.split('\n');
  const offset = ({ line, character }: TextEdit['range']['start']) =>
    lines.slice(0, line).join('\n').length + (line ? 1 : 0) + character;
  return edits
    .toSorted((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce(
      (text, { range, newText }) =>
        text.slice(0, offset(range.start)) + newText + text.slice(offset(range.end)),
      source,
    );
}

const runs = {
  javascript: 'export function run(input) {\n  BODY\n}\n',
  typescript: 'export function run(input: string): string {\n  BODY\n}\n',
} as const;

for (const language of ['javascript', 'typescript'] as const) {
  const within = (body: string) => runs[language].replace('BODY', () => body);

  describe(language, () => {
    test('completes members of a value with types and documentation, even where the source does not parse yet', async () => {
      const marked = within('input.|');
      const found = await labels(language, marked);
      assert.ok(found.includes('trim') && found.includes('padStart'), found.join());
      assert.ok(!found.includes('document'));
      const resolved = await ask(language, marked, 'completionItem/resolve', { label: 'trim' });
      assert.match(resolved?.detail ?? '', /String\.trim\(\): string/);
      assert.match(resolved?.documentation?.value ?? '', /white space/);
    });

    test('knows the sandbox: console and the language, but neither a browser nor Node', async () => {
      const names = await labels(language, within('|'));
      for (const name of ['console', 'queueMicrotask', 'performance', 'atob', 'JSON', 'Map', 'input'])
        assert.ok(names.includes(name), name);
      for (const name of [
        'document',
        'window',
        'fetch',
        'process',
        'require',
        'Buffer',
        'Intl',
        'setTimeout',
      ])
        assert.ok(!names.includes(name), name);
      assert.deepEqual((await labels(language, within('console.|'))).toSorted(), [
        'debug',
        'error',
        'info',
        'log',
        'warn',
      ]);
    });

    test('shows by hover what a thing is; the argument of run is text', async () => {
      assert.match((await hoverOf(language, within('return in|put')))!, /\(parameter\) input: string/);
      assert.match(
        (await hoverOf(language, `/** Doubles it. */\nfunction dou|ble(n) { return n }\n${within('')}`))!,
        /function double[\s\S]*Doubles it\./,
      );
      assert.equal(await ask(language, within('|'), 'textDocument/hover'), null);
    });

    test('shows the signature of a call, and which parameter is next', async () => {
      const found = await ask(language, within('input.replace("a", |'), 'textDocument/signatureHelp');
      assert.equal(found?.activeParameter, 1);
      assert.match(found.signatures[found.activeSignature ?? 0]?.label ?? '', /^replace\(/);
    });

    test('goes to a definition in the source, and reports what is built in', async () => {
      const source = within('const total = 1;\n  return String(tot|al);');
      const found = await ask(language, source, 'textDocument/definition');
      assert.deepEqual(found, {
        ranges: [{ start: { line: 1, character: 8 }, end: { line: 1, character: 13 } }],
        isBuiltIn: false,
      });
      assert.deepEqual(await ask(language, within('JS|ON'), 'textDocument/definition'), {
        ranges: [],
        isBuiltIn: true,
      });
    });

    test('renames all places in the source, and nothing that is built in', async () => {
      const source = within('const a = input; return inp|ut + a;');
      const edits = await ask(language, source, 'textDocument/rename', { newName: 'text' });
      const renamed = apply(source.replace('|', ''), edits ?? []);
      assert.equal(renamed, within('const a = text; return text + a;').replace('run(input', 'run(text'));
      assert.equal(await ask(language, within('JS|ON'), 'textDocument/rename', { newName: 'x' }), null);
    });

    test('formats, and changes only white space', async () => {
      const source = `const a = {b:1,c : 2}\nexport function run( input${language === 'typescript' ? ': string' : ''} ){return input}\n`;
      const options = { tabSize: 2, insertSpaces: true };
      const edits = await ask(language, source, 'textDocument/formatting', { options });
      const formatted = apply(source, edits ?? []);
      assert.match(
        formatted,
        /^const a = \{ b: 1, c: 2 \}\nexport function run\(input(?:: string)?\) \{ return input \}\n$/,
      );
    });

    const fixes: [source: string, title: RegExp, data: object, fixed: RegExp][] = [
      [
        'const orders = 1; return ordr|s;',
        /^Change to "orders"$/,
        { fix: 'spelling', name: 'orders' },
        /return orders;/,
      ],
      [
        'return input.trim|m();',
        /^Change to "trim"$/,
        { fix: 'spelling', name: 'trim' },
        /return input\.trim\(\);/,
      ],
      [
        'return JSON.pars|ee("1");',
        /^Change to "parse"$/,
        { fix: 'spelling', name: 'parse' },
        /JSON\.parse\("1"\)/,
      ],
      [
        'return favorit|e(input);',
        /^Ignore this problem/,
        { fix: 'ignore' },
        /\n {2}\/\/ @ts-ignore\n {2}return favorite/,
      ],
    ];
    for (const [body, title, data, fixed] of fixes) {
      test(`offers to fix: ${body}`, async () => {
        const source = within(body);
        const [first] = await ask(language, source, 'textDocument/codeAction');
        assert.match(first?.title ?? '', title);
        assert.deepEqual(first?.data, data);
        assert.match(apply(source.replace('|', ''), first?.edits ?? []), fixed);
      });
    }

    test('offers to remove an import, which no plugin can have', async () => {
      const [first, ...others] = await ask(
        language,
        `import fs from "f|s";\n${within('')}`,
        'textDocument/codeAction',
      );
      assert.equal(first?.title, 'Remove the import');
      assert.deepEqual(others, []);
    });

    test('answers a place outside the source with nothing', async () => {
      const request = (line: number, character: number): HelpRequest => ({
        method: 'textDocument/completion',
        params: { position: { line, character } },
      });
      for (const [line, character] of [
        [999, 0],
        [0, 999],
      ] as const) {
        assert.deepEqual(await help.help(of(language, within(''), request(line, character))), {
          result: null,
        });
      }
    });
  });
}

test('offers to make a function async where an await is misplaced', async () => {
  for (const [source, fixed] of [
    ['export function run(input: string) {\n  aw|ait input;\n}\n', /export async function run/],
    ['export const run = (input: string) => {\n  aw|ait input;\n};\n', /run = async \(input/],
  ] as const) {
    const found = await ask('typescript', source, 'textDocument/codeAction');
    const fix = found.find(({ title }) => title === 'Make the function async');
    assert.match(apply(source.replace('|', ''), fix?.edits ?? []), fixed);
  }
});

test('offers to read a value that may be missing with "?."', async () => {
  const source =
    'export const run = (input: string) => {\n  const m = /x/.exec(input);\n  return m|.index + "";\n};\n';
  const [first] = await ask('typescript', source, 'textDocument/codeAction');
  assert.match(apply(source.replace('|', ''), first?.edits ?? []), /m\?\.index/);
});

test('knows the argument of run in JavaScript, however run is written, without a comment', async () => {
  for (const source of [
    'export function run(input) { return inp|ut; }',
    'export async function run(input) { return inp|ut; }',
    'export const run = (input) => inp|ut;',
    'export const run = async (input) => inp|ut;',
    'export const run = function (input) { return inp|ut; };',
    '// é😀\nexport const run = (inp|ut) => input;',
  ]) {
    assert.match((await hoverOf('javascript', source)) ?? '', /input: string/, source);
  }
});

test('knows declarations that come with a request, and forgets them for the next', async () => {
  const types = {
    input: 'Input',
    output: 'string',
    declarations: 'interface Input { /** In cents. */ price: number }',
  };
  const request: HelpRequest = {
    method: 'textDocument/completion',
    params: { position: { line: 0, character: 36 } },
  };
  const work = of('javascript', 'export const run = (input) => input.', request);
  const labelsOf = (end: Awaited<ReturnType<typeof help.help>>) =>
    'result' in end && end.result && 'items' in end.result ? end.result.items.map(({ label }) => label) : [];
  assert.deepEqual(labelsOf(await help.help({ ...work, types })), ['price']);
  assert.ok(labelsOf(await help.help(work)).includes('trim'));
});

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
    const definition = await ask(
      'typescript',
      source.replace("secret.ts';", "sec|ret.ts';"),
      'textDocument/definition',
    );
    assert.deepEqual(definition?.ranges ?? [], []);
  });

  test('with endless types cost at most their own answer', async () => {
    const endless = `type Tuple<N extends number, R extends unknown[] = []> = R['length'] extends N ? R : Tuple<N, [...R, 1]>;
export const run = (input: string): string => { const t: Tuple<99999> = []; t|; return input; };`;
    for (const method of ['textDocument/hover', 'textDocument/completion'] as const) {
      const [before = '', behind = ''] = endless.split('|');
      const position = { line: 1, character: before.split('\n')[1]?.length ?? 0 };
      await help.help(of('typescript', before + behind, { method, params: { position } }));
    }
    assert.ok((await labels('typescript', runs.typescript.replace('BODY', 'input.|'))).includes('trim'));
  });

  test('that nest endlessly cost at most their own answer', async () => {
    const position = { line: 0, character: 5 };
    await help.help(
      of('javascript', '('.repeat(helpLimits.source), { method: 'textDocument/hover', params: { position } }),
    );
    assert.ok((await labels('javascript', runs.javascript.replace('BODY', 'input.|'))).includes('trim'));
  });

  test('with thousands of names get the names that match what is typed, within the limits', async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `key${i}: 1`).join(', ');
    const all = await ask('javascript', `const o = { ${names}, other: 1 };\no.|`, 'textDocument/completion');
    assert.equal(all?.items.length, helpLimits.completions);
    assert.equal(all.isIncomplete, true);
    const fitting = await ask(
      'javascript',
      `const o = { ${names}, other: 1 };\no.oth|`,
      'textDocument/completion',
    );
    assert.deepEqual(
      fitting?.items.map(({ label }) => label),
      ['other'],
    );
    assert.equal(fitting.isIncomplete, true);
  });

  test('with names and comments of any length get answers within the limits', async () => {
    const long = 'x'.repeat(60_000);
    const source = `/** ${long}\n\`\`\`\n${long} */\nfunction f(${long}) { return ${long} }\nf|(1, `;
    assert.ok(((await hoverOf('javascript', source)) ?? '').length <= helpLimits.documentation);
    const signatures = await ask(
      'javascript',
      source.replace('f|', 'f').concat('|'),
      'textDocument/signatureHelp',
    );
    assert.ok((signatures?.signatures[0]?.label ?? '').length <= helpLimits.documentation);
    assert.ok(!(await labels('javascript', `const ${long} = 1;\n|`)).includes(long));
    const many = `const a = 1;\n${'a;\n'.repeat(helpLimits.edits + 1)}`;
    assert.equal(
      await ask('javascript', many.replace('a;', 'a|;'), 'textDocument/rename', { newName: 'b' }),
      null,
    );
  });
});

test('the service accepts no answer beyond the limits, whatever the process sends', () => {
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
    assert.throws(() => decodeEnd(JSON.stringify({ result }), method), method);
  }
});

const question = (contents: string) => ({
  language: 'javascript' as const,
  contents,
  types: textTypes,
  request: { method: 'textDocument/hover' as const, params: { position: { line: 0, character: 0 } } },
});

test('a process beyond its time limit is ended, and the error says so', async (t) => {
  const process = new HelpProcess({ time: 1 });
  t.after(() => process.close());
  const end = await process.ask(question('const a = 1;\n'.repeat(15_000)));
  assert.match('failed' in end ? end.failed : '', /more than 0\.001 s, which is the limit of time/);
  assert.equal(process.isUsable, false);
});

test('a process whose language server crashes is replaced, and one request is lost', async (t) => {
  const started: HelpProcess[] = [];
  const own = new LanguageHelp(() => {
    const process = new HelpProcess();
    started.push(process);
    return process;
  });
  t.after(() => own.close());
  const hover = () => own.help({ ...of('javascript', 'let a;', question('').request) });
  assert.ok('result' in (await hover()));
  const [first] = started;
  assert.ok(first);
  const server = first.pids.at(-1);
  assert.ok(server);
  process.kill(server, 'SIGKILL');
  // It is known to be gone at the latest once a request to it is lost.
  while (first.isUsable) await hover();
  const end = await hover();
  assert.ok('result' in end, JSON.stringify(end));
  assert.ok(started.length > 1);
});

test('a waiting request is dropped when a newer one of its kind arrives, or its client goes', async (t) => {
  const own = new LanguageHelp();
  t.after(() => own.close());
  const hover = (signal?: AbortSignal) =>
    own.help({ ...of('javascript', 'let a;', question('').request), ...(signal && { signal }) });
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

test('a process of language help has no environment variables and no child processes, and its language server sees no files', async (t) => {
  const helper = new HelpProcess();
  t.after(() => helper.close());
  await helper.ready;
  assert.equal(helper.pids.length, 2);
  if (process.platform !== 'linux') return;
  const childrenOf = (pid: number) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  for (const pid of helper.pids) {
    const isWrapped = readFileSync(`/proc/${pid}/comm`, 'utf8') === 'bwrap\n';
    assert.equal(isWrapped, pid !== helper.pids[0] && systemTools().hidesFiles);
    for (const program of isWrapped ? childrenOf(pid) : [pid]) {
      assert.equal(readFileSync(`/proc/${program}/environ`, 'utf8'), '');
      assert.deepEqual(childrenOf(program), []);
      const [, user] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${program}/status`, 'utf8')) ?? [];
      assert.equal(Number(user), systemTools().user ?? process.getuid?.());
    }
  }
});
