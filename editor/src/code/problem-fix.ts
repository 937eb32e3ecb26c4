import { Facet } from '@codemirror/state';
import type { Command } from '@codemirror/view';

/** A command that fixes the problem at the cursor. */
export interface ProblemFix {
  /** Its name on a button, in the present language. */
  label: () => string;
  run: Command;
}

/** The command that is offered beside the message of a problem, where there is one. */
export const problemFix = Facet.define<ProblemFix>();
