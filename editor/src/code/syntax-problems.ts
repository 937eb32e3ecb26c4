import { ensureSyntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import { texts } from '../locales/locale.ts';
import type { Diagnostic } from '../service/records.ts';

/** How long a text may take to parse, in ms; a larger one is left to the builder. */
const PARSE_TIME = 100;

/** What the grammar cannot read: the most that an editor knows without a builder. */
export function syntaxProblems(state: EditorState): Diagnostic[] {
  const found: Diagnostic[] = [];
  let last = -1;
  // A tree that is not whole has an error at its end.
  ensureSyntaxTree(state, state.doc.length, PARSE_TIME)?.iterate({
    enter: ({ type, from }) => {
      const line = state.doc.lineAt(from);
      // One fault upsets the grammar in several places: one for each line is enough.
      if (!type.isError || line.number === last) return;
      last = line.number;
      found.push({
        line: line.number,
        column: from - line.from + 1,
        message: texts().problems.syntax,
        severity: 'error',
      });
    },
  });
  return found;
}
