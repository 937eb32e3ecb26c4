import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Diagnostic } from './service/records.ts';

/** What the grammar cannot read, as far as the text is parsed: the most that an editor knows without a builder. */
export function syntaxProblems(state: EditorState): Diagnostic[] {
  const found: Diagnostic[] = [];
  let last = -1;
  syntaxTree(state).iterate({
    enter: ({ type, from }) => {
      const line = state.doc.lineAt(from);
      // One fault upsets the grammar in several places: one for each line is enough.
      if (!type.isError || line.number === last) return;
      last = line.number;
      found.push({
        line: line.number,
        column: from - line.from + 1,
        message: 'The text is not right here: something is missing, or too much.',
        severity: 'error',
      });
    },
  });
  return found;
}
