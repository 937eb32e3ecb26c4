import type { PluginSource } from '../../src/core/records.ts';
import type { PluginTarget } from './address.ts';
import { CodeEditor } from './code-editor.ts';
import { DraftConflict, type Draft, type DraftStore } from './draft-store.ts';
import { prettyLanguage } from './languages.ts';
import type { LocalCopies } from './local-copies.ts';
import type { Notices } from './notices.ts';
import { sameWork, withEdits } from './record.ts';
import { SaveQueue, type SaveState } from './save-queue.ts';
import { failureAdvice, saveWords } from './save-words.ts';
import { TestsPanel } from './tests-panel.ts';
import { LEAVING_HINT, type WorkspaceFrame, workspaceFrame } from './workspace-frame.ts';

export interface WorkspaceOptions {
  target: PluginTarget;
  /** What to edit: the draft, or the template of a plugin that has none. */
  source: PluginSource;
  /** Whether `source` is a draft that the builder has. */
  exists: boolean;
  store: DraftStore;
  copies: LocalCopies;
  notices: Notices;
}

/** One open plugin: its text and its tests, and all that becomes of their changes. */
export class Workspace {
  readonly #options: WorkspaceOptions;
  readonly #frame: WorkspaceFrame;
  readonly #editor: CodeEditor;
  readonly #tests: TestsPanel;
  readonly #queue: SaveQueue<PluginSource>;
  /** The record that is edited; holds the fields that the editor does not know. */
  #record: PluginSource;
  #kept = true;
  /** While a version is put in place as a whole, its parts are not changes of their own. */
  #replacing = false;

  constructor(options: WorkspaceOptions) {
    const { target, source, exists, store, copies, notices } = options;
    this.#options = options;
    this.#record = source;
    this.#tests = new TestsPanel(() => this.#changed());
    this.#tests.tests = source.tests ?? [];
    this.#frame = workspaceFrame({
      target,
      notices: notices.element,
      tests: this.#tests.element,
      onSave: () => this.save(),
    });
    this.#editor = new CodeEditor({
      parent: this.#frame.code,
      contents: source.contents,
      lang: source.lang,
      label: `Source of ${target.fn}`,
      describedBy: LEAVING_HINT,
      onChange: () => this.#changed(),
      onCursor: (line, column) => this.#showCursor(line, column),
    });
    this.#queue = new SaveQueue<PluginSource>(
      {
        read: () => this.source,
        same: sameWork,
        send: (value) => store.save(value),
        keep: (value) => (this.#kept = copies.keep(value)),
        drop: () => copies.drop(),
        onState: (state, error) => this.#show(state, error),
      },
      source,
      exists,
    );
    this.#showCursor(1, 1);
    this.#showFacts();
    this.#show(this.#queue.state);
  }

  get element(): HTMLElement {
    return this.#frame.element;
  }

  /** The record as it stands here. */
  get source(): PluginSource {
    return withEdits(this.#record, this.#editor.contents, this.#tests.tests);
  }

  /** Whether leaving the page would lose something, or leave it to a copy in this browser. */
  get unsaved(): boolean {
    return this.#queue.unsaved;
  }

  focus(): void {
    this.#editor.focus();
  }

  /** The user asks for it. */
  save(): void {
    this.#queue.flush({ force: true });
  }

  /** Puts a version in place of this one at the user's word, and saves it. */
  restore(source: PluginSource): void {
    this.#replace(source);
    this.#queue.leaving();
  }

  leaving(): void {
    this.#queue.leaving();
  }

  resume(): void {
    this.#queue.resume();
  }

  close(): void {
    this.#queue.leaving();
    this.#queue.close();
    this.#editor.close();
  }

  #replace(source: PluginSource): void {
    this.#replacing = true;
    this.#record = source;
    this.#editor.replace(source.contents, source.lang);
    this.#tests.tests = source.tests ?? [];
    this.#replacing = false;
    this.#changed();
  }

  #changed(): void {
    if (this.#replacing) return;
    this.#queue.changed();
    this.#showFacts();
  }

  #show(state: SaveState, error?: unknown): void {
    const { notices, target } = this.#options;
    const { text, tone } = saveWords(state);
    const { status } = this.#frame;
    status.textContent = text;
    status.title = text;
    status.dataset['tone'] = tone;
    document.title = `${state.kind === 'unsaved' || state.kind === 'failed' ? '• ' : ''}${target.fn} – Plugin editor`;
    // While another try is under way the advice of the last one still holds.
    if (state.kind === 'saving') return;
    const advice = state.kind === 'failed' ? failureAdvice(state.failure, this.#kept) : undefined;
    if (!advice) return notices.hide('save');
    const settle = (theirs: Draft) => ({
      label: 'Compare and choose',
      primary: true,
      run: () => void this.#settle(theirs),
    });
    const actions = error instanceof DraftConflict ? [settle(error.theirs)] : [];
    notices.show('save', { tone: 'alert', text: advice, actions });
  }

  async #settle(theirs: Draft): Promise<void> {
    const { store, notices } = this.#options;
    const { compare } = await import('./compare-dialog.ts');
    const mine = this.source;
    const choice = await compare({
      title: 'Two versions of this plugin',
      text: 'It was changed elsewhere while you worked on it here. The one you choose becomes the draft.',
      versions: [
        { label: 'Theirs: saved elsewhere', source: theirs.source },
        { label: 'Mine: in this editor', source: mine },
      ],
      choices: [
        { label: 'Keep mine', value: 'mine', primary: true },
        { label: 'Take theirs', value: 'theirs' },
      ],
    });
    if (!choice) return;
    if (choice === 'theirs') {
      this.#replace(theirs.source);
      const undo = () => {
        notices.hide('settled');
        this.restore(mine);
      };
      notices.show('settled', {
        tone: 'note',
        text: 'You took the version that was saved elsewhere.',
        actions: [
          { label: 'Bring mine back', run: undo },
          { label: 'Dismiss', run: () => notices.hide('settled') },
        ],
      });
    }
    store.settle(theirs);
    this.#queue.settle(theirs.source);
  }

  #showCursor(line: number, column: number): void {
    this.#frame.cursor.textContent = `Line ${line}, column ${column}`;
  }

  #showFacts(): void {
    const { language, testsCount } = this.#frame;
    language.textContent = prettyLanguage(this.#record.lang);
    testsCount.textContent = String(this.#tests.tests.length);
  }
}
