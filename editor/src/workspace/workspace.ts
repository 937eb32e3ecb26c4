import type { TemplateResult } from 'lit/html.js';
import type { PluginSource, PluginTest, RecordedCall } from 'plugin-editor/client.js';
import type { KeptText } from '../code/code-editor.ts';
import type { SaveState } from '../draft/save-queue.ts';
import { saveStatus } from '../draft/save-status.ts';
import { texts } from '../locales/locale.ts';
import type { ActionError } from '../pipeline/progress.ts';
import type { Work } from '../pipeline/work.ts';
import { mocksOf, recordedMocks } from '../plugin/mocks.ts';
import { CommandMenu } from '../ui/command-menu.ts';
import type { Command } from '../ui/commands.ts';
import { settings } from '../ui/settings.ts';
import { visibleText } from '../ui/visible-text.ts';
import { Rollouts } from '../versions/rollouts.ts';
import { Access } from './access.ts';
import { Actions } from './actions.ts';
import { Assistance } from './assistance.ts';
import { handleWorkspaceKey, workspaceCommands } from './commands.ts';
import type { DeploySheet } from './deploy-sheet.ts';
import { Dock } from './dock.ts';
import { DraftSaving } from './draft-saving.ts';
import { PluginDocument } from './plugin-document.ts';
import type { PluginSession } from './plugin-session.ts';
import { PluginTypes } from './plugin-types.ts';
import { ServiceState } from './service-state.ts';
import { StorageNotice } from './storage-notice.ts';
import { TextHelp } from './text-help.ts';
import { workspaceView } from './view.ts';

/** What a plugin is opened with. */
export interface WorkspaceStart {
  /** What to edit: the draft, or the template of a plugin that has none. */
  source: PluginSource;
  /** Whether `source` is a draft of the service. */
  exists: boolean;
  /** Whether the page around the editor wants nothing changed. */
  isReadOnly: boolean;
  /** What was kept of the text when the plugin was open before. */
  kept: KeptText | undefined;
}

/** One open plugin: its text and its tests, and the parts that save, check, build, run and deploy them. */
export class Workspace {
  readonly session: PluginSession;
  readonly access: Access;
  readonly document: PluginDocument;
  readonly saving: DraftSaving;
  readonly serviceState: ServiceState;
  readonly rollouts: Rollouts;
  readonly dock: Dock;
  readonly actions: Actions;
  readonly types: PluginTypes;
  readonly textHelp: TextHelp;
  readonly assistance = new Assistance(this);
  readonly menu: CommandMenu;
  #deploySheet: DeploySheet | undefined;
  readonly #storageNotice: StorageNotice;
  #commands: readonly Command[];

  constructor(session: PluginSession, { source, exists, isReadOnly, kept }: WorkspaceStart) {
    const { screen, signal } = session;
    this.session = session;
    const access = (this.access = new Access(session.permissions, isReadOnly));
    const document = (this.document = new PluginDocument(session, access, source, kept));
    const saving = (this.saving = new DraftSaving(session, access, document, exists));
    const serviceState = (this.serviceState = new ServiceState(session, saving));
    const dock = (this.dock = new Dock(session));
    this.actions = new Actions({ session, access, document, saving, serviceState, dock });
    this.types = new PluginTypes(session, document, access, dock, this.actions);
    this.textHelp = new TextHelp(session, document.editor);
    this.rollouts = new Rollouts({
      client: session.client,
      location: session.location,
      signal,
      onChange: (hasSwitched) => {
        screen.draw();
        // Its start pins what is live, and its version may have been made live.
        if (hasSwitched) void serviceState.loadLive();
      },
    });
    this.menu = new CommandMenu(() => screen.draw(true));
    const storageNotice = (this.#storageNotice = new StorageNotice(session, serviceState, dock));
    this.#commands = workspaceCommands(this);
    this.actions.on('built', () => void storageNotice.load());
    this.actions.pipeline.on('deploy', ({ rollout }) => {
      if (rollout) void this.rollouts.load();
    });
    access.on('change', () => screen.draw());
    document.on('edit', () => {
      saving.handleEdit();
      this.actions.handleEdit();
    });
    document.on('language', () => this.#report());
    document.editor.on('save', () => saving.save());
    saving.on('state', (state) => this.#handleSaveState(state));
    saving.on('create', () => {
      this.#report();
      void serviceState.loadProgress();
    });
    saving.on('delete', () => {
      this.#report();
      this.actions.pipeline.forgetBuild();
    });
    serviceState.on('online', () => saving.handleOnline());
    serviceState.on('otherDraft', () => {
      this.actions.pipeline.forgetBuild();
      void saving.offerOtherDraft();
    });
    saving.on('takeOver', () => void serviceState.loadProgress());
    signal.addEventListener(
      'abort',
      settings.subscribe(() => screen.draw()),
    );
  }

  /** Begins to check the text and to ask the service, and reports to the page around the editor that the plugin is open. */
  start(): void {
    const { saving, serviceState } = this;
    void serviceState.loadFeatures();
    if (saving.exists) void serviceState.loadProgress();
    void this.types.load();
    void this.actions.start();
    saving.start();
    this.#report();
  }

  /** The commands on the plugin, with labels in the language of the page. */
  get commands(): readonly Command[] {
    return this.#commands;
  }

  /** How far the plugin is, as its parts know it now. */
  get work(): Work {
    const { pipeline } = this.actions;
    const { problems } = this.document.editor;
    return {
      save: this.saving.state,
      isOnline: this.serviceState.isOnline,
      isReadOnly: !this.access.canWrite,
      canDeploy: this.access.canDeploy,
      sourceKey: this.document.sourceKey,
      build: pipeline.build,
      deployment: pipeline.deployment,
      live: this.serviceState.live,
      action: pipeline.action,
      resolved: this.actions.resolved,
      testing: this.actions.testProgress,
      tests: this.document.testStatuses,
      problems: problems.length,
      errors: problems.filter(({ severity }) => severity === 'error').length,
    };
  }

  /** What the token permits became known, or is something else than before. */
  updatePermissions(): void {
    this.#changeAccess(() => (this.access.permissions = this.session.permissions));
    this.#report();
  }

  /** Whether the page around the editor wants nothing changed. */
  setReadOnly(isReadOnly: boolean): void {
    if (isReadOnly === this.access.isHostReadOnly) return;
    this.#changeAccess(() => (this.access.isHostReadOnly = isReadOnly));
  }

  /** Whether the page around the editor has an assistant. */
  setAssistant(isOffered: boolean): void {
    this.assistance.isOffered = isOffered;
    this.session.screen.draw();
  }

  /** Saves now, also a plugin without a draft, because the host asks for it. @throws Error that says why it could not. */
  async saveNow(): Promise<void> {
    const { readOnlyReason } = this.access;
    if (readOnlyReason !== undefined) throw new Error(readOnlyReason);
    if (!(await this.saving.saveNow())) throw new Error(saveStatus(this.saving.state).text);
  }

  /** Something was deleted: what failed for lack of storage is tried again. */
  handleRoom(): void {
    this.saving.resume();
    this.actions.handleResolved(['storage-full']);
    void this.#storageNotice.load();
  }

  /** Adds a test, with the focus on its name. */
  addTest(test: PluginTest): void {
    this.dock.show('tests');
    this.dock.focusTest(this.document.tests.add(test), '.field.name');
  }

  /** Takes the responses to calls into the tests that have the payload of `test`, or into a new test. */
  takeCalls(calls: readonly RecordedCall[], test: PluginTest): void {
    const { tests } = this.document;
    const mocks = recordedMocks(calls);
    const taking = tests.entries.filter((entry) => (entry.test.payload ?? '') === test.payload);
    const [first] = taking;
    if (!first) return this.addTest({ ...test, calls: mocks });
    const take = () => {
      for (const entry of taking) tests.setMocks(entry, mocks);
    };
    // What the user has written is replaced.
    if (taking.some((entry) => mocksOf(entry.test).length))
      this.saving.change(take, () => texts().calls.taken);
    else take();
    first.isOpen = true;
    this.dock.show('tests');
    this.dock.focusTest(first, '.mocks');
  }

  /**
   * The connection or the token is new, or the page is in view again.
   * @param resolved what no longer keeps an action from completing
   */
  resume(resolved: readonly ActionError[] = []): void {
    // Another token may permit something else.
    if (!this.session.permissions || resolved.includes('session')) this.session.reloadDetails();
    this.saving.resume();
    this.actions.handleResolved(resolved);
    void this.serviceState.reload();
    void this.types.load();
  }

  /** The language of the page changed. */
  updateTexts(): void {
    this.#commands = workspaceCommands(this);
    this.document.editor.updateTexts();
    this.#showTitle();
  }

  /** A key was pressed somewhere on the page. */
  handleKey(event: KeyboardEvent): void {
    handleWorkspaceKey(event, this);
  }

  /** Opens the search in the text. */
  async search(options: { replace: boolean }): Promise<void> {
    await this.session.notices.notifyIfMissing(this.document.editor.openSearch(options));
  }

  /** Lets the user see what would be deployed, and deploys it on confirmation. */
  async deploy(): Promise<void> {
    const { notices, signal } = this.session;
    const module = await notices.loadModule(() => import('./deploy-sheet.ts'));
    // It may have been asked for twice meanwhile.
    if (!module || signal.aborted || document.querySelector('dialog[open]')) return;
    this.#deploySheet ??= new module.DeploySheet(this);
    const choice = await this.#deploySheet.show();
    if (!choice || signal.aborted) return;
    await this.actions.deploy(choice, () => void this.deploy());
  }

  /**
   * Starts over in another language.
   * @param language the one to start over in; without it the user chooses
   */
  async startOver(language?: string): Promise<void> {
    const module = await this.session.notices.loadModule(() => import('./start-over.ts'));
    await module?.startOver(this, language);
  }

  /** Closes the plugin, and saves what is not saved; resolves once that save has ended. */
  close(): Promise<void> {
    this.saving.prepareToLeave();
    this.session.close();
    this.document.editor.close();
    return this.saving.whenIdle();
  }

  view(): TemplateResult {
    return workspaceView(this);
  }

  /** Changes what may be done here. What is not saved is saved before; a text that can be changed from now on is checked. */
  #changeAccess(change: () => void): void {
    const { canWrite } = this.access;
    if (this.saving.isUnsaved) this.saving.flush();
    change();
    if (!canWrite && this.access.canWrite) this.actions.handleEdit();
  }

  /** Reports to the page around the editor what the plugin is, and what may be done with it. */
  #report(): void {
    const { permissions } = this.access;
    this.session.host.ready?.({
      language: this.document.language,
      exists: this.saving.exists,
      ...(permissions ? { permissions: [...permissions] } : {}),
    });
  }

  #handleSaveState(state: SaveState): void {
    this.serviceState.handleSave(state);
    this.#showTitle();
    this.session.screen.draw();
  }

  #showTitle(): void {
    const { kind } = this.saving.state;
    const isUnsaved = kind === 'unsaved' || kind === 'failed';
    document.title = texts().app.pageTitle(visibleText(this.session.target.fn), isUnsaved);
  }
}
