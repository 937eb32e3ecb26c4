import {
  type Diagnostic as Mark,
  forEachDiagnostic,
  lintGutter,
  nextDiagnostic,
  previousDiagnostic,
  setDiagnostics,
  setDiagnosticsEffect,
} from '@codemirror/lint';
import type { EditorState, Extension, Text } from '@codemirror/state';
import type { EditorView, ViewUpdate } from '@codemirror/view';
import { html, nothing, render } from 'lit/html.js';
import type { Diagnostic } from '../service/records.ts';
import { problemFix } from './problem-fix.ts';
import { problemTheme } from './problem-theme.ts';

/** Who found a problem: a build, a check while the user types, or the grammar of the editor. */
export type Finder = 'build' | 'check' | 'syntax';

/** A problem at its present place: it moves with the text around it. */
export interface Problem {
  line: number;
  column: number;
  message: string;
  severity: 'error' | 'warning' | 'info';
  finder: Finder;
}

export { nextDiagnostic as nextProblem, previousDiagnostic as previousProblem };
export { syntaxProblems } from './syntax-problems.ts';

/** Shows marks in the gutter. CodeMirror adds those under the text with the first problem. */
export const problemMarks = (): Extension => [lintGutter(), problemTheme];

/** Whether there are other problems after an update, or the same in other places. */
export const changesProblems = ({ docChanged, transactions }: ViewUpdate): boolean =>
  docChanged || transactions.some(({ effects }) => effects.some((effect) => effect.is(setDiagnosticsEffect)));

/** What each editor shows of each finder: the problems as they were found, and the text that they were found in. */
const marked = new WeakMap<EditorView, Map<Finder, { doc: Text; found: string }>>();

/**
 * Puts what a finder found in place of what it found before. The same once more in the same text changes nothing, because new marks
 * would close the message that the user may be pointing at.
 */
export function markProblems(view: EditorView, finder: Finder, problems: readonly Diagnostic[]): void {
  const { state } = view;
  const known = marked.get(view) ?? new Map();
  const last = known.get(finder);
  const found = JSON.stringify(problems);
  // A mark whose text was deleted is still in the gutter, so an empty list must replace it, too.
  if (last ? last.doc === state.doc && last.found === found : !problems.length) return;
  if (problems.length) known.set(finder, { doc: state.doc, found });
  else known.delete(finder);
  marked.set(view, known);
  const others: Mark[] = [];
  forEachDiagnostic(state, (mark, from, to) => {
    if (mark.source !== finder) others.push({ ...mark, from, to });
  });
  const own = problems.map((one) => markOf(state.doc, one, finder, wordEnd(state)));
  view.dispatch(setDiagnostics(state, [...others, ...own]));
}

/** All problems, in the order of the text. */
export function listProblems(state: EditorState): Problem[] {
  const problems: Problem[] = [];
  forEachDiagnostic(state, ({ message, severity, source }, from) => {
    const line = state.doc.lineAt(from);
    problems.push({
      line: line.number,
      column: from - line.from + 1,
      message,
      severity: severity === 'hint' ? 'info' : severity,
      finder: source as Finder,
    });
  });
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

const wordEnd = (state: EditorState) => (from: number) => state.wordAt(from)?.to;

/** The offset of a line and a column, or of the nearest place that the text has. */
export function positionOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(1, Math.trunc(line) || 1), doc.lines));
  return Math.min(from + Math.max(0, Math.trunc(column) - 1 || 0), to);
}

function markOf(
  doc: Text,
  { line, column, message, severity }: Diagnostic,
  finder: Finder,
  endOf: (from: number) => number | undefined,
): Mark {
  const from = positionOf(doc, line, column);
  const end = doc.lineAt(from).to;
  // A diagnostic has no end, so the word at its beginning is marked, or one character.
  const to = Math.max(from, Math.min(endOf(from) ?? from + 1, end));
  const renderMessage = (view: EditorView): HTMLElement => messageElement(view, message, renderMessage);
  return { from, to, message, renderMessage, severity: severityOf(severity), source: finder };
}

/** The message in a problem's tooltip, with a button for the command that fixes it. */
function messageElement(
  view: EditorView,
  message: string,
  renderMessage: Mark['renderMessage'],
): HTMLElement {
  const element = document.createElement('span');
  const [fix] = view.state.readOnly ? [] : view.state.facet(problemFix);
  const applyFix = () => {
    // CodeMirror moves a mark with the text, so its place is looked up; its function is what stays the same of it.
    let anchor: number | undefined;
    forEachDiagnostic(view.state, (mark, from) => {
      if (mark.renderMessage === renderMessage) anchor = from;
    });
    if (anchor === undefined) return;
    view.dispatch({ selection: { anchor }, scrollIntoView: true });
    fix?.run(view);
  };
  const button =
    fix && html`<button type="button" class="link problem-fix" @click=${applyFix}>${fix.label()}</button>`;
  render(html`${message} ${button ?? nothing}`, element);
  return element;
}

function severityOf(severity = 'error'): Problem['severity'] {
  if (severity.startsWith('info') || severity === 'hint') return 'info';
  return severity === 'warning' ? 'warning' : 'error';
}
