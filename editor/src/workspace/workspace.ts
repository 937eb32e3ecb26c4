import type { TemplateResult } from 'lit/html.js';
import { BuilderClient, type PluginSource } from 'plugin-editor/client.js';
import type { SaveState } from '../draft/save-queue.ts';
import { texts } from '../locales/locale.ts';
import type { Obstacle } from '../pipeline/progress.ts';
import type { Work } from '../pipeline/work.ts';
import { PluginService } from '../service/plugin-service.ts';
import { failedTests } from '../tests/failed-tests.ts';
import { CommandMenu } from '../ui/command-menu.ts';
import type { Command } from '../ui/commands.ts';
import { notifyIfMissing } from '../ui/load-part-or-notify.ts';
import { settings } from '../ui/settings.ts';
import { visibleText } from '../ui/visible-text.ts';
import { type Access, accessOf, readOnlyReason } from './access.ts';
import { Actions } from './actions.ts';
import { currentWork } from './current-work.ts';
import { DraftSaving } from './draft-saving.ts';
import { PluginDocument } from './plugin-document.ts';
import { SlowAction } from './slow-action.ts';
import { showResult } from './test-fields.ts';
import { TextHelp } from './text-help.ts';
import { workspaceCommands } from './workspace-commands.ts';
import * as dialogs from './workspace-dialogs.ts';
import { WorkspaceDock } from './workspace-dock.ts';
import { handleWorkspaceKey } from './workspace-keys.ts';
import type { WorkspaceOptions } from './workspace-options.ts';
import { workspaceView } from './workspace-view.ts';

/** One open plugin: its text and its tests, and the parts that save, check, build, run and deploy them. */
export class Workspace {
  readonly #options: WorkspaceOptions;
  readonly #service: PluginService;
  readonly #client: BuilderClient;
  readonly #document: PluginDocument;
  readonly #saving: DraftSaving;
  readonly #actions: Actions;
  readonly #dock: WorkspaceDock;
  readonly #textHelp: TextHelp;
  readonly #menu: CommandMenu;
  readonly #slowAction: SlowAction;
  readonly #closed = new AbortController();
  #commands: Command[] = [];
  #permissions: readonly string[] | undefined;
  /** Whether the page around the editor wants nothing changed. */
  #isHostReadOnly: boolean;
  /** Whether the constructor is done; before that the parts of the page are not all there. */
  #isReady = false;

  constructor(options: WorkspaceOptions) {
    const { target, builder, tokenHolder, notices, source, exists } = options;
    this.#options = options;
    this.#permissions = options.permissions;
    this.#isHostReadOnly = options.isReadOnly;
    this.#service = new PluginService(builder, target, tokenHolder);
    this.#client = new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token });
    this.#menu = new CommandMenu(() => options.onDraw(true));
    this.#slowAction = new SlowAction(() => options.onDraw());
    this.#document = new PluginDocument({
      name: target.fn,
      source,
      isReadOnly: !this.access.canWrite,
      onEdit: () => this.#handleEdit(),
      onChange: () => this.#update(),
    });
    this.#saving = new DraftSaving({
      ...options,
      canWrite: () => this.access.canWrite,
      read: () => this.source,
      replace: (replacement) => this.#replace(replacement),
      restore: (restored) => this.restore(restored),
      onState: (state) => this.#handleSaveState(state),
      onSave: () => options.onSave?.(),
      onCreate: () => {
        options.onPlugin?.();
        void this.#actions.serviceState.loadLive();
      },
      onDirty: (dirty) => options.onDirty?.(dirty),
    });
    this.#textHelp = new TextHelp({
      builder,
      target,
      tokenHolder,
      notices,
      editor: this.#document.editor,
      onChange: () => this.#update(),
    });
    this.#actions = this.#createActions(!exists);
    this.#dock = new WorkspaceDock({
      service: this.#service,
      actions: this.#actions,
      tests: this.#document.tests,
      notices,
      access: () => this.access,
      language: () => this.#document.language,
      read: () => this.source,
      restore: (restored) => this.restore(restored),
      problems: () => this.#document.problems,
      onJump: (line, column) => void notifyIfMissing(notices, this.#document.editor.goTo(line, column)),
      onLive: (version) => options.onLive?.(version),
      onDraw: (now) => (now ? options.onDraw(true) : this.#update()),
    });
    this.updateTexts();
    this.#closed.signal.addEventListener(
      'abort',
      settings.subscribe(() => this.#update()),
    );
    this.#isReady = true;
    this.#dock.start();
    this.#actions.start();
    this.#saving.start();
  }

  /** What may be done here. */
  get access(): Access {
    return accessOf(this.#permissions, this.#isHostReadOnly);
  }

  get language(): string {
    return this.#document.language;
  }

  /** Whether the service has a draft of the plugin. */
  get exists(): boolean {
    return this.#saving.queue.exists;
  }

  get permissions(): readonly string[] | undefined {
    return this.#permissions;
  }

  /** What the token permits became known. */
  set permissions(permissions: readonly string[] | undefined) {
    this.#permissions = permissions;
    this.#applyAccess();
    this.#options.onPlugin?.();
  }

  /** The source as it is in the editor. */
  get source(): PluginSource {
    return this.#document.source;
  }

  /** Whether there is work that the service does not have. */
  get isUnsaved(): boolean {
    return this.#saving.queue.isUnsaved;
  }

  /** Whether the page around the editor wants nothing changed. What is not saved is saved before. */
  set isReadOnly(isReadOnly: boolean) {
    if (isReadOnly === this.#isHostReadOnly) return;
    if (isReadOnly && this.isUnsaved) this.#saving.queue.flush();
    this.#isHostReadOnly = isReadOnly;
    this.#applyAccess();
  }

  focus(): void {
    this.#document.editor.focus();
  }

  /** Saves now, because the user asks for it. */
  save(): void {
    this.#saving.save();
  }

  /** Saves now, also a plugin without a draft, because the host asks for it. @throws Error that says why it could not. */
  async saveNow(): Promise<void> {
    const reason = readOnlyReason(this.access);
    if (reason !== undefined) throw new Error(reason);
    await this.#saving.saveNow();
  }

  /** Puts a source in place of this one, because the user asks for it, and saves it. */
  restore(source: PluginSource): void {
    this.#replace(source);
    this.#saving.prepareToLeave();
  }

  /** The page may go away: keeps a copy of what is not saved, and saves it while it can. */
  prepareToLeave(): void {
    this.#saving.prepareToLeave();
  }

  /**
   * The connection or the token is new, or the page is in view again.
   * @param ended what no longer keeps an action from completing
   */
  resume(ended: readonly Obstacle[] = []): void {
    this.#saving.queue.resume();
    this.#actions.resume(ended);
    this.#dock.reloadTypes();
  }

  /** The language of the page changed. */
  updateTexts(): void {
    const { notices, target } = this.#options;
    this.#commands = workspaceCommands({
      document: this.#document,
      actions: this.#actions,
      dock: this.#dock,
      textHelp: this.#textHelp,
      access: () => this.access,
      hasPanel: (panel) => this.#dock.panels(this.#work()).some(({ id }) => id === panel),
      save: () => this.save(),
      search: (options) => void notifyIfMissing(notices, this.#document.editor.openSearch(options)),
      deploy: (options) => void this.#deploy(options),
      startOver: () => void this.startOver(),
      showSettings: () => void dialogs.showSettings(notices),
      showPalette: () => void dialogs.showPalette(notices, this.#commands),
      showHelp: () => void dialogs.showHelp(notices, this.#commands, target),
    });
    if (this.#isReady) this.#document.editor.updateTexts();
  }

  /** A key was pressed somewhere on the page. */
  handleKey(event: KeyboardEvent): void {
    handleWorkspaceKey(event, {
      commands: this.#commands,
      menu: this.#menu,
      tests: this.#document.tests,
      actions: this.#actions,
    });
  }

  /** Starts over in another language: the given one, or one that the user chooses. */
  async startOver(language?: string): Promise<void> {
    if (!this.access.canWrite) return;
    await dialogs.startOver({
      ...this.#options,
      client: this.#client,
      canWrite: () => this.access.canWrite,
      read: () => this.source,
      restore: (source) => this.restore(source),
      language,
      signal: this.#closed.signal,
    });
  }

  /** Another language was asked for than the draft is written in: says that it stays, and how to change it. */
  showLanguageNotice(asked: string): Promise<void> {
    return dialogs.showLanguageNotice(this.#options.notices, this.#closed.signal, {
      asked,
      present: this.#document.language,
      canStartOver: () => this.access.canWrite,
      onStartOver: () => void this.startOver(asked),
    });
  }

  /** Closes the plugin, and saves what is not saved; resolves once that save has ended. */
  close(): Promise<void> {
    this.prepareToLeave();
    this.#closed.abort();
    this.#slowAction.close();
    this.#actions.close();
    this.#dock.close();
    this.#saving.close();
    this.#textHelp.close();
    this.#document.editor.close();
    return this.#saving.queue.whenIdle();
  }

  view(): TemplateResult {
    const work = this.#work();
    return workspaceView({
      target: this.#options.target,
      lang: this.#document.language,
      work,
      access: this.access,
      isSlow: this.#slowAction.isSlow,
      notices: this.#options.notices.view(),
      code: this.#document.editor.element,
      cursor: this.#document.cursor,
      panels: this.#dock.panels(work),
      dock: this.#dock.state,
      isStacked: this.#dock.isStacked,
      commands: this.#commands,
      menu: this.#menu.view(this.#commands),
      onDock: (state) => (this.#dock.state = state),
      onFocusPanel: (panel) => this.#dock.focus(panel),
      onStop: () => this.#actions.pipeline.stop(),
    });
  }

  #createActions(isNew: boolean): Actions {
    const options = this.#options;
    return new Actions({
      ...options,
      service: this.#service,
      client: this.#client,
      queue: this.#saving.queue,
      tests: this.#document.tests,
      read: () => this.source,
      isNew,
      canWrite: () => this.access.canWrite,
      mark: (finder, found, contents) => void this.#document.editor.mark(finder, found, contents),
      markSyntax: () => void this.#document.editor.markSyntax(),
      showPanel: (panel) => this.#dock.show(panel),
      showResult: (entry) => {
        options.onDraw(true);
        showResult(entry);
      },
      onBuild: (build) => {
        options.onBuild?.(build);
        // The types that it was built for may have changed meanwhile.
        this.#dock.reloadTypes();
      },
      onDeploy: (deploy) => {
        options.onDeploy?.(deploy);
        this.#dock.reloadTypes();
      },
      onChange: () => this.#update(),
    });
  }

  #work(): Work {
    return currentWork({
      save: this.#saving.queue.state,
      access: this.access,
      actions: this.#actions,
      document: this.#document,
    });
  }

  #update(): void {
    if (!this.#isReady || this.#closed.signal.aborted) return;
    this.#slowAction.update(this.#actions.pipeline.action !== undefined);
    this.#options.onDraw();
  }

  /** The text or the tests were changed. */
  #handleEdit(): void {
    if (!this.#isReady) return;
    this.#saving.handleEdit();
    this.#actions.handleEdit();
  }

  #handleSaveState(state: SaveState): void {
    const { serviceState } = this.#actions;
    if (state.kind === 'saved') serviceState.setOnline(true);
    if (state.kind === 'failed') serviceState.setOnline(state.failure !== 'connection');
    const isUnsaved = state.kind === 'unsaved' || state.kind === 'failed';
    document.title = texts().app.pageTitle(visibleText(this.#options.target.fn), isUnsaved);
    this.#update();
  }

  #replace(source: PluginSource): void {
    const isOtherLanguage = source.lang !== this.#document.language;
    this.#document.replace(source);
    if (isOtherLanguage) this.#options.onPlugin?.();
  }

  #applyAccess(): void {
    this.#document.editor.isReadOnly = !this.access.canWrite;
    this.#update();
  }

  async #deploy(options: { withMessage: boolean }): Promise<void> {
    const failed = failedTests(this.#document.tests, this.#document.sourceKey);
    const message = await dialogs.confirmDeploy(this.#options.notices, failed, options);
    // The plugin may have been closed while the dialog was loaded.
    if (message !== undefined && !this.#closed.signal.aborted) await this.#actions.deploy(message);
  }
}
