import type { TemplateResult } from 'lit/html.js';
import { BuilderClient, type PluginSource, type PluginTest } from 'plugin-editor/client.js';
import { CodeEditor } from '../code/code-editor.ts';
import type { Problem } from '../code/problems.ts';
import type { LocalCopies } from '../draft/local-copies.ts';
import { SaveQueue, type SaveState } from '../draft/save-queue.ts';
import { failureAdvice, saveWords } from '../draft/save-words.ts';
import { texts } from '../locales/locale.ts';
import type { Work } from '../pipeline/work.ts';
import { sameWork, sourceKeyOf, withEdits } from '../plugin/source.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { type Draft, DraftConflict, type DraftStore } from '../service/draft-store.ts';
import { PluginService } from '../service/plugin-service.ts';
import type { TokenHolder } from '../service/token-holder.ts';
import { type TestEntry, TestList } from '../tests/test-list.ts';
import { failedTests } from '../tests/failed-tests.ts';
import { CommandMenu } from '../ui/command-menu.ts';
import { type Command, runByKey } from '../ui/commands.ts';
import type { DockPanel, DockState } from '../ui/dock.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';
import { settings } from '../ui/settings.ts';
import { visibleText } from '../ui/visible-text.ts';
import { type Access, accessOf } from './access.ts';
import { type ActionEvents, Actions } from './actions.ts';
import { type Histories, createHistories } from './histories.ts';
import { sayLanguageStays } from './language-notice.ts';
import { type Panels, loadPanels } from './load-panels.ts';
import type { PluginTypes } from './plugin-types.ts';
import { TextHelp } from './text-help.ts';
import { focusInTests, showResult, writtenPayload } from './test-fields.ts';
import { workspaceCommands } from './workspace-commands.ts';
import { showHelp, showPalette, showSettings } from './workspace-dialogs.ts';
import { workspacePanels } from './workspace-panels.ts';
import { LEAVING_HINT, workspaceView } from './workspace-view.ts';

/** Events about the plugin that is open, for the page around the editor. */
export interface WorkspaceEvents extends ActionEvents {
  /** Unsaved work appeared, or went. */
  onDirty?: ((dirty: boolean) => void) | undefined;
  /** The draft was saved. */
  onSave?: (() => void) | undefined;
  /** The language, whether the plugin has a draft, or what may be done with it changed. */
  onPlugin?: (() => void) | undefined;
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
  /** What the token permits, where the builder says that. */
  permissions: readonly string[] | undefined;
  isReadOnly: boolean;
  store: DraftStore;
  copies: LocalCopies;
  notices: Notices;
  /** What the page shows changed. `now`: it is to be drawn before anything else happens. */
  onDraw: (now?: boolean) => void;
}

/** The panels are below the text in a page of less width than this, in CSS pixels (styles/layout.css). */
const stacked = matchMedia('(max-width: 759px)');

/** What takes longer, in ms, can be stopped from the head of the page as well. */
const SLOW = 500;

/** One open plugin: its text and its tests, and all that becomes of their changes. */
export class Workspace {
  readonly #options: WorkspaceOptions;
  readonly #editor: CodeEditor;
  readonly #tests: TestList;
  readonly #queue: SaveQueue<PluginSource>;
  readonly #actions: Actions;
  readonly #service: PluginService;
  readonly #client: BuilderClient;
  readonly #histories: Histories;
  /** What the plugin gets and gives; it comes with the panels. */
  #types: PluginTypes | undefined;
  readonly #ending = new AbortController();
  readonly #menu: CommandMenu;
  readonly #textHelp: TextHelp;
  #commands: Command[] = [];
  #dock: DockState = { shown: 'tests', isOpen: !stacked.matches };
  #problems: readonly Problem[] = [];
  #cursor = { line: 1, column: 1 };
  #permissions: readonly string[] | undefined;
  #isHostReadOnly: boolean;
  /** The record that is edited; holds the fields that the editor does not know. */
  #record: PluginSource;
  #isKept = true;
  #isDirty = false;
  /** Whether the builder had a draft when that was looked at last. */
  #exists: boolean | undefined;
  #isSlow = false;
  #slowTimer: ReturnType<typeof setTimeout> | undefined;
  #saidNoCopies = false;
  #isReady = false;
  /** While a version is put in place as a whole, its parts are not changes of their own. */
  #isReplacing = false;

  constructor(options: WorkspaceOptions) {
    const { target, builder, tokenHolder, source, exists, copies } = options;
    this.#options = options;
    this.#menu = new CommandMenu(() => options.onDraw(true));
    this.#record = source;
    this.#permissions = options.permissions;
    this.#isHostReadOnly = options.isReadOnly;
    this.#tests = new TestList(() => this.#handleChange());
    this.#tests.tests = source.tests ?? [];
    this.#queue = new SaveQueue<PluginSource>(
      {
        read: () => this.source,
        same: sameWork,
        send: (value) => this.#send(value),
        keep: (value) => (this.#isKept = copies.keep(value)),
        drop: () => copies.drop(),
        onState: (state, error) => this.#handleSave(state, error),
      },
      source,
      exists,
    );
    this.#editor = new CodeEditor({
      contents: source.contents,
      lang: source.lang,
      label: () => texts().frame.sourceOf(target.fn),
      describedBy: LEAVING_HINT,
      isReadOnly: !this.access.canWrite,
      onChange: () => this.#handleChange(),
      onCursor: (line, column) => {
        this.#cursor = { line, column };
        this.#update();
      },
      onProblems: (problems) => {
        this.#problems = problems;
        this.#update();
      },
    });
    this.#textHelp = new TextHelp({
      builder,
      target,
      tokenHolder,
      notices: options.notices,
      editor: this.#editor,
      onChange: () => this.#update(),
    });
    this.#service = new PluginService(builder, target, tokenHolder);
    this.#client = new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token });
    this.#actions = new Actions({
      ...options,
      service: this.#service,
      client: this.#client,
      queue: this.#queue,
      tests: this.#tests,
      read: () => this.source,
      isNew: !exists,
      canWrite: () => this.access.canWrite,
      mark: (finder, found, contents) => void this.#editor.mark(finder, found, contents),
      markSyntax: () => void this.#editor.markSyntax(),
      show: (panel) => this.#showPanel(panel),
      showResult: (entry) => {
        options.onDraw(true);
        showResult(entry);
      },
      onBuild: (build) => {
        options.onBuild?.(build);
        // What it was built for may have changed meanwhile.
        void this.#types?.load();
      },
      onDeploy: (deploy) => {
        options.onDeploy?.(deploy);
        void this.#types?.load();
      },
      onState: () => this.#update(),
    });
    this.#histories = createHistories({
      service: this.#service,
      actions: this.#actions,
      notices: options.notices,
      access: () => this.access,
      current: () => this.source,
      restore: (restored) => this.restore(restored),
      addTest: (test) => this.#addTest(test),
      onJump: (line, column) => void this.#editor.goTo(line, column),
      onLive: (version) => options.onLive?.(version),
      onUpdate: () => this.#update(),
    });
    this.updateTexts();
    stacked.addEventListener('change', () => this.#update(), { signal: this.#ending.signal });
    const unsubscribe = settings.subscribe(() => this.#update());
    this.#ending.signal.addEventListener('abort', unsubscribe);
    this.#isReady = true;
    // Where they cannot be loaded, the text can be edited all the same.
    loadPanels().then(
      (panels) => this.#handlePanels(panels),
      () => {},
    );
    this.#actions.start();
    this.#handleSave(this.#queue.state);
  }

  /** What may be done here. */
  get access(): Access {
    return accessOf(this.#permissions, this.#isHostReadOnly);
  }

  get language(): string {
    return this.#record.lang;
  }

  /** Whether the builder has a draft of it. */
  get exists(): boolean {
    return this.#queue.exists;
  }

  get permissions(): readonly string[] | undefined {
    return this.#permissions;
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
    if (this.access.canWrite) this.#queue.flush({ force: true });
  }

  /** Saves at the host's word, a plugin without a draft too. Rejects with the reason, in words, when it could not. */
  async saveNow(): Promise<void> {
    const { readOnlyBy } = this.access;
    if (readOnlyBy) {
      const { frame } = texts();
      throw new Error(readOnlyBy === 'host' ? frame.readOnlyHost : frame.readOnlyToken);
    }
    if (await this.#queue.saveNow()) return;
    throw new Error(saveWords(this.#queue.state).text);
  }

  /** Puts a version in place of this one at the user's word, and saves it. */
  restore(source: PluginSource): void {
    this.#replace(source);
    this.#queue.leaving();
  }

  leaving(): void {
    if (this.access.canWrite) this.#queue.leaving();
  }

  resume(): void {
    this.#queue.resume();
    this.#actions.resume();
    void this.#types?.load();
  }

  /** The page around the editor wants nothing changed, or takes that back. What is not saved is saved before. */
  set isReadOnly(isReadOnly: boolean) {
    if (isReadOnly === this.#isHostReadOnly) return;
    if (isReadOnly && this.unsaved) this.#queue.flush();
    this.#isHostReadOnly = isReadOnly;
    this.#applyAccess();
  }

  /** What the token permits became known. */
  set permissions(permissions: readonly string[] | undefined) {
    this.#permissions = permissions;
    this.#applyAccess();
    this.#options.onPlugin?.();
  }

  /** The language of the page changed. */
  updateTexts(): void {
    this.#commands = workspaceCommands({
      actions: () => this.#actions,
      access: () => this.access,
      focusPanel: (panel) => this.#focusPanel(panel),
      hasPanel: (panel) => this.#panels(this.#work()).some(({ id }) => id === panel),
      save: () => this.save(),
      runAll: () => void this.#actions.runTests(this.#tests.entries),
      hasTests: () => this.#tests.entries.length > 0,
      hasProblems: () => this.#problems.length > 0,
      deploy: ({ ask }) => void this.#deploy(ask),
      find: (how) => void this.#editor.openSearch(how),
      toProblem: (by) => void this.#editor.goToProblem(by),
      toText: () => this.#editor.focus(),
      startOver: () => void this.startOver(),
      settings: () => void showSettings(this.#options.notices),
      textHelp: () => this.#textHelp,
      palette: () => void showPalette(this.#options.notices, this.#commands),
      help: () => void showHelp(this.#options.notices, this.#commands, this.#options.target),
    });
    if (this.#isReady) this.#editor.updateTexts();
  }

  /** A key was pressed somewhere on the page. */
  onKey(event: KeyboardEvent): void {
    // What is asked first is to be answered first.
    const isAsked = document.querySelector('dialog[open]') !== null;
    if (!isAsked && this.#runWhatIsWritten(event)) return;
    const commands = isAsked ? this.#commands.filter(({ id }) => id === 'save') : this.#commands;
    if (runByKey(event, commands) || isAsked) return;
    const isMenuKey = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
    // In a field of a form the browser's own menu is of more use: its spelling, its clipboard.
    if (!isMenuKey || (event.target as Element | null)?.closest('input, textarea')) return;
    event.preventDefault();
    this.#menu.open();
  }

  /** Ends it, and saves what is not saved; resolves once that has come to its end. */
  close(): Promise<void> {
    this.leaving();
    this.#ending.abort();
    clearTimeout(this.#slowTimer);
    this.#actions.close();
    this.#histories.close();
    this.#types?.close();
    this.#queue.close();
    this.#textHelp.close();
    this.#editor.close();
    return this.#queue.ended();
  }

  view(): TemplateResult {
    const work = this.#work();
    return workspaceView({
      target: this.#options.target,
      lang: this.#record.lang,
      work,
      access: this.access,
      isSlow: this.#isSlow,
      notices: this.#options.notices.view(),
      code: this.#editor.element,
      cursor: this.#cursor,
      panels: this.#panels(work),
      dock: this.#dock,
      isStacked: stacked.matches,
      commands: this.#commands,
      menu: this.#menu.view(this.#commands),
      onDock: (state) => {
        this.#dock = state;
        this.#update();
      },
      onFocusPanel: (panel) => this.#focusPanel(panel),
      onStop: () => this.#actions.pipeline.stop(),
    });
  }

  /** Everything that is known of how far the plugin is. */
  #work(): Work {
    const { pipeline, isOnline, live, testing } = this.#actions;
    const sourceKey = sourceKeyOf(this.source);
    return {
      save: this.#queue.state,
      isOnline,
      isReadOnly: !this.access.canWrite,
      sourceKey,
      build: pipeline.build,
      deployment: pipeline.deployment,
      live,
      action: pipeline.action,
      testing,
      tests: this.#tests.entries.map((entry) => this.#tests.standingOf(entry, sourceKey)),
      errors: this.#problems.filter(({ severity }) => severity === 'error').length,
    };
  }

  #panels(work: Work): DockPanel[] {
    return workspacePanels({
      work,
      access: this.access,
      actions: this.#actions,
      tests: this.#tests,
      problems: this.#problems,
      histories: this.#histories,
      types: this.#types,
      dock: this.#dock,
      onJump: (line, column) => void this.#editor.goTo(line, column),
      onShow: (panel) => this.#showPanel(panel),
      onFocusTest: (entry, selector) => this.#focusTest(entry, selector),
      onUpdate: () => this.#update(),
    });
  }

  #update(): void {
    if (!this.#isReady || this.#ending.signal.aborted) return;
    const isBusy = this.#actions.pipeline.action !== undefined;
    if (!isBusy) {
      clearTimeout(this.#slowTimer);
      this.#slowTimer = undefined;
      this.#isSlow = false;
    } else {
      this.#slowTimer ??= setTimeout(() => {
        this.#isSlow = true;
        this.#options.onDraw();
      }, SLOW);
    }
    this.#options.onDraw();
  }

  #showPanel(shown: string): void {
    this.#dock = { shown, isOpen: true };
    this.#update();
  }

  #addTest(test: PluginTest): void {
    this.#showPanel('tests');
    this.#focusTest(this.#tests.add(test), '.field.name');
  }

  /** The panels are there: with them comes what asks what the plugin gets and gives. */
  #handlePanels(panels: Panels): void {
    if (this.#ending.signal.aborted) return;
    this.#update();
    const types = new panels.PluginTypes({
      service: this.#service,
      notices: this.#options.notices,
      access: () => this.access,
      canRun: () => this.#actions.canTest && this.access.canWrite,
      language: () => this.#record.lang,
      addTest: (test) => this.#addTest(test),
      tryOut: (payload) => {
        this.#actions.payload.payload = payload;
        this.#focusPanel('run');
      },
      show: (panel) => this.#focusPanel(panel),
      onUpdate: () => this.#handleTypes(),
    });
    this.#types = types;
    void types.load();
  }

  /** What the plugin gets and gives became known, or changed. */
  #handleTypes(): void {
    const { payload } = this.#actions;
    // A value that fits is more of a beginning than an empty field.
    payload.payload ||= this.#types?.firstSample ?? '';
    this.#update();
  }

  #focusPanel(panel: string): void {
    this.#dock = { shown: panel, isOpen: true };
    this.#options.onDraw(true);
    document.getElementById(`tab-${panel}`)?.focus();
  }

  /** Draws the list of tests, and goes to something in the row of a test, or in the panel. */
  #focusTest(entry: TestEntry | undefined, selector: string): void {
    this.#options.onDraw(true);
    focusInTests(entry, selector);
  }

  /** The key that runs all tests runs what is being written, in a field of a payload. */
  #runWhatIsWritten(event: KeyboardEvent): boolean {
    const written = writtenPayload(event, this.#tests);
    if (!written) return false;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat || !this.#actions.canTest || !this.access.canWrite) return true;
    if (written === 'payload') void this.#actions.runPayload();
    else void this.#actions.runTests([written]);
    return true;
  }

  #replace(source: PluginSource): void {
    const isOtherLanguage = source.lang !== this.#record.lang;
    this.#isReplacing = true;
    this.#record = source;
    this.#editor.replace(source.contents, source.lang);
    this.#tests.tests = source.tests ?? [];
    this.#isReplacing = false;
    this.#handleChange();
    if (isOtherLanguage) this.#options.onPlugin?.();
  }

  #handleChange(): void {
    if (this.#isReplacing || !this.#isReady) return;
    if (this.access.canWrite) this.#queue.changed();
    this.#reportDirty();
    this.#warnOfNoCopies();
    this.#actions.changed();
  }

  /** Where this browser keeps nothing for the page, that is said before there is anything to lose. */
  #warnOfNoCopies(): void {
    const { copies, notices } = this.#options;
    if (this.#saidNoCopies || copies.canKeep()) return;
    this.#saidNoCopies = true;
    notices.show('copies', () => ({
      tone: 'note',
      text: texts().save.noCopies,
      actions: [notices.dismiss('copies')],
    }));
  }

  async #send(value: PluginSource): Promise<void> {
    await this.#options.store.save(value);
    this.#options.onSave?.();
  }

  #reportDirty(): void {
    const isDirty = this.unsaved;
    if (isDirty === this.#isDirty) return;
    this.#isDirty = isDirty;
    this.#options.onDirty?.(isDirty);
  }

  #handleSave(state: SaveState, error?: unknown): void {
    // The page is another plugin's by now.
    if (this.#ending.signal.aborted) return;
    const { notices } = this.#options;
    const existed = this.#exists;
    this.#exists = this.#queue.exists;
    if (state.kind === 'saved') this.#actions.setOnline(true);
    if (state.kind === 'failed') this.#actions.setOnline(state.failure !== 'connection');
    this.#reportDirty();
    this.#showTitle();
    if (this.#exists && existed === false) {
      this.#options.onPlugin?.();
      void this.#actions.loadLive();
    }
    this.#update();
    // While another try is under way the advice of the last one still holds.
    if (state.kind === 'saving') return;
    const advice = () => (state.kind === 'failed' ? failureAdvice(state.failure, this.#isKept) : undefined);
    if (advice() === undefined) return notices.hide('save');
    const theirs = error instanceof DraftConflict ? error.theirs : undefined;
    notices.show('save', () => ({
      tone: 'alert',
      text: advice() ?? '',
      actions: theirs
        ? [
            {
              label: texts().save.compareAndChoose,
              primary: true,
              run: () => void this.#resolveConflict(theirs),
            },
          ]
        : [],
    }));
  }

  #showTitle(): void {
    const { kind } = this.#queue.state;
    const isUnsaved = kind === 'unsaved' || kind === 'failed';
    document.title = texts().app.pageTitle(visibleText(this.#options.target.fn), isUnsaved);
  }

  #applyAccess(): void {
    this.#editor.isReadOnly = !this.access.canWrite;
    this.#update();
  }

  /** Deploys; asks before where tests fail, and where `ask` wants a message. */
  async #deploy(ask: boolean): Promise<void> {
    const failed = failedTests(this.#tests, sourceKeyOf(this.source));
    if (!ask && !failed.names.length) return this.#actions.deploy();
    const part = await loadPartOrNotify(this.#options.notices, () => import('./deploy-dialog.ts'));
    const message = await part?.askToDeploy(failed);
    if (message !== undefined) await this.#actions.deploy(message);
  }

  /** Starts over in another language, the given one or one that the user chooses. */
  async startOver(language?: string): Promise<void> {
    const part = await loadPartOrNotify(this.#options.notices, () => import('./start-over.ts'));
    await part?.startOver({
      ...this.#options,
      client: this.#client,
      former: this.source,
      restore: (source) => this.restore(source),
      language,
      signal: this.#ending.signal,
    });
  }

  /** Another language was asked for than the draft is written in: says that it stays, and how to change it. */
  sayLanguageStays(asked: string): void {
    sayLanguageStays(this.#options.notices, {
      asked,
      present: this.#record.lang,
      canStartOver: this.access.canWrite,
      onStartOver: () => void this.startOver(asked),
    });
  }

  async #resolveConflict(theirs: Draft): Promise<void> {
    const { store, notices } = this.#options;
    const part = await loadPartOrNotify(notices, () => import('../draft/conflict.ts'));
    const isChosen = await part?.resolveConflict({
      base: this.#queue.base,
      mine: this.source,
      theirs: theirs.source,
      notices,
      replace: (source) => this.#replace(source),
      restore: (source) => this.restore(source),
    });
    if (!isChosen) return;
    store.settle(theirs);
    this.#queue.settle(theirs.source);
  }
}
