import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  type Command as ViewCommand,
  EditorView,
  crosshairCursor,
  drawSelection,
  dropCursor,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  gutter,
  keymap,
  lineNumbers,
  rectangularSelection,
} from '@codemirror/view';
import { codeTheme, syncColourScheme, styleNonce } from './code-theme.ts';
import { render } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { icon } from '../ui/icon.ts';
import { type Settings, settings } from '../ui/settings.ts';
import { loadTypingHelp, loadedTypingHelp } from './languages.ts';
import { lineSeparator } from '../plugin/line-breaks.ts';
import type { Finder, Problem } from './problems.ts';
import { loadPart } from '../ui/load-part.ts';
import type { Diagnostic } from '../service/records.ts';
import { syntaxProblems } from './syntax-problems.ts';
import { typeOver } from './type-over.ts';

export interface CodeEditorOptions {
  contents: string;
  lang: string;
  /** Its accessible name, and the id of the text that says how to leave it by keyboard. */
  label: () => string;
  describedBy: string;
  isReadOnly: boolean;
  onChange: () => void;
  /** Where the cursor is, counted from 1. */
  onCursor: (line: number, column: number) => void;
  /** The problems that are marked, or their places, changed. */
  onProblems: (problems: Problem[]) => void;
}

type Problems = typeof import('./problems.ts');
type SearchPart = typeof import('./search-panel.ts');

/** The text of a plugin, being edited. */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #options: CodeEditorOptions;
  readonly #unfollow: () => void;
  #lang: string;
  /** Loaded with the first problem; until then there is nothing to show by it. */
  #problems: Problems | undefined;
  /** Room for them in each state. */
  readonly #marks = new Compartment();
  /** Room for the languages and what else helps with typing; loaded after the text on a slow line. */
  readonly #help = new Compartment();
  /** Room for what the service knows about the text; loaded when it is wanted. */
  readonly #languageHelp = new Compartment();
  #languageHelpOf: (lang: string) => Extension = () => [];
  /** They are in the editor, or could not be loaded. */
  readonly #helped: Promise<void>;
  /** What the user set, and whether the text can be changed. */
  readonly #settings = new Compartment();
  readonly #access = new Compartment();
  readonly #naming = new Compartment();
  readonly #vim = new Compartment();
  /** Finding and replacing, once it was wanted. */
  readonly #search = new Compartment();
  #searching: Extension | undefined;
  readonly #unsubscribe: () => void;
  #vimKeys: Extension | undefined;
  #isReadOnly: boolean;
  /** Not the editor's state: its text is made once per change, however often it is read. */
  #contents: string | undefined;
  #closed = false;

  constructor(options: CodeEditorOptions) {
    this.#options = options;
    this.#lang = options.lang;
    this.#isReadOnly = options.isReadOnly;
    this.#view = new EditorView({ state: this.#stateOf(options.contents) });
    this.#unfollow = syncColourScheme(this.#view);
    this.#unsubscribe = settings.subscribe((changed) => this.#applySettings(changed));
    if (settings.current.vim) void this.#loadVim();
    this.#helped = loadedTypingHelp() ? Promise.resolve() : this.#addTypingHelp();
  }

  get element(): HTMLElement {
    return this.#view.dom;
  }

  get contents(): string {
    return (this.#contents ??= this.#view.state.sliceDoc());
  }

  /** Puts another text in place of this one; undo brings it back. */
  replace(contents: string, lang: string): void {
    const { state } = this.#view;
    if (lineSeparator(contents) !== lineSeparator(this.contents) || lang !== this.#lang) {
      // Line breaks of another kind, and another language, need another state, and that has no history.
      this.#lang = lang;
      this.#view.setState(this.#stateOf(contents));
      this.#options.onProblems([]);
      this.#changed();
    } else {
      const insert = state.toText(contents);
      this.#view.dispatch({ changes: { from: 0, to: state.doc.length, insert }, userEvent: 'input.replace' });
    }
  }

  focus(): void {
    this.#view.focus();
  }

  /** Whether the text can be changed. */
  set isReadOnly(isReadOnly: boolean) {
    if (isReadOnly === this.#isReadOnly) return;
    this.#isReadOnly = isReadOnly;
    this.#view.dispatch({ effects: this.#access.reconfigure(EditorState.readOnly.of(isReadOnly)) });
  }

  /** The language of the page changed. */
  updateTexts(): void {
    const help = loadedTypingHelp()?.typingHelp(this.#lang) ?? [];
    this.#view.dispatch({
      effects: [this.#naming.reconfigure(this.#name()), this.#help.reconfigure(help)],
    });
  }

  /** Opens the search, with the focus in its field. */
  async openSearch(options: { replace: boolean }): Promise<void> {
    const { openSearch } = await this.#loadSearch();
    if (!this.#closed) openSearch(this.#view, options);
  }

  async #loadSearch(): Promise<SearchPart> {
    const part = await loadPart(() => import('./search-panel.ts'));
    if (!this.#searching && !this.#closed) {
      this.#searching = part.searchPanel();
      this.#view.dispatch({ effects: this.#search.reconfigure(this.#searching) });
    }
    return part;
  }

  /** The keys of the search until it is loaded, which they have done; then its own are before them. */
  #searchKeys(): Extension {
    const loadAndRun = (name: keyof SearchPart['searchCommands']) => () => {
      // Where it cannot be loaded, the key can be pressed again.
      this.#loadSearch().then(
        ({ searchCommands }) => !this.#closed && searchCommands[name](this.#view),
        () => {},
      );
      return true;
    };
    const find = { run: loadAndRun('findNext'), shift: loadAndRun('findPrevious') };
    return keymap.of([
      { key: 'Mod-d', run: loadAndRun('selectNextOccurrence'), preventDefault: true },
      { key: 'Mod-Shift-l', run: loadAndRun('selectSelectionMatches'), preventDefault: true },
      { key: 'F3', ...find, preventDefault: true },
      { key: 'Mod-g', ...find, preventDefault: true },
    ]);
  }

  get lang(): string {
    return this.#lang;
  }

  /** Adds help by the service to the text as it is and as it becomes; none for a language that it is empty for. */
  addLanguageHelp(extensionOf: (lang: string) => Extension): void {
    if (this.#closed) return;
    this.#languageHelpOf = extensionOf;
    this.#view.dispatch({ effects: this.#languageHelp.reconfigure(extensionOf(this.#lang)) });
  }

  /** Has a command act on the text, as if its key were pressed there. */
  run(command: ViewCommand): void {
    this.#view.focus();
    command(this.#view);
  }

  /** Puts the cursor at a place, counted from 1, and goes there. */
  async goTo(line: number, column: number): Promise<void> {
    const { positionOf } = await this.#loadProblems();
    const at = positionOf(this.#view.state.doc, line, column);
    this.#view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: 'center' }),
      userEvent: 'select',
    });
    this.#view.focus();
  }

  /** To the next problem after the cursor, or the one before it; around the ends. */
  async goToProblem(by: 1 | -1): Promise<void> {
    const { nextProblem, previousProblem } = await this.#loadProblems();
    this.#view.focus();
    (by > 0 ? nextProblem : previousProblem)(this.#view);
  }

  /** Marks what a finder found in a text, in place of what it found before; not when the text is another by now. */
  async mark(finder: Finder, found: readonly Diagnostic[], contents: string): Promise<void> {
    if (!found.length && !this.#problems) return;
    const { markProblems } = await this.#loadProblems();
    if (contents === this.contents) markProblems(this.#view, finder, found);
  }

  /** Marks what the grammar of the language finds. */
  async markSyntax(): Promise<void> {
    await this.#helped;
    if (!this.#closed) await this.mark('syntax', syntaxProblems(this.#view.state), this.contents);
  }

  async #addTypingHelp(): Promise<void> {
    try {
      const { typingHelp } = await loadTypingHelp();
      if (this.#closed) return;
      this.#view.dispatch({ effects: this.#help.reconfigure(typingHelp(this.#lang)) });
    } catch {
      // A text without colours can be edited, and the next one that is opened asks for them again.
    }
  }

  async #loadProblems(): Promise<Problems> {
    const problems = await loadPart(() => import('./problems.ts'));
    if (!this.#problems && !this.#closed) {
      this.#problems = problems;
      this.#view.dispatch({ effects: this.#marks.reconfigure(problems.problemMarks()) });
    }
    return problems;
  }

  close(): void {
    this.#closed = true;
    this.#unfollow();
    this.#unsubscribe();
    this.#view.destroy();
  }

  #applySettings(changed: Settings): void {
    this.#view.dispatch({ effects: this.#settings.reconfigure(typing(changed)) });
    if (!changed.vim) this.#useVim(undefined);
    else if (!this.#vimKeys) void this.#loadVim();
  }

  async #loadVim(): Promise<void> {
    // Where it cannot be loaded, the usual keys stay; the setting is tried again with the next change of one.
    const keys = await loadPart(() => import('./vim-keys.ts')).catch(() => undefined);
    if (keys && !this.#closed && settings.current.vim) this.#useVim(keys.vimKeys());
  }

  #useVim(keys: Extension | undefined): void {
    if (keys === this.#vimKeys) return;
    this.#vimKeys = keys;
    this.#view.dispatch({ effects: this.#vim.reconfigure(keys ?? []) });
  }

  /** What the text is called, and what CodeMirror says, in the language of the page. */
  #name(): Extension {
    const { label, describedBy } = this.#options;
    return [phrases(), contentName({ 'aria-label': label(), 'aria-describedby': describedBy })];
  }

  #changed(): void {
    this.#contents = undefined;
    this.#options.onChange();
  }

  #stateOf(doc: string): EditorState {
    const separator = lineSeparator(doc);
    const { onCursor, onProblems } = this.#options;
    return EditorState.create({
      doc,
      extensions: [
        // Before all other keys.
        this.#vim.of(this.#vimKeys ?? []),
        // First, so that its gutter is. There is room for it from the start: a text must not move with its first problem.
        this.#marks.of(this.#problems?.problemMarks() ?? gutter({ class: 'cm-gutter-lint' })),
        separator ? EditorState.lineSeparator.of(separator) : [],
        this.#help.of(loadedTypingHelp()?.typingHelp(this.#lang) ?? []),
        this.#languageHelp.of(this.#languageHelpOf(this.#lang)),
        editing(),
        this.#search.of(this.#searching ?? []),
        this.#searchKeys(),
        this.#naming.of(this.#name()),
        this.#access.of(EditorState.readOnly.of(this.#isReadOnly)),
        this.#settings.of(typing(settings.current)),
        EditorView.updateListener.of((update) => {
          const { docChanged, selectionSet, state } = update;
          if (docChanged) this.#changed();
          if (this.#problems?.changesProblems(update)) onProblems(this.#problems.listProblems(state));
          if (!docChanged && !selectionSet) return;
          const { head } = state.selection.main;
          const line = state.doc.lineAt(head);
          onCursor(line.number, head - line.from + 1);
        }),
      ],
    });
  }
}

/** Names a text; it can be reached by keyboard for certain, also where the browser leaves that open. */
export const contentName = (attributes: Record<string, string>): Extension =>
  EditorView.contentAttributes.of({ tabindex: '0', ...attributes });

/** CodeMirror's own words, in the language of the page. */
export const phrases = (): Extension => EditorState.phrases.of(texts().codePhrases);

/** What shows text the same way wherever it is shown. */
export const appearance = (): Extension => [
  styleNonce(),
  lineNumbers(),
  highlightSpecialChars(),
  codeTheme(),
];

const editing = (): Extension => [
  appearance(),
  highlightActiveLineGutter(),
  foldGutter({ markerDOM: foldMarker }),
  history(),
  typeOver(),
  // Forced colours would hide a selection that is drawn: the browser's own shows.
  matchMedia('(forced-colors: active)').matches ? [] : drawSelection({ cursorBlinkRate: blinkRate() }),
  dropCursor(),
  EditorState.allowMultipleSelections.of(true),
  indentOnInput(),
  bracketMatching(),
  rectangularSelection(),
  crosshairCursor(),
  highlightActiveLine(),
  // Text from elsewhere takes on this text's line breaks.
  EditorView.clipboardInputFilter.of((text, state) => text.replace(/\r\n?|\n/g, state.lineBreak)),
  keymap.of([
    ...defaultKeymap,
    ...historyKeymap,
    ...foldKeymap,
    // Escape, then Tab, leaves the editor: CodeMirror sees to that by itself, and the page says so.
    indentWithTab,
  ]),
];

/** What the user set about typing. */
const typing = ({ wrap, fontSize, tabWidth }: Settings): Extension => [
  wrap ? EditorView.lineWrapping : [],
  indentUnit.of(' '.repeat(tabWidth)),
  EditorState.tabSize.of(tabWidth),
  EditorView.theme({ '&': { fontSize: `${fontSize}px` } }),
];

const blinkRate = () => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 1200);

function foldMarker(open: boolean): HTMLElement {
  const marker = document.createElement('span');
  marker.className = open ? 'fold fold-open' : 'fold';
  const { frame } = texts();
  marker.title = open ? frame.fold : frame.unfold;
  render(icon('chevron'), marker);
  return marker;
}
