import { BuilderClient, type PluginSource } from 'plugin-editor/client.js';
import { type ActionEvents, Actions } from '../pipeline/actions.ts';
import type { TokenHolder } from '../service/token-holder.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { CodeEditor } from '../code/code-editor.ts';
import { type Command, runByKey } from '../ui/commands.ts';
import { DraftConflict, type Draft, type DraftStore } from '../service/draft-store.ts';
import { prettyLanguage } from '../code/languages.ts';
import type { LocalCopies } from '../draft/local-copies.ts';
import { loadPartOrNotify } from '../ui/load-part.ts';
import type { Notices } from '../ui/notices.ts';
import { buildWords, deployWords } from '../pipeline/progress.ts';
import { sameWork, sourceKeyOf, withEdits } from '../plugin/source.ts';
import { SaveQueue, type SaveState } from '../draft/save-queue.ts';
import { failureAdvice, saveWords } from '../draft/save-words.ts';
import { PluginService } from '../service/plugin-service.ts';
import { TextHelp } from './text-help.ts';
import { TestsPanel } from '../pipeline/tests-panel.ts';
import { visibleText } from '../ui/visible-text.ts';
import { BUTTONS, workspaceCommands } from './workspace-commands.ts';
import { LEAVING_HINT, type WorkspaceFrame, workspaceFrame } from './workspace-frame.ts';

/** Events about the plugin that is open, for the page around the editor. */
export interface WorkspaceEvents extends ActionEvents {
  /** Unsaved work appeared, or went. */
  onDirty?: ((dirty: boolean) => void) | undefined;
  /** The draft was saved. */
  onSave?: (() => void) | undefined;
}

export interface WorkspaceOptions extends WorkspaceEvents {
  target: PluginTarget;
  /** The builder's base address, one that this editor may talk to, and what it is asked with. */
  builder: string;
  tokenHolder: TokenHolder;
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
  readonly #actions: Actions;
  readonly #commands: Command[];
  readonly #textHelp: TextHelp;
  /** The record that is edited; holds the fields that the editor does not know. */
  #record: PluginSource;
  #kept = true;
  #dirty = false;
  #closed = false;
  /** While a version is put in place as a whole, its parts are not changes of their own. */
  #replacing = false;

  constructor(options: WorkspaceOptions) {
    const { target, builder, tokenHolder, source, exists, copies, notices } = options;
    this.#options = options;
    this.#record = source;
    this.#tests = new TestsPanel({
      onChange: () => this.#handleChange(),
      onRun: (items) => void this.#actions.runTests(items),
    });
    this.#tests.tests = source.tests ?? [];
    this.#queue = new SaveQueue<PluginSource>(
      {
        read: () => this.source,
        same: sameWork,
        send: (value) => this.#send(value),
        keep: (value) => (this.#kept = copies.keep(value)),
        drop: () => copies.drop(),
        onState: (state, error) => this.#show(state, error),
      },
      source,
      exists,
    );
    this.#editor = new CodeEditor({
      contents: source.contents,
      lang: source.lang,
      label: `Source of ${target.fn}`,
      describedBy: LEAVING_HINT,
      onChange: () => this.#handleChange(),
      onCursor: (line, column) => this.#showCursor(line, column),
      onProblems: (problems) => (this.#actions.problems = problems),
    });
    this.#textHelp = new TextHelp({
      builder,
      target,
      tokenHolder,
      notices,
      editor: this.#editor,
      onChange: () => this.#frame.update(),
    });
    this.#commands = workspaceCommands({
      actions: () => this.#actions,
      dock: () => this.#frame.dock,
      save: () => this.save(),
      runAll: () => this.#tests.runAll(),
      hasTests: () => this.#tests.tests.length > 0,
      toProblem: (by) => void this.#editor.goToProblem(by),
      toText: () => this.#editor.focus(),
      textHelp: () => this.#textHelp,
      palette: () => void this.#showPalette(),
      help: () => void this.#showHelp(),
    });
    this.#actions = new Actions({
      ...options,
      service: new PluginService(builder, target, tokenHolder),
      client: new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token }),
      queue: this.#queue,
      tests: this.#tests,
      read: () => this.source,
      isNew: !exists,
      mark: (finder, found, contents) => void this.#editor.mark(finder, found, contents),
      markSyntax: () => void this.#editor.markSyntax(),
      onJump: ({ line, column }) => void this.#editor.goTo(line, column),
      show: (panel) => this.#frame.dock.show(panel),
      onState: () => this.#showStatus(),
    });
    this.#frame = workspaceFrame({
      target,
      notices: notices.element,
      panels: [
        { id: 'tests', label: 'Tests', content: this.#tests.element },
        { id: 'run', label: 'Run', content: this.#actions.runPanel.element },
        { id: 'build', label: 'Build', content: this.#actions.buildPanel.element },
      ],
      commands: this.#commands,
      buttons: BUTTONS,
    });
    this.#frame.code.append(this.#editor.element);
    this.#showCursor(1, 1);
    this.#actions.start();
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
    this.#actions.resume();
  }

  /** A key was pressed somewhere on the page. */
  onKey(event: KeyboardEvent): void {
    // What is asked first is to be answered first.
    const asked = document.querySelector('dialog[open]');
    if (runByKey(event, asked ? this.#commands.filter(({ id }) => id === 'save') : this.#commands) || asked)
      return;
    const menuKey = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
    // In a field of a form the browser's own menu is of more use: its spelling, its clipboard.
    if (!menuKey || (event.target as Element | null)?.closest('input, textarea')) return;
    event.preventDefault();
    this.#frame.menu.open();
  }

  /** Ends it, and saves what is not saved; resolves once that has come to its end. */
  close(): Promise<void> {
    this.#closed = true;
    this.#actions.close();
    this.#queue.leaving();
    this.#queue.close();
    this.#textHelp.close();
    this.#editor.close();
    return this.#queue.ended();
  }

  #replace(source: PluginSource): void {
    this.#replacing = true;
    this.#record = source;
    this.#editor.replace(source.contents, source.lang);
    this.#tests.tests = source.tests ?? [];
    this.#replacing = false;
    this.#handleChange();
  }

  #handleChange(): void {
    if (this.#replacing) return;
    this.#queue.changed();
    this.#reportDirty();
    this.#actions.changed();
  }

  async #send(value: PluginSource): Promise<void> {
    await this.#options.store.save(value);
    this.#options.onSave?.();
  }

  #reportDirty(): void {
    const dirty = this.unsaved;
    if (dirty === this.#dirty) return;
    this.#dirty = dirty;
    this.#options.onDirty?.(dirty);
  }

  #show(state: SaveState, error?: unknown): void {
    // The page is another plugin's by now.
    if (this.#closed) return;
    const { notices, target } = this.#options;
    this.#frame.status.show('saved', saveWords(state));
    this.#reportDirty();
    document.title = `${state.kind === 'unsaved' || state.kind === 'failed' ? '• ' : ''}${visibleText(target.fn)} – Plugin editor`;
    // While another try is under way the advice of the last one still holds.
    if (state.kind === 'saving') return;
    const advice = state.kind === 'failed' ? failureAdvice(state.failure, this.#kept) : undefined;
    if (!advice) return notices.hide('save');
    const settle = (theirs: Draft) => ({
      label: 'Compare and choose',
      primary: true,
      run: () => void this.#resolveConflict(theirs),
    });
    const actions = error instanceof DraftConflict ? [settle(error.theirs)] : [];
    notices.show('save', { tone: 'alert', text: advice, actions });
  }

  async #showPalette(): Promise<void> {
    const part = await loadPartOrNotify(this.#options.notices, () => import('../ui/command-palette.ts'));
    part?.showPalette(this.#commands);
  }

  async #showHelp(): Promise<void> {
    const { notices, target } = this.#options;
    const part = await loadPartOrNotify(notices, () => import('./help-dialog.ts'));
    part?.showHelp(this.#commands, target);
  }

  async #resolveConflict(theirs: Draft): Promise<void> {
    const { store, notices } = this.#options;
    const part = await loadPartOrNotify(notices, () => import('../draft/compare-dialog.ts'));
    const mine = this.source;
    const choice = await part?.compare({
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

  #showStatus(): void {
    const { language, dock, status, update } = this.#frame;
    const { pipeline, problems, testing } = this.#actions;
    const currentKey = sourceKeyOf(this.source);
    language.textContent = prettyLanguage(this.#record.lang);
    status.show('built', buildWords(pipeline.build, currentKey));
    status.show('deployed', deployWords(pipeline.deployment, currentKey));
    dock.offer('run', testing);
    dock.count('tests', this.#tests.tests.length, 'Tests');
    dock.count('build', problems.length, 'Problems', 'bad');
    update();
  }
}
