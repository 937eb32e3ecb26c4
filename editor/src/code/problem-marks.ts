import { Compartment, type Extension } from '@codemirror/state';
import { type EditorView, type ViewUpdate, gutter } from '@codemirror/view';
import type { Diagnostic } from '../service/records.ts';
import { loadPart } from '../ui/load-part.ts';
import type { Finder, Problem } from './problems.ts';

type ProblemsPart = typeof import('./problems.ts');

/** The marks of problems in a text; what draws them is loaded with the first problem. */
export class ProblemMarks {
  readonly #getView: () => EditorView;
  readonly #compartment = new Compartment();
  #part: ProblemsPart | undefined;
  #isClosed = false;

  constructor(getView: () => EditorView) {
    this.#getView = getView;
  }

  extension(): Extension {
    // An empty gutter takes the room of the marks from the start, so that the text does not move with the first problem.
    return this.#compartment.of(this.#part?.problemMarks() ?? gutter({ class: 'cm-gutter-lint' }));
  }

  /** The problems after an update of the editor, where that changed them or their places. */
  changedBy(update: ViewUpdate): Problem[] | undefined {
    return this.#part?.changesProblems(update) ? this.#part.listProblems(update.state) : undefined;
  }

  /** Marks what a finder found, in place of what it found before. `isCurrent`: whether it was found in the text as it is. */
  async mark(finder: Finder, found: readonly Diagnostic[], isCurrent: () => boolean): Promise<void> {
    if (!found.length && !this.#part) return;
    // Where this part cannot be loaded, the text can be edited all the same, and the panel lists what a build found.
    const part = await this.load().catch(() => undefined);
    if (part && isCurrent()) part.markProblems(this.#getView(), finder, found);
  }

  async load(): Promise<ProblemsPart> {
    const part = await loadPart(() => import('./problems.ts'));
    if (!this.#part && !this.#isClosed) {
      this.#part = part;
      this.#getView().dispatch({ effects: this.#compartment.reconfigure(part.problemMarks()) });
    }
    return part;
  }

  close(): void {
    this.#isClosed = true;
  }
}
