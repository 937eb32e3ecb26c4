import type { HelpResult, Position, Range, TextEdit } from './requests.ts';
import type { ServerDiagnostic } from './server-results.ts';

/*
 * TypeScript's native language server has hardly any quick fixes yet. These are the ones that can be made from its diagnostics
 * alone.
 */

export interface Fix {
  readonly title: string;
  readonly data: HelpResult<'textDocument/codeAction'>[number]['data'];
  readonly edits: readonly TextEdit[];
}

/** The source by lines, without their line breaks. */
type Lines = readonly string[];

const at = (place: Position): Range => ({ start: place, end: place });
const lineOf = (lines: Lines, { line }: Position): string => lines[line] ?? '';

/** All fixes for problems, for each of them the most likely first. */
export function* fixesFor(problems: Iterable<ServerDiagnostic>, source: string): Generator<Fix, void> {
  const lines = source.split(/\r\n?|\n/);
  const inTemplate = linesInTemplate(lines);
  for (const problem of problems) {
    for (const make of makers) {
      const fix = make(problem, lines, inTemplate);
      if (fix) yield fix;
    }
  }
}

type MakeFix = (problem: ServerDiagnostic, lines: Lines, inTemplate: ReadonlySet<number>) => Fix | undefined;

// The compiler's codes for a name, a property or a key that looks like another one.
const misspelt = new Set([2551, 2552, 2561, 2570]);

const correctSpelling: MakeFix = ({ code = 0, message, range }) => {
  const meant = misspelt.has(code) ? /Did you mean(?: to write)? '([^']+)'\?/.exec(message)?.[1] : undefined;
  return meant === undefined
    ? undefined
    : {
        title: `Change to "${meant}"`,
        data: { fix: 'spelling', name: meant },
        edits: [{ range, newText: meant }],
      };
};

const markAsync: MakeFix = ({ relatedInformation = [] }, lines) => {
  const found = relatedInformation.find(({ message }) => message.includes("as 'async'"));
  if (!found) return undefined;
  const { line, character } = found.location.range.start;
  // The diagnostic may refer to the name of a function; `async` goes in front of the keyword `function`.
  const before = lineOf(lines, found.location.range.start).slice(0, character);
  const start = /\bfunction $/.test(before) ? character - 'function '.length : character;
  return {
    title: 'Make the function async',
    data: { fix: 'async' },
    edits: [{ range: at({ line, character: start }), newText: 'async ' }],
  };
};

// The compiler's codes for a value that may be null, undefined, or either; with and without its name in the message.
const maybeMissing = new Set([2531, 2532, 2533, 18047, 18048, 18049]);

const accessOptionally: MakeFix = ({ code = 0, range }, lines) => {
  if (!maybeMissing.has(code) || lineOf(lines, range.end)[range.end.character] !== '.') return undefined;
  return {
    title: 'Read it only where it is there: "?."',
    data: { fix: 'optional' },
    edits: [{ range: at(range.end), newText: '?' }],
  };
};

// The compiler's codes for a module that cannot be found.
const missingModule = new Set([2307, 2591, 2882, 2792]);

const removeImport: MakeFix = ({ code = 0, range }, lines) => {
  const { line } = range.start;
  if (!missingModule.has(code) || !/^\s*import\b/.test(lineOf(lines, range.start))) return undefined;
  if (!/^['"]/.test(lineOf(lines, range.start).slice(range.start.character))) return undefined;
  // The whole line is removed.
  const rest = lineOf(lines, range.end).slice(range.end.character).trim().replace(/^;/, '').trimStart();
  const isComment =
    rest.startsWith('//') || (rest.startsWith('/*') && rest.indexOf('*/') === rest.length - 2);
  if (rest && !isComment) return undefined;
  const end =
    line + 1 < lines.length
      ? { line: line + 1, character: 0 }
      : { line, character: lineOf(lines, range.start).length };
  return {
    title: 'Remove the import',
    data: { fix: 'import' },
    edits: [{ range: { start: { line, character: 0 }, end }, newText: '' }],
  };
};

// Lower codes are syntax errors, which a comment cannot suppress. A missing module is not ignored either: no import ever works.
const firstTypeError = 2000;

/** The lines that seem to begin in a template literal: an odd number of backticks stands before them. */
function linesInTemplate(lines: Lines): ReadonlySet<number> {
  const found = new Set<number>();
  let isIn = false;
  for (const [line, text] of lines.entries()) {
    if (isIn) found.add(line);
    for (const [one] of text.matchAll(/\\[^]|`/g)) if (one === '`') isIn = !isIn;
  }
  return found;
}

const ignore: MakeFix = ({ code = 0, range }, lines, inTemplate) => {
  if (code < firstTypeError || missingModule.has(code)) return undefined;
  const { line } = range.start;
  if (inTemplate.has(line)) return undefined;
  const [indent = ''] = /^\s*/.exec(lineOf(lines, range.start)) ?? [];
  return {
    title: 'Ignore this problem, by a comment',
    data: { fix: 'ignore' },
    edits: [{ range: at({ line, character: 0 }), newText: `${indent}// @ts-ignore\n` }],
  };
};

const makers: readonly MakeFix[] = [correctSpelling, markAsync, accessOptionally, removeImport, ignore];
