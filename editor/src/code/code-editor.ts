import { historyField, invertedEffects } from '@codemirror/commands';
import {
  Compartment,
  type EditorSelection,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
} from '@codemirror/state';
import { type Command, EditorView } from '@codemirror/view';
import type { Diagnostic, PluginTest } from 'plugin-editor/client.js';
import { Emitter } from '../plugin/emitter.ts';
import { lineBreakOf } from '../plugin/source.ts';
import { settings } from '../ui/settings.ts';
import { codeMirrorPhrases, contentName, syncColourScheme } from './code-theme.ts';
import { loadTypingHelp, loadedTypingHelp } from './languages.ts';
import {
  type Finder,
  type Problem,
  changesProblems,
  goToProblem,
  listProblems,
  markProblems,
  positionOf,
  problemMarks,
  syntaxProblems,
} from './problems.ts';
import { Search } from './search.ts';
import { textEditing, typingSettings } from './text-editing.ts';
import { VimMode } from './vim-mode.ts';

/** What is kept of a text while another one is open. */
export interface KeptText {
  contents: string;
  lang: string;
  history: unknown;
  selection: EditorSelection;
  scroll: StateEffect<unknown>;
}

/** What a replacement of the text does to the tests. */
export interface TestsChange {
  before: readonly PluginTest[];
  after: readonly PluginTest[];
}

export interface CodeEditorOptions {
  contents: string;
  lang: string;
  /** What was kept when the text was open before. It is used if the text is still the same. */
  kept?: KeptText | undefined;
  /** The accessible name of the text, in the present language of the page. */
  label: () => string;
  /** The id of the element that says how to leave the text by keyboard. */
  describedBy: string;
  isReadOnly: boolean;
}

export interface CodeEditorEvents {
  /** The text was changed, or undo or redo changed the tests. */
  edit: void;
  /** Undo or redo of a replacement changed the tests. It comes before `edit`. */
  tests: TestsChange;
  /** The user wants the text saved, by Vim's `:w`. */
  save: void;
  /** The cursor or the problems changed. */
  state: void;
}

const setLineBreak = StateEffect.define<string>();

/**
 * The line break of a text that has one kind throughout; undo brings the former one back. CodeMirror reads every kind, and language
 * help and Vim write `\n`, which a configured line separator would turn into a character within a line.
 */
const lineBreak = StateField.define<string>({
  create: () => '\n',
  update: (value, { effects }) => effects.find((effect) => effect.is(setLineBreak))?.value ?? value,
  provide: (field) =>
    invertedEffects.of(({ effects, startState }) =>
      effects.some((effect) => effect.is(setLineBreak)) ? [setLineBreak.of(startState.field(field))] : [],
    ),
});

const changeTests = StateEffect.define<TestsChange>();

/** Undo in the text also takes back what a replacement did to the tests. */
const testsHistory = invertedEffects.of(({ effects }) =>
  effects.flatMap((effect) => {
    if (!effect.is(changeTests)) return [];
    const { before, after } = effect.value;
    return changeTests.of({ before: after, after: before });
  }),
);

/** The editor of a plugin's text. */
export class CodeEditor extends Emitter<CodeEditorEvents> {
  readonly #options: CodeEditorOptions;
  readonly #view: EditorView;
  readonly #search = new Search(() => this.#view);
  readonly #vim = new VimMode(
    () => this.#view,
    () => this.emit('save'),
  );
  /** The compartments of what changes while a text is open. */
  readonly #typingHelp = new Compartment();
  readonly #languageHelp = new Compartment();
  readonly #settings = new Compartment();
  readonly #access = new Compartment();
  readonly #labelling = new Compartment();
  readonly #unsubscribe: readonly (() => void)[];
  /** Settles when help with typing is in the editor, or could not be loaded. */
  readonly #typingHelpLoaded: Promise<void>;
  #languageHelpOf: (lang: string) => Extension = () => [];
  #lang: string;
  #isReadOnly: boolean;
  /** The text as a string, which CodeMirror would make anew each time that it is read. */
  #contents: string | undefined;
  #problems: readonly Problem[] = [];
  #isClosed = false;

  constructor(options: CodeEditorOptions) {
    super();
    this.#options = options;
    this.#lang = options.lang;
    this.#isReadOnly = options.isReadOnly;
    const { contents, lang, kept } = options;
    const same = kept?.contents === contents && kept.lang === lang ? kept : undefined;
    this.#view = new EditorView({
      state: this.#createState(contents, same),
      ...(same && { scrollTo: same.scroll }),
    });
    this.#unsubscribe = [
      syncColourScheme(this.#view),
      settings.subscribe((changed) => {
        this.#view.dispatch({ effects: this.#settings.reconfigure(typingSettings(changed)) });
        this.#vim.update();
      }),
    ];
    this.#vim.update();
    this.#typingHelpLoaded = loadedTypingHelp() ? Promise.resolve() : this.#addTypingHelp();
  }

  get element(): HTMLElement {
    return this.#view.dom;
  }

  get contents(): string {
    const { state } = this.#view;
    return (this.#contents ??= state.doc.sliceString(0, undefined, state.field(lineBreak)));
  }

  get lang(): string {
    return this.#lang;
  }

  /** The problems that are marked in the text, from the first line to the last. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** Where the cursor is, counted from 1. */
  get cursor(): { line: number; column: number } {
    const { doc, selection } = this.#view.state;
    const { head } = selection.main;
    const { number, from } = doc.lineAt(head);
    return { line: number, column: head - from + 1 };
  }

  /** Whether the text can be changed. */
  set isReadOnly(isReadOnly: boolean) {
    if (isReadOnly === this.#isReadOnly) return;
    this.#isReadOnly = isReadOnly;
    this.#view.dispatch({ effects: this.#access.reconfigure(EditorState.readOnly.of(isReadOnly)) });
  }

  /**
   * Replaces the text. Undo brings this one back if both have one language, and neither has mixed line breaks.
   * @param tests what the caller changes with it, which undo tells it to change back
   */
  replace(contents: string, lang: string, tests?: TestsChange): void {
    const { state } = this.#view;
    const separator = lineBreakOf(contents);
    const isMixed = state.facet(EditorState.lineSeparator) !== undefined;
    if (isMixed !== (separator === undefined) || lang !== this.#lang) {
      // CodeMirror takes a language and a line separator only with a new state, which has no history.
      this.#lang = lang;
      this.#view.setState(this.#createState(contents));
      // CodeMirror calls no listener for a new state.
      this.#problems = [];
      this.#handleChange();
      this.emit('state');
    } else {
      const insert = state.toText(contents);
      this.#view.dispatch({
        changes: { from: 0, to: state.doc.length, insert },
        effects: [
          ...(separator ? [setLineBreak.of(separator)] : []),
          ...(tests ? [changeTests.of(tests)] : []),
        ],
        userEvent: 'input.replace',
      });
    }
  }

  focus(): void {
    this.#view.focus();
  }

  /** The language of the page changed. */
  updateTexts(): void {
    const typingHelp = loadedTypingHelp()?.typingHelp(this.#lang) ?? [];
    this.#view.dispatch({
      effects: [this.#labelling.reconfigure(this.#labels()), this.#typingHelp.reconfigure(typingHelp)],
    });
  }

  /** Opens the search, with the focus in its field. Rejects when it cannot be loaded. */
  openSearch(options: { replace: boolean }): Promise<void> {
    return this.#search.open(options);
  }

  /**
   * Adds language help, to the text as it is and to those that replace it.
   * @param extensionOf returns an empty extension for a language without help
   */
  addLanguageHelp(extensionOf: (lang: string) => Extension): void {
    if (this.#isClosed) return;
    this.#languageHelpOf = extensionOf;
    this.#view.dispatch({ effects: this.#languageHelp.reconfigure(extensionOf(this.#lang)) });
  }

  /** Runs a command of CodeMirror on the text, as if its key were pressed there. */
  run(command: Command): void {
    this.#view.focus();
    command(this.#view);
  }

  /** Moves the cursor and the focus to a place, counted from 1. */
  goTo(line: number, column: number): void {
    const position = positionOf(this.#view.state.doc, line, column);
    this.#view.dispatch({
      selection: { anchor: position },
      effects: EditorView.scrollIntoView(position, { y: 'center' }),
      userEvent: 'select',
    });
    this.#view.focus();
  }

  /** Moves to the next problem after the cursor, or to the one before it; from the last one to the first. */
  goToProblem(by: 1 | -1): void {
    this.#view.focus();
    goToProblem(this.#view, by);
  }

  /** Marks what a finder found in `contents`; replaces what it found before. Does nothing if the text has changed since. */
  mark(finder: Finder, found: readonly Diagnostic[], contents: string): void {
    if (contents === this.contents) markProblems(this.#view, finder, found);
  }

  /** Marks what the grammar of the language finds. */
  async markSyntax(): Promise<void> {
    await this.#typingHelpLoaded;
    if (this.#isClosed) return;
    const { state } = this.#view;
    // What a build has found there says more.
    const known = new Set(listProblems(state).map(({ finder, line }) => finder === 'build' && line));
    this.mark(
      'syntax',
      syntaxProblems(state).filter(({ line }) => !known.has(line)),
      this.contents,
    );
  }

  /** The undo history, the selection and what is in view, for when the text is opened again. */
  keep(): KeptText {
    const { state } = this.#view;
    return {
      contents: this.contents,
      lang: this.#lang,
      history: state.field(historyField),
      selection: state.selection,
      scroll: this.#view.scrollSnapshot(),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#search.close();
    this.#vim.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#view.destroy();
  }

  async #addTypingHelp(): Promise<void> {
    try {
      const { typingHelp } = await loadTypingHelp();
      if (this.#isClosed) return;
      this.#view.dispatch({ effects: this.#typingHelp.reconfigure(typingHelp(this.#lang)) });
    } catch {
      // A text without colours can be edited, and the next one that is opened asks for them again.
    }
  }

  /** The name of the text, and CodeMirror's own texts, in the language of the page. */
  #labels(): Extension {
    const { label, describedBy } = this.#options;
    return [codeMirrorPhrases(), contentName({ 'aria-label': label(), 'aria-describedby': describedBy })];
  }

  #handleChange(): void {
    this.#contents = undefined;
    this.emit('edit');
  }

  #createState(doc: string, kept?: KeptText): EditorState {
    const separator = lineBreakOf(doc);
    return EditorState.create({
      doc,
      ...(kept && { selection: kept.selection }),
      // The order counts: the first extension that handles a key wins, and gutters stand in this order.
      extensions: [
        this.#vim.extension(),
        kept ? historyField.init(() => kept.history) : [],
        testsHistory,
        problemMarks(),
        // Mixed line breaks: only `\n` breaks, and each `\r` stays where it is, shown as a special character.
        separator ? lineBreak.init(() => separator) : [lineBreak, EditorState.lineSeparator.of('\n')],
        this.#typingHelp.of(loadedTypingHelp()?.typingHelp(this.#lang) ?? []),
        this.#languageHelp.of(this.#languageHelpOf(this.#lang)),
        textEditing(),
        this.#search.extension(),
        this.#labelling.of(this.#labels()),
        this.#access.of(EditorState.readOnly.of(this.#isReadOnly)),
        this.#settings.of(typingSettings(settings.current)),
        EditorView.updateListener.of((update) => {
          const { docChanged, selectionSet, state, transactions } = update;
          let isChanged = docChanged;
          for (const transaction of transactions) {
            // A replacement itself is the caller's.
            if (!transaction.isUserEvent('undo') && !transaction.isUserEvent('redo')) continue;
            for (const effect of transaction.effects) {
              if (!effect.is(changeTests)) continue;
              this.emit('tests', effect.value);
              // An empty text that replaced an empty one changed only the tests.
              isChanged = true;
            }
          }
          if (isChanged) this.#handleChange();
          const hasOtherProblems = changesProblems(update);
          if (hasOtherProblems) this.#problems = listProblems(state);
          if (hasOtherProblems || docChanged || selectionSet) this.emit('state');
        }),
      ],
    });
  }
}
