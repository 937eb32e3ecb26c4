import type { PluginSource } from 'plugin-editor/client.js';
import { onLocaleChange, setLocale, texts } from '../locales/locale.ts';
import { type PluginTarget, UnusableValueError, checkTarget } from '../plugin/target.ts';
import type { Draft } from '../service/draft-store.ts';
import { failureOf } from '../service/failure.ts';
import { loadTemplate } from '../service/template.ts';
import { TokenHolder } from '../service/token-holder.ts';
import { loadPart } from '../ui/load-part.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import { Workspace } from '../workspace/workspace.ts';
import type { EarlyDraft } from './early-draft.ts';
import type { EditorHost } from './editor-host.ts';
import { type MessageOptions, messageView, waitingView } from './message-view.ts';
import { type Beginning, loadBeginning } from './new-plugin.ts';
import { openFailureText } from './open-failure-text.ts';
import { type Opening, openingKey, prepareOpening } from './opening.ts';
import type { RequestedSettings } from './requested-settings.ts';
import { scheduleLaterParts } from './schedule-later-parts.ts';
import { Screen } from './screen.ts';
import { waitForTypingHelp } from './typing-help-wait.ts';
import { unusableText } from './unusable-text.ts';

export interface EditorAppOptions {
  /** The element that the editor shows itself in. */
  root: HTMLElement;
  /** The base addresses of the services that the editor may talk to, as `allowedBuilders` returns them. */
  builders: readonly string[];
}

type Permissions = readonly string[] | undefined;

/** The editor: opens one plugin after the other, whoever asks for it and wherever the token comes from. */
export class EditorApp {
  readonly #options: EditorAppOptions;
  readonly #screen: Screen;
  /** What was asked for last, and whether it could not be opened. */
  #asked: { target: PluginTarget; tokenHolder: TokenHolder; host: EditorHost; failed?: true } | undefined;
  /** The last saves of plugins that were closed, by `openingKey`. */
  readonly #lastSaves = new Map<string, Promise<void>>();
  /** The `openingKey` of the plugin that is open. */
  #key = '';
  #abort = new AbortController();
  #workspace: Workspace | undefined;
  readonly #typingHelp = waitForTypingHelp();
  #areLaterPartsScheduled = false;
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
    if (settings.locale !== former.locale) void setLocale(settings.locale);
    if (this.#workspace) this.#workspace.isReadOnly = settings.readOnly ?? false;
    if (settings.initialSource && !former.initialSource) this.#useInitialSource(settings.initialSource);
    this.#screen.draw();
  }

  /** Shows a message in place of a plugin: why there is none to edit, and what to do. */
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
   * Opens a plugin in place of the one that is open; what that one cannot save stays in this browser.
   * @param early its draft, where that was asked for before the editor was loaded
   */
  async openPlugin(
    target: PluginTarget,
    token: string,
    host: EditorHost = {},
    early?: EarlyDraft,
  ): Promise<void> {
    this.#leave();
    const tokenHolder = early?.tokenHolder ?? new TokenHolder(token, host.renewToken);
    this.#asked = { target, tokenHolder, host };
    const opening = this.#prepare(target, tokenHolder, host, early);
    if (opening) await this.#load(opening, early?.draft);
  }

  /** Goes on with another token: saves what the former one could not, or opens what it could not. */
  replaceToken(token: string): void {
    if (!this.#asked) return;
    const { target, tokenHolder, host, failed } = this.#asked;
    tokenHolder.token = token;
    if (this.#workspace) this.#workspace.resume(['session', 'forbidden']);
    else if (failed) void this.openPlugin(target, token, host);
  }

  /** Saves what is not saved, and forgets the plugin and the token. */
  closePlugin(): void {
    this.#leave();
    if (this.#asked) this.#asked.tokenHolder.token = '';
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
    const { target, tokenHolder, host } = this.#asked;
    const isNew = this.#workspace ? !this.#workspace.exists : this.#isChoosing;
    const isFitting = !target.template || target.template === lang;
    if (isNew && isFitting && !this.#workspace?.isUnsaved) {
      void this.openPlugin(target, tokenHolder.token, host);
    }
  }

  #showTitle(): void {
    if (!this.#workspace) document.title = texts().app.title;
  }

  #leave(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    // Its dialogs would stay open above the next plugin. Closed without a choice, they change nothing.
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    const key = this.#key;
    const lastSave = this.#workspace?.close().finally(() => {
      if (this.#lastSaves.get(key) === lastSave) this.#lastSaves.delete(key);
    });
    if (lastSave) this.#lastSaves.set(key, lastSave);
    this.#workspace = undefined;
  }

  /** Checks what is to be opened. Where it cannot be used, shows why, and returns `undefined`. */
  #prepare(
    given: PluginTarget,
    tokenHolder: TokenHolder,
    host: EditorHost,
    early: EarlyDraft | undefined,
  ): Opening | undefined {
    const { builders } = this.#options;
    let target: PluginTarget | undefined;
    try {
      target = checkTarget(given);
      const opening = prepareOpening({
        target,
        tokenHolder,
        host,
        builders,
        store: early?.store,
        signal: this.#abort.signal,
        onNotice: () => this.#screen.draw(),
      });
      if (opening) this.#key = openingKey(opening);
      else {
        const { builder } = target;
        this.#fail(() => {
          const { title, text } = texts().app.unknownBuilder;
          return { title, text: text(builder, builders.join(', ')), plugin: target };
        });
      }
      return opening;
    } catch (error) {
      const field = error instanceof UnusableValueError ? error.field : 'address';
      this.#fail(() => ({ title: texts().app.cannotOpen, text: unusableText(field), plugin: target }));
      return undefined;
    }
  }

  async #load(opening: Opening, early: Promise<Draft | undefined> | undefined): Promise<void> {
    this.#isChoosing = false;
    this.#screen.show(() => waitingView(opening.target));
    await this.#attempt(opening, async () => {
      // Where the plugin was open before, its last save may still be on its way.
      await this.#lastSaves.get(this.#key);
      const draft = await (early ?? opening.store.load(opening.signal));
      await this.#typingHelp;
      if (opening.signal.aborted) return;
      const permissions = await Promise.race([opening.permissions, Promise.resolve(undefined)]);
      if (draft) this.#edit(opening, draft.source, true, permissions);
      else await this.#begin(opening, permissions);
      void this.#updatePermissions(opening, permissions);
      // Only a token that the service accepted for this plugin may show what this browser kept of it.
      await this.#offerCopies(opening, draft);
    });
  }

  /** What the token permits may come after the draft. */
  async #updatePermissions(opening: Opening, known: Permissions): Promise<void> {
    const permissions = await opening.permissions;
    if (opening.signal.aborted || permissions === known || !this.#workspace) return;
    this.#workspace.permissions = permissions;
  }

  /** Begins a plugin that has no draft. */
  async #begin(opening: Opening, permissions: Permissions): Promise<void> {
    const beginning = await loadBeginning(opening, this.#settings.initialSource);
    if (opening.signal.aborted) return;
    if ('source' in beginning) this.#edit(opening, beginning.source, false, permissions);
    else await this.#showStartScreen(opening, beginning, permissions);
  }

  async #showStartScreen(
    opening: Opening,
    { languages, unknown }: Extract<Beginning, { languages: unknown }>,
    permissions: Permissions,
  ): Promise<void> {
    const { startScreen } = await loadPart(() => import('./start-screen.ts'));
    if (opening.signal.aborted) return;
    const begin = async (language: string) => {
      const source = await loadTemplate(opening, language);
      // Another language may have been chosen, or a copy restored, while the template was loaded.
      if (!opening.signal.aborted && !this.#workspace) this.#edit(opening, source, false, permissions);
    };
    this.#isChoosing = true;
    this.#screen.show(() =>
      startScreen({
        target: opening.target,
        languages,
        unknown,
        isReadOnly: this.#settings.readOnly === true || permissions?.includes('write') === false,
        notices: opening.notices.view(),
        onChoose: ({ identifier }) => void this.#attempt(opening, () => begin(identifier)),
      }),
    );
    opening.host.onReady?.({ exists: false, ...(permissions ? { permissions: [...permissions] } : {}) });
  }

  /** Offers what this browser kept of the plugin when it could not be saved. */
  async #offerCopies(opening: Opening, draft: Draft | undefined): Promise<void> {
    const { copies, notices, signal } = opening;
    const orphans = await copies.listOrphans();
    if (signal.aborted || !orphans.length) return;
    const part = await loadPartOrNotify(notices, () => import('../draft/recovery.ts'));
    if (!part || signal.aborted) return;
    const recovery = new part.Recovery({
      copies,
      notices,
      current: () => this.#workspace?.source,
      canRestore: () => !signal.aborted && (this.#workspace?.access.canWrite ?? !this.#settings.readOnly),
      restore: (source) => {
        // Without a draft and a template there is nothing open yet: the copy is what to open.
        if (!this.#workspace) this.#edit(opening, { ...source, contents: '', tests: [] }, false, undefined);
        this.#workspace?.restore(source);
      },
    });
    recovery.start(orphans, draft?.source ?? this.#workspace?.source);
  }

  /** @param exists whether `source` is a draft of the service */
  #edit(opening: Opening, source: PluginSource, exists: boolean, permissions: Permissions): void {
    const { host, target } = opening;
    const report = () => {
      const { language, exists: hasDraft, permissions: known } = workspace;
      host.onReady?.({ language, exists: hasDraft, ...(known ? { permissions: [...known] } : {}) });
    };
    const workspace = new Workspace({
      ...opening,
      ...host,
      source,
      exists,
      permissions,
      isReadOnly: this.#settings.readOnly ?? false,
      onDraw: (now) => this.#screen.draw(now),
      onPlugin: report,
    });
    this.#workspace = workspace;
    this.#isChoosing = false;
    this.#screen.show(() => workspace.view());
    if (exists && target.template && target.template !== source.lang) {
      void workspace.showLanguageNotice(target.template);
    }
    // A frame must not take the focus from the page around it.
    if (document.hasFocus()) workspace.focus();
    if (!this.#areLaterPartsScheduled) scheduleLaterParts();
    this.#areLaterPartsScheduled = true;
    report();
  }

  /**
   * Runs a step of opening. Where it fails, shows why, and offers to open the plugin again, unless it is open already: a choice
   * that fails must not close what another choice has opened.
   */
  async #attempt({ target, tokenHolder, host, signal }: Opening, step: () => Promise<void>): Promise<void> {
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
              run: () => void this.openPlugin(target, tokenHolder.token, host),
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
    this.#asked.host.onFail?.(`${title}. ${text}`);
  }
}
