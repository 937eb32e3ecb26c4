import {
  type Diagnostic as Mark,
  forEachDiagnostic,
  lintGutter,
  nextDiagnostic,
  previousDiagnostic,
  setDiagnostics,
  setDiagnosticsEffect,
} from '@codemirror/lint';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, Facet, type Text } from '@codemirror/state';
import {
  type Command,
  EditorView,
  type ViewUpdate,
  closeHoverTooltips,
  hasHoverTooltips,
} from '@codemirror/view';
import { html, nothing, render } from 'lit/html.js';
import type { Diagnostic } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';

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

/** A command that fixes the problem at the cursor. */
export interface ProblemFix {
  /** Its name on a button, in the present language. */
  label: () => string;
  run: Command;
}

/** The command that is offered beside the message of a problem, where there is one. */
export const problemFix = Facet.define<ProblemFix>();

/** Selects the next problem, or the previous one, and has a screen reader say what it is. */
export function goToProblem(view: EditorView, by: 1 | -1): void {
  (by > 0 ? nextDiagnostic : previousDiagnostic)(view);
  const { from } = view.state.selection.main;
  const messages: string[] = [];
  forEachDiagnostic(view.state, ({ message }, start) => {
    if (start === from) messages.push(message);
  });
  view.dispatch({ effects: EditorView.announce.of(messages.join(' ')) });
}

/** How problems are marked in a text. The colours are the page's (styles/colours.css). */
export const problemTheme = EditorView.theme({
  '.cm-lintRange': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy 1.5px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-error': { textDecorationColor: 'var(--bad)' },
  '.cm-lintRange-warning, .cm-lintRange-info': { textDecorationColor: 'var(--warn)' },
  '.cm-lintRange-active': { backgroundColor: 'var(--code-match)' },
  '.cm-lint-marker': {
    forcedColorAdjust: 'none',
    width: '8px',
    height: '8px',
    borderRadius: '50%',
    backgroundColor: 'var(--warn)',
  },
  // Drawn by the page: a picture would keep its colours in the dark, and in forced colours.
  '.cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info': { content: 'normal' },
  '.cm-lint-marker-error': { borderRadius: '2px', backgroundColor: 'var(--bad)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--bad)' },
  '.cm-tooltip.cm-tooltip-lint': { maxWidth: 'min(480px, 90vw)', color: 'var(--text)', fontSize: '13px' },
  '.cm-diagnostic': { padding: '6px 12px', borderLeftWidth: '3px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning, .cm-diagnostic-info': { borderLeftColor: 'var(--warn)' },
  '.problem-fix': { marginInlineStart: '8px' },
  '.cm-diagnosticSource': { display: 'none' },
});

/** Escape closes the message of a problem, and what language help shows. The key goes on to all else that it does. */
const escapeMessages = EditorView.domEventObservers({
  keydown: ({ key }, view) => {
    if (key === 'Escape' && hasHoverTooltips(view.state)) view.dispatch({ effects: closeHoverTooltips });
  },
});

/** Shows marks in the gutter. CodeMirror adds those under the text with the first problem. */
export const problemMarks = (): Extension => [lintGutter(), problemTheme, escapeMessages];

/** Whether there are other problems after an update, or the same in other places. */
export const changesProblems = ({ docChanged, transactions }: ViewUpdate): boolean =>
  docChanged || transactions.some(({ effects }) => effects.some((effect) => effect.is(setDiagnosticsEffect)));

/** What each editor shows of each finder: the problems as they were found, and the text that they were found in. */
const marked = new WeakMap<EditorView, Map<Finder, { doc: Text; found: string }>>();

/**
 * Marks what a finder found, which replaces what it found before. The same once more in the same text changes nothing, because new marks
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
  const tree = treeTo(state, problems);
  const own = problems.map((one) => markOf(state, tree, one, finder));
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

/** The offset of a line and a column, or of the nearest place that the text has. */
export function positionOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(1, Math.trunc(line) || 1), doc.lines));
  return Math.min(from + Math.max(0, Math.trunc(column) - 1 || 0), to);
}

type Tree = ReturnType<typeof syntaxTree>;

/** The tree of the text up to the last problem: what is out of view may not be parsed yet. */
function treeTo(state: EditorState, problems: readonly Diagnostic[]): Tree {
  const last = problems.reduce((max, { line }) => Math.max(max, line), 0);
  return ensureSyntaxTree(state, positionOf(state.doc, last, Infinity), PARSE_TIME) ?? syntaxTree(state);
}

function markOf(
  state: EditorState,
  tree: Tree,
  { line, column, message, severity }: Diagnostic,
  finder: Finder,
): Mark {
  const from = positionOf(state.doc, line, column);
  const to = Math.max(from, Math.min(endOf(state, tree, from, message), state.doc.lineAt(from).to));
  const renderMessage = (view: EditorView): HTMLElement => messageElement(view, message, renderMessage);
  return { from, to, message, renderMessage, severity: severityOf(severity), source: finder };
}

/** The end of what a problem is about, which the service does not say: a named word, a whole argument, a literal or a word. */
function endOf(state: EditorState, tree: Tree, from: number, message: string): number {
  const word = state.wordAt(from)?.to ?? from + 1;
  if (message.includes(`'${state.sliceDoc(from, word)}'`)) return word;
  const first = tree.resolveInner(from, 1);
  for (let node: typeof first | null = first; node?.from === from; node = node.parent) {
    if (node.parent?.name === 'ArgList') return node.to;
  }
  return first.from === from && LITERALS.has(first.name) ? first.to : word;
}

const LITERALS: ReadonlySet<string> = new Set(['String', 'TemplateString', 'RegExp', 'Number']);

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
