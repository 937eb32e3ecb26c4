import assert from 'node:assert/strict';
import { after } from 'node:test';
import { LanguageHelp } from '../../../service/src/toolchains/language-help/language-help.ts';
import type {
  HelpMethod,
  HelpRequest,
  HelpResult,
  TextEdit,
} from '../../../service/src/toolchains/language-help/requests.ts';
import type { CheckedLanguage } from '../../../service/src/toolchains/types/declarations.ts';

/** A plugin whose `run` does BODY. */
export const runs = {
  javascript: 'export function run(input) {\n  BODY\n}\n',
  typescript: 'export function run(input: string): string {\n  BODY\n}\n',
} as const;

/** What language help is asked to do. */
export const helpJob = (language: CheckedLanguage, contents: string, request: HelpRequest) => ({
  language,
  contents,
  request,
  owner: { environment: 'com.acme', tenant: 't1', token: '' },
  subject: 'add-record',
});

/** Language help for the tests of a file. */
export function startLanguageHelp() {
  const help = new LanguageHelp();
  after(() => help.close());

  /** Asks about a source in which "|" says where; what is asked by place needs no more. */
  const requestHelp = async <Method extends HelpMethod>(
    language: CheckedLanguage,
    marked: string,
    method: Method,
    params: object = {},
  ): Promise<HelpResult<Method>> => {
    const [before = '', behind = ''] = marked.split('|');
    const lines = before.split('\n');
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const all =
      method === 'textDocument/codeAction' ? { range: { start: position, end: position } } : { position };
    const request = { method, params: { ...all, ...params } } as HelpRequest;
    const end = await help.help(helpJob(language, before + behind, request));
    assert.ok('result' in end, JSON.stringify(end));
    return end.result as HelpResult<Method>;
  };

  /** What completion offers at "|". */
  const labels = async (language: CheckedLanguage, marked: string) =>
    (await requestHelp(language, marked, 'textDocument/completion'))?.items.map(({ label }) => label) ?? [];

  /** What is shown by hover at "|". */
  const hoverOf = async (language: CheckedLanguage, marked: string) =>
    (await requestHelp(language, marked, 'textDocument/hover'))?.contents.value;
  return { help, requestHelp, labels, hoverOf };
}

/** A source after edits of it. */
export function applyEdits(source: string, edits: readonly TextEdit[]): string {
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
