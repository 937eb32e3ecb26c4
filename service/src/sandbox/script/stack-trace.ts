import { SourceMap } from 'node:module';
import type { ScriptProgram } from '../../plugins/program.ts';

/**
 * An error's text with its stack, in lines and columns of the user's source. Both count from 1, columns in UTF-16 code units.
 * Frames in other files are left out.
 */
export function traceInSource(error: string, stack: string, { code, file, mappings }: ScriptProgram): string {
  const lines = code.split('\n');
  const map =
    mappings === undefined
      ? undefined
      : new SourceMap({
          version: 3,
          file,
          sources: [file],
          sourcesContent: [],
          names: [],
          mappings,
          sourceRoot: '',
        });
  const frames = stack.split('\n').flatMap((frame) => {
    const [, head, line, column, tail] =
      // With the flag `s`, because a function's name may hold any character, such as U+2028.
      new RegExp(`^(.*)${escape(file)}:(\\d+):(\\d+)(.*)$`, 's').exec(frame) ?? [];
    if (head === undefined) return [];
    const place = { line: Number(line), column: utf16Column(lines[Number(line) - 1] ?? '', Number(column)) };
    const entry = map?.findEntry(place.line - 1, place.column - 1);
    const { line: l, column: c } =
      entry && 'originalLine' in entry
        ? { line: entry.originalLine + 1, column: entry.originalColumn + 1 }
        : place;
    return [`${head}${file}:${l}:${c}${tail}`];
  });
  return [error, ...frames].join('\n');
}

const escape = (text: string) => text.replace(/[^\w]/g, '\\$&');

/** The engine counts columns in bytes of UTF-8. */
const utf16Column = (line: string, column: number): number =>
  Buffer.from(line)
    .subarray(0, column - 1)
    .toString().length + 1;
