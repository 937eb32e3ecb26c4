import { Facet } from '@codemirror/state';
import type { Command } from '@codemirror/view';

/** What mends a problem at the cursor, where there is something that knows how. */
export interface ProblemFix {
  /** Its name on a button, in the present language. */
  label: () => string;
  run: Command;
}

/** Offered beside the message of a problem. */
export const problemFix = Facet.define<ProblemFix>();
