import { ensureSyntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import { texts } from '../locales/locale.ts';
import type { Diagnostic } from '../service/records.ts';

/** How long parsing may take, in ms. A text that takes longer has no problems here. */
const PARSE_TIME = 100;

/** The problems that the editor's own grammar finds, for a service that does not check. */
export function syntaxProblems(state: EditorState): Diagnostic[] {
  const found: Diagnostic[] = [];
  let last = -1;
  // A tree that is not whole has an error at its end.
  ensureSyntaxTree(state, state.doc.length, PARSE_TIME)?.iterate({
    enter: ({ type, from }) => {
      const line = state.doc.lineAt(from);
      // One mistake can cause several errors; one for each line is enough.
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
