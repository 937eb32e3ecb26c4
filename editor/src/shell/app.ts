import { type Draft, HttpError, type Language, type PluginSource } from 'plugin-editor/client.js';
import type { KeptText } from '../code/code-editor.ts';
import { loadTypingHelp } from '../code/languages.ts';
import { onLocaleChange, setLocale, texts } from '../locales/locale.ts';
import { type PluginTarget, UnusableValueError, checkTarget } from '../plugin/target.ts';
import { findBuilder } from '../service/builders.ts';
import { failureOf } from '../service/failure.ts';
import { BearerAuth, checkToken } from '../service/bearer-auth.ts';
import { loadModule } from '../ui/lazy-module.ts';
import { Screen } from '../ui/screen.ts';
import { showLanguageNotice } from '../workspace/language-notice.ts';
import { type EditorHost, PluginSession } from '../workspace/plugin-session.ts';
import { Workspace } from '../workspace/workspace.ts';
import type { EarlyDraft } from './early-draft.ts';
import {
  type MessageOptions,
  messageView,
  openFailureText,
  unusableFieldText,
  waitingView,
} from './message-view.ts';
import type { RequestedSettings } from './requested-settings.ts';
import { startScreen } from './start-screen.ts';

export interface EditorAppOptions {
  /** The element that the editor shows itself in. */
  root: HTMLElement;
  /** The base addresses of the services that the editor may talk to, as `allowedBuilders` returns them. */
  builders: readonly string[];
}

/** What a plugin without a draft starts with: a source, or a choice of languages. */
type InitialSource =
  | { source: PluginSource }
  /** `unknown`: the language that was asked for and that the service does not have. */
  | { languages: readonly Language[]; unknown: string | undefined };

/** Of how many closed plugins the undo history is kept. */
const MAX_KEPT_TEXTS = 10;

/** The editor: opens one plugin after the other, whoever asks for it and wherever the token comes from. */
export class EditorApp {
  readonly #options: EditorAppOptions;
  readonly #screen: Screen;
  /** What was asked for last, and whether it could not be opened. */
  #asked: { target: PluginTarget; auth: BearerAuth; host: EditorHost; failed?: true } | undefined;
  /** The last saves of plugins that were closed, by the keys of their sessions. */
  readonly #lastSaves = new Map<string, Promise<void>>();
  /** What was kept of the texts of closed plugins, by the keys of their sessions; the latest is the last. */
  readonly #keptTexts = new Map<string, KeptText>();
  #session: PluginSession | undefined;
  #workspace: Workspace | undefined;
  readonly #typingHelp = waitForTypingHelp();
  #isRestScheduled = false;
  #settings: RequestedSettings = {};
  /** Whether the page asks the user for the language of a new plugin. */
  #isChoosing = false;

  constructor(options: EditorAppOptions) {
    this.#options = options;
    this.#screen = new Screen(options.root);
    onLocaleChange(() => {
      this.#workspace?.updateTexts();
      this.#showTitle();
      this.#screen.draw(true);
    });
  }

  /** The plugin that is being edited, if one is. */
  get workspace(): Workspace | undefined {
    return this.#workspace;
  }

  /** Takes over the settings that the page around the editor asks for. The plugin stays open. */
  configure(settings: RequestedSettings): void {
    const former = this.#settings;
    this.#settings = settings;
    if (settings.locale !== former.locale) void setLocale(settings.locale, loadModule);
    this.#workspace?.setReadOnly(settings.readOnly ?? false);
    this.#workspace?.setAssistant(settings.assistant ?? false);
    if (settings.initialSource && !former.initialSource) this.#useInitialSource(settings.initialSource);
    this.#screen.draw();
  }

  /** Shows a message: why there is no plugin to edit, and what to do. */
  showMessage(message: () => MessageOptions): void {
    this.#isChoosing = false;
    this.#screen.show(() => messageView(message()));
  }

  /** Saves, because the page around the editor asks for it. @throws Error that says to the user why it could not */
  async save(): Promise<void> {
    if (!this.#workspace) throw new Error(texts().app.closed.title);
    await this.#workspace.saveNow();
  }

  /**
   * Closes the plugin that is open, and opens another one; what the former cannot save stays in this browser.
   * @param early its draft, where that was asked for before the editor was loaded
   */
  async openPlugin(
    target: PluginTarget,
    token: string,
    host: EditorHost = {},
    early?: EarlyDraft,
  ): Promise<void> {
    void this.#leave();
    const auth = early?.auth ?? new BearerAuth(token, host.renewToken);
    this.#asked = { target, auth, host };
    this.#session = this.#createSession(target, auth, host, early?.store);
    if (this.#session) await this.#load(this.#session, early?.draft);
  }

  /** Goes on with another token: saves what the former one could not, or opens what it could not. */
  replaceToken(token: string): void {
    if (!this.#asked) return;
    const { target, auth, host, failed } = this.#asked;
    auth.token = token;
    if (this.#workspace) this.#workspace.resume(['session', 'forbidden']);
    else if (failed) void this.openPlugin(target, token, host);
    else this.#session?.reloadDetails();
  }

  /** Saves what is not saved, and forgets the plugin and the token. */
  closePlugin(): void {
    const asked = this.#asked;
    // The last save still needs the token.
    void this.#leave().finally(() => {
      if (asked) asked.auth.token = '';
    });
    this.#keptTexts.clear();
    this.#asked = undefined;
    this.#showTitle();
    this.showMessage(() => texts().app.closed);
  }

  /**
   * The page around the editor gave a source after the plugin was opened by its address. Where the plugin has no draft and
   * nothing was typed, it is opened once more, with that source.
   */
  #useInitialSource({ lang }: PluginSource): void {
    if (!this.#asked) return;
    const { target, auth, host } = this.#asked;
    const isNew = this.#workspace ? !this.#workspace.saving.exists : this.#isChoosing;
    const isFitting = !target.template || target.template === lang;
    if (isNew && isFitting && !this.#workspace?.saving.isUnsaved) {
      void this.openPlugin(target, auth.token, host);
    }
  }

  #showTitle(): void {
    if (!this.#workspace) document.title = texts().app.title;
  }

  /** Closes what is open; resolves once its last save has ended. */
  async #leave(): Promise<void> {
    // Its dialogs would stay open above the next plugin. Closed without a choice, they change nothing.
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    const session = this.#session;
    if (session && this.#workspace) this.#keepText(session, this.#workspace);
    const lastSave = this.#workspace?.close().finally(() => {
      if (session && this.#lastSaves.get(session.key) === lastSave) this.#lastSaves.delete(session.key);
    });
    if (session && lastSave) this.#lastSaves.set(session.key, lastSave);
    session?.close();
    this.#session = undefined;
    this.#workspace = undefined;
    await lastSave;
  }

  #keepText({ key }: PluginSession, { document: { editor } }: Workspace): void {
    this.#keptTexts.delete(key);
    this.#keptTexts.set(key, editor.keep());
    const [first] = this.#keptTexts.keys();
    if (first !== undefined && this.#keptTexts.size > MAX_KEPT_TEXTS) this.#keptTexts.delete(first);
  }

  /** Checks what is to be opened. Where it cannot be used, shows why, and returns `undefined`. */
  #createSession(
    given: PluginTarget,
    auth: BearerAuth,
    host: EditorHost,
    store: PluginSession['store'] | undefined,
  ): PluginSession | undefined {
    const { builders } = this.#options;
    let plugin: PluginTarget | undefined;
    try {
      const target = (plugin = checkTarget(given));
      const builder = findBuilder(target.builder, builders);
      if (builder !== undefined) {
        // Without this check, a token that no header can hold would look like a session that has ended.
        checkToken(auth.token);
        const onPermissions = () => this.#handlePermissions();
        return new PluginSession({ target, builder, auth, host, screen: this.#screen, store, onPermissions });
      }
      this.#fail(() => {
        const { title, text } = texts().app.unknownBuilder;
        return { title, text: text(target.builder, builders.join(', ')), plugin };
      });
    } catch (error) {
      const field = error instanceof UnusableValueError ? error.field : 'address';
      this.#fail(() => ({ ...unusableFieldText(field), plugin }));
    }
    return undefined;
  }

  async #load(session: PluginSession, early: Promise<Draft | undefined> | undefined): Promise<void> {
    const { target, store, signal } = session;
    this.#isChoosing = false;
    this.#screen.show(() => waitingView(target));
    await this.#attempt(session, async () => {
      // Where the plugin was open before, its last save may not have ended yet.
      await this.#lastSaves.get(session.key);
      const draft = await (early ?? store.load(signal));
      await this.#typingHelp;
      if (signal.aborted) return;
      if (draft) this.#edit(session, draft.source, true);
      else await this.#begin(session);
      // Only a token that the service accepted for this plugin may show what this browser kept of it.
      await this.#offerCopies(session, draft);
    });
  }

  #handlePermissions(): void {
    if (this.#workspace) return this.#workspace.updatePermissions();
    this.#screen.draw();
    if (this.#isChoosing && this.#session) reportNew(this.#session);
  }

  /** Begins a plugin that has no draft. */
  async #begin(session: PluginSession): Promise<void> {
    const initial = await loadInitialSource(session, this.#settings.initialSource);
    if (session.signal.aborted) return;
    if ('source' in initial) return this.#edit(session, initial.source, false);
    const { target, notices, signal } = session;
    const begin = async (language: string) => {
      const source = await session.loadTemplate(language);
      // Another language may have been chosen, or a copy restored, while the template was loaded.
      if (!signal.aborted && !this.#workspace) this.#edit(session, source, false);
    };
    this.#isChoosing = true;
    this.#screen.show(() =>
      startScreen({
        target,
        ...initial,
        isReadOnly: !this.#mayWrite(session),
        notices: notices.view(),
        onChoose: ({ identifier }) => void this.#attempt(session, () => begin(identifier)),
      }),
    );
    reportNew(session);
  }

  /** Whether a plugin that is not open yet may be written. */
  #mayWrite({ permissions }: PluginSession): boolean {
    return !this.#settings.readOnly && (permissions?.includes('write') ?? true);
  }

  /** Offers what this browser kept of the plugin when it could not be saved. */
  async #offerCopies(session: PluginSession, draft: Draft | undefined): Promise<void> {
    const { copies, notices, signal } = session;
    const orphans = await copies.listOrphans();
    if (signal.aborted || !orphans.length) return;
    const present = draft?.source ?? this.#workspace?.document.source;
    const module = await notices.loadModule(() => import('../draft/recovery.ts'));
    if (signal.aborted || !module) return;
    const recovery = new module.Recovery({
      session,
      workspace: () => this.#workspace,
      mayWrite: () => this.#mayWrite(session),
      begin: (source) => {
        this.#edit(session, { ...source, contents: '', tests: [] }, false);
        this.#workspace?.saving.restore(source);
      },
    });
    recovery.start(orphans, present);
  }

  /** @param exists whether `source` is a draft of the service */
  #edit(session: PluginSession, source: PluginSource, exists: boolean): void {
    const { template } = session.target;
    const isReadOnly = this.#settings.readOnly ?? false;
    const kept = this.#keptTexts.get(session.key);
    const workspace = new Workspace(session, { source, exists, isReadOnly, kept });
    this.#workspace = workspace;
    workspace.setAssistant(this.#settings.assistant ?? false);
    this.#isChoosing = false;
    this.#screen.show(() => workspace.view());
    workspace.start();
    if (exists && template && template !== source.lang) showLanguageNotice(workspace, template);
    // A frame must not take the focus from the page around it.
    if (document.hasFocus()) workspace.document.editor.focus();
    if (!this.#isRestScheduled) setTimeout(() => void loadRest(), REST_DELAY);
    this.#isRestScheduled = true;
  }

  /**
   * Runs a step of opening. Where it fails, shows why, and offers to open the plugin again, unless it is open already: a choice
   * that fails must not close what another choice has opened.
   */
  async #attempt({ target, auth, host, signal }: PluginSession, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (signal.aborted || this.#workspace) return;
      const failure = failureOf(error);
      const needsOtherToken = failure === 'session' || failure === 'forbidden';
      this.#fail(() => ({
        ...openFailureText(failure),
        plugin: target,
        action: needsOtherToken
          ? undefined
          : {
              label: texts().common.tryAgain,
              run: () => void this.openPlugin(target, auth.token, host),
            },
      }));
    }
  }

  /** Shows why the plugin cannot be opened, and reports it to whoever asked for it. */
  #fail(message: () => MessageOptions): void {
    this.showMessage(message);
    if (!this.#asked) return;
    this.#asked.failed = true;
    const { title, text } = message();
    this.#asked.host.error?.(`${title}. ${text}`);
  }
}

/** Reports to the page around the editor a plugin that has no draft and no language yet. */
function reportNew({ host, permissions }: PluginSession): void {
  host.ready?.({ exists: false, ...(permissions && { permissions: [...permissions] }) });
}

/** How long a text waits for its language, in ms: a text that is shown without it soon changes its colours. */
const MAX_WAIT = 100;

/** Loads the languages. Resolves when they are there, or after a moment: on a slow line the text comes first. */
function waitForTypingHelp(): Promise<unknown> {
  const waited = new Promise<void>((resolve) => setTimeout(resolve, MAX_WAIT));
  // Without them a text can be edited; each text that is opened asks for them again.
  const loaded = loadTypingHelp().catch(() => {});
  return Promise.race([waited, loaded]);
}

/** How long after the first text was shown the rest is loaded, in ms: nothing that the user needs first has to wait for it. */
const REST_DELAY = 3000;

/** The modules that are loaded when they are first used, and that most users come to use. */
const rest: readonly (() => Promise<unknown>)[] = [
  () => import('../pipeline/difference-view.ts'),
  () => import('../code/search-panel.ts'),
  () => import('../draft/compare-dialog.ts'),
  () => import('../draft/conflict.ts'),
  () => import('../draft/recovery.ts'),
  () => import('../ui/command-palette.ts'),
  () => import('../workspace/deploy-sheet.ts'),
  () => import('../workspace/dialogs.ts'),
  () => import('../workspace/start-over.ts'),
];

/**
 * Loads them one after the other. From then on an open editor requests no other file from the service, so that it misses none
 * when the service is upgraded and has other files.
 */
async function loadRest(): Promise<void> {
  // A module that cannot be loaded now is loaded again where it is used, and there a failure is reported.
  for (const module of rest) await loadModule(module).catch(() => {});
}

/** What a plugin without a draft starts with: what the host gives, else the template of its language, else a choice. */
async function loadInitialSource(
  session: PluginSession,
  given: PluginSource | undefined,
): Promise<InitialSource> {
  const language = session.target.template;
  if (given && (!language || language === given.lang)) return { source: given };
  if (language) {
    try {
      return { source: await session.loadTemplate(language) };
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 404)) throw error;
    }
  }
  const { languages } = await session.client.getFeatures({ signal: session.signal });
  return { languages, unknown: language };
}
