import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HelpRequest } from '../../../service/src/toolchains/language-help/requests.ts';
import { fixesFor } from '../../../service/src/toolchains/language-help/quick-fixes.ts';
import { applyEdits, helpJob, runs, startLanguageHelp } from './asking-for-help.ts';

const { help, requestHelp, labels, hoverOf } = startLanguageHelp();

for (const language of ['javascript', 'typescript'] as const) {
  const within = (body: string) => runs[language].replace('BODY', () => body);

  describe(`language help in ${language}`, () => {
    test('completes members of a value with types and documentation, even where the source does not parse yet', async () => {
      const marked = within('input.|');
      const found = await labels(language, marked);
      assert.ok(found.includes('trim') && found.includes('padStart'), found.join());
      assert.ok(!found.includes('document'));
      const resolved = await requestHelp(language, marked, 'completionItem/resolve', { label: 'trim' });
      assert.match(resolved?.detail ?? '', /String\.trim\(\): string/);
      assert.match(resolved?.documentation?.value ?? '', /white space/);
    });

    test('knows the sandbox: console and the language, but neither a browser nor Node', async () => {
      const names = await labels(language, within('|'));
      for (const name of [
        'console',
        'queueMicrotask',
        'performance',
        'atob',
        'JSON',
        'Map',
        'Intl',
        'URL',
        'crypto',
        'input',
      ])
        assert.ok(names.includes(name), name);
      for (const name of [
        'document',
        'window',
        'fetch',
        'process',
        'require',
        'Buffer',
        'Atomics',
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

    test('takes a lone surrogate as a character like others', async () => {
      assert.match((await hoverOf(language, within('return "\ud800" + in|put')))!, /input: string/);
    });

    test('shows by hover what a thing is; the argument of run is text', async () => {
      assert.match((await hoverOf(language, within('return in|put')))!, /\(parameter\) input: string/);
      assert.match(
        (await hoverOf(language, `/** Doubles it. */\nfunction dou|ble(n) { return n }\n${within('')}`))!,
        /function double[\s\S]*Doubles it\./,
      );
      assert.equal(await requestHelp(language, within('|'), 'textDocument/hover'), null);
    });

    test('shows the signature of a call, and which parameter is next', async () => {
      const found = await requestHelp(language, within('input.replace("a", |'), 'textDocument/signatureHelp');
      assert.equal(found?.activeParameter, 1);
      assert.match(found.signatures[found.activeSignature ?? 0]?.label ?? '', /^replace\(/);
    });

    test('goes to a definition in the source, and reports what is built in', async () => {
      const source = within('const total = 1;\n  return String(tot|al);');
      const found = await requestHelp(language, source, 'textDocument/definition');
      assert.deepEqual(found, {
        ranges: [{ start: { line: 1, character: 8 }, end: { line: 1, character: 13 } }],
        isBuiltIn: false,
      });
      assert.deepEqual(await requestHelp(language, within('JS|ON'), 'textDocument/definition'), {
        ranges: [],
        isBuiltIn: true,
      });
    });

    test('renames all places in the source, and nothing that is built in', async () => {
      const source = within('const a = input; return inp|ut + a;');
      const edits = await requestHelp(language, source, 'textDocument/rename', { newName: 'text' });
      const renamed = applyEdits(source.replace('|', ''), edits ?? []);
      assert.equal(renamed, within('const a = text; return text + a;').replace('run(input', 'run(text'));
      assert.equal(
        await requestHelp(language, within('JS|ON'), 'textDocument/rename', { newName: 'x' }),
        null,
      );
    });

    test('formats, and changes only white space', async () => {
      const source = `const a = {b:1,c : 2}\nexport function run( input${language === 'typescript' ? ': string' : ''} ){return input}\n`;
      const options = { tabSize: 2, insertSpaces: true };
      const edits = await requestHelp(language, source, 'textDocument/formatting', { options });
      const formatted = applyEdits(source, edits ?? []);
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
        const [first] = await requestHelp(language, source, 'textDocument/codeAction');
        assert.match(first?.title ?? '', title);
        assert.deepEqual(first?.data, data);
        assert.match(applyEdits(source.replace('|', ''), first?.edits ?? []), fixed);
      });
    }

    test('offers to remove an import, which no plugin can have', async () => {
      const [first, ...others] = await requestHelp(
        language,
        `import fs from "f|s";\n${within('')}`,
        'textDocument/codeAction',
      );
      assert.equal(first?.title, 'Remove the import');
      assert.deepEqual(others, []);
      const beside = `import fs from "f|s"; const kept = 1;\n${within('')}`;
      assert.deepEqual(await requestHelp(language, beside, 'textDocument/codeAction'), []);
    });

    test('offers no comment in the text of a template literal', async () => {
      const source = within('return `\n${favor|ite(input)}`;');
      assert.deepEqual(await requestHelp(language, source, 'textDocument/codeAction'), []);
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
        assert.deepEqual(await help.help(helpJob(language, within(''), request(line, character))), {
          result: null,
        });
      }
    });
  });
}

describe('language help', () => {
  test('makes no more quick fixes than are asked for', () => {
    const optional = { severity: undefined, relatedInformation: undefined };
    const problemsOfLines = function* () {
      for (let line = 0; ; line++) {
        const start = { line, character: 0 };
        yield { code: 2304, message: 'No such name.', range: { start, end: start }, ...optional };
      }
    };
    const lines: (number | undefined)[] = [];
    // The lines 1 and 2 begin in a template literal.
    for (const { edits } of fixesFor(problemsOfLines(), '`\n\\`\n`;\n')) {
      lines.push(edits[0]?.range.start.line);
      if (lines.length === 3) break;
    }
    assert.deepEqual(lines, [0, 3, 4]);
  });

  test('offers to make a function async where an await is misplaced', async () => {
    for (const [language, source, fixed] of [
      [
        'typescript',
        'export function run(input: string) {\n  aw|ait input;\n}\n',
        /export async function run/,
      ],
      ['typescript', 'export const run = (input: string) => {\n  aw|ait input;\n};\n', /run = async \(input/],
      // The compiler gets this source with a comment before the parameter.
      [
        'javascript',
        'export const run = (a) => a.map((n) => aw|ait n);\n',
        /a\.map\(async \(n\) => await n\)/,
      ],
    ] as const) {
      const found = await requestHelp(language, source, 'textDocument/codeAction');
      const fix = found.find(({ title }) => title === 'Make the function async');
      assert.match(applyEdits(source.replace('|', ''), fix?.edits ?? []), fixed);
    }
  });

  test('offers to read a value that may be missing with "?."', async () => {
    const source =
      'export const run = (input: string) => {\n  const m = /x/.exec(input);\n  return m|.index + "";\n};\n';
    const [first] = await requestHelp('typescript', source, 'textDocument/codeAction');
    assert.match(applyEdits(source.replace('|', ''), first?.edits ?? []), /m\?\.index/);
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
    const work = helpJob('javascript', 'export const run = (input) => input.', request);
    const labelsOf = (end: Awaited<ReturnType<typeof help.help>>) =>
      'result' in end && end.result && 'items' in end.result
        ? end.result.items.map(({ label }) => label)
        : [];
    assert.deepEqual(labelsOf(await help.help({ ...work, types })), ['price']);
    assert.ok(labelsOf(await help.help(work)).includes('trim'));
  });
});
