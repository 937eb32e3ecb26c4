import { type TemplateResult, render } from 'lit/html.js';
import type { PluginDetails } from 'plugin-editor/editor.js';
import { BuilderClient, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { loadTypingHelp } from '../code/languages.ts';
import { LocalCopies } from '../draft/local-copies.ts';
import { onLocaleChange, setLocale, texts } from '../locales/locale.ts';
import { type PluginTarget, checkTarget } from '../plugin/target.ts';
import { findBuilder } from '../service/builders.ts';
import { type Draft, DraftStore } from '../service/draft-store.ts';
import { failureOf } from '../service/failure.ts';
import { PluginService } from '../service/plugin-service.ts';
import { type RenewToken, TokenHolder, bearer } from '../service/token-holder.ts';
import { loadPart } from '../ui/load-part.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import { Notices } from '../ui/notices.ts';
import type { EarlyDraft } from './early-draft.ts';
import type { HostWishes } from './host-wishes.ts';
import { loadPanels } from './load-panels.ts';
import { loadLaterParts } from './later-parts.ts';
import { type MessageOptions, messageView, waitingView } from './message-view.ts';
import { openFailureWords } from './open-failure-words.ts';
import { Workspace, type WorkspaceEvents } from './workspace.ts';

/** Who had a plugin opened: what they hear of it, and what they can be asked for. */
export interface EditorHost extends Omit<WorkspaceEvents, 'onPlugin'> {
  /** It can be edited, or what is said of it changed. */
  onReady?: (plugin: PluginDetails) => void;
  /** It cannot be opened, and why. */
  onFail?: (problem: string) => void;
  /** Its token has ended. */
  renewToken?: RenewToken;
}

export interface EditorAppOptions {
  /** Where the page shows itself. */
  root: HTMLElement;
  /** The builders it may talk to, in the form of `builderBase`. */
  builders: readonly string[];
}

/** What is going on with one plugin, from opening it until another is opened. */
interface Opening {
  target: PluginTarget;
  host: EditorHost;
  tokenHolder: TokenHolder;
  builder: string;
  store: DraftStore;
  copies: LocalCopies;
  notices: Notices;
  /** What the token permits, once the builder has said it. */
  permissions: Promise<readonly string[] | undefined>;
  signal: AbortSignal;
}

/** The editor: opens plugins, whoever asks for it and wherever the token comes from. */
export class EditorApp {
  readonly #options: EditorAppOptions;
  /** What was asked for last. */
  #asked: { target: PluginTarget; tokenHolder: TokenHolder; host: EditorHost; failed?: true } | undefined;
  /** The saves of plugins that are open no longer, by plugin. */
  readonly #ending = new Map<string, Promise<void>>();
  /** By plugin as above. */
  #key = '';
  #abort = new AbortController();
  #workspace: Workspace | undefined;
  /** What helps with typing is there, or will be a while. */
  readonly #typingHelp = typingHelpSoon();
  #loadsLater = false;
  #wishes: HostWishes = {};
  #view: () => TemplateResult | undefined = () => undefined;
  #isDrawing = false;
  #isShowing = false;
  /** The user is to choose a language for a new plugin. */
  #isChoosing = false;

  constructor(options: EditorAppOptions) {
    this.#options = options;
    onLocaleChange(() => {
      this.#workspace?.updateTexts();
      this.#showTitle();
      this.draw(true);
    });
  }

  /** Takes over what the page around the editor wants of language and access. Nothing is loaded anew for it. */
  configure(wishes: HostWishes): void {
    const former = this.#wishes;
    this.#wishes = wishes;
    if (wishes.locale !== former.locale) void setLocale(wishes.locale);
    if (this.#workspace) this.#workspace.isReadOnly = wishes.readOnly ?? false;
    if (wishes.initialSource && !former.initialSource) this.#beginAnew();
    this.draw();
  }

  /**
   * The page around the editor gave a source after the plugin was opened by its address: a plugin without a draft, in which
   * nothing was typed, is opened once more, with that.
   */
  #beginAnew(): void {
    const { template } = this.#asked?.target ?? {};
    const isFitting = !template || template === this.#wishes.initialSource?.lang;
    if (!this.#asked || !this.#isNew || !isFitting || this.#workspace?.unsaved) return;
    const { target, tokenHolder, host } = this.#asked;
    void this.openPlugin(target, tokenHolder.token, host);
  }

  /** Whether what is shown is a plugin that the builder has no draft of. */
  get #isNew(): boolean {
    return this.#workspace ? !this.#workspace.exists : this.#isChoosing;
  }

  /** Draws what the page shows, once all that happens now has happened; with `now`, at once. */
  draw(now = false): void {
    if (now) {
      const view = this.#view();
      if (view) render(view, this.#options.root);
    } else if (!this.#isDrawing) {
      this.#isDrawing = true;
      queueMicrotask(() => {
        this.#isDrawing = false;
        this.draw(true);
      });
    }
  }

  /** The plugin that is being edited, if one is. */
  get workspace(): Workspace | undefined {
    return this.#workspace;
  }

  /** Shows that there is nothing to edit, and why. */
  showMessage(message: () => MessageOptions): void {
    this.#show(() => messageView(message()));
  }

  /** Saves at the word of the page around the editor. Rejects with the reason, in words. */
  async save(): Promise<void> {
    if (!this.#workspace) throw new Error(texts().app.closed.title);
    await this.#workspace.saveNow();
  }

  /**
   * Opens a plugin in place of the one that is open; what that cannot save stays in this browser. `early` is its draft,
   * where that was asked for before.
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
    const opening = this.#prepare(target, tokenHolder, host, early?.store);
    if (opening) await this.#load(opening, early?.draft);
  }

  /** Goes on with another token: saves what the former one could not, or opens what it did not. */
  replaceToken(token: string): void {
    if (!this.#asked) return;
    const { target, tokenHolder, host, failed } = this.#asked;
    tokenHolder.token = token;
    if (this.#workspace) this.#workspace.resume();
    else if (failed) void this.openPlugin(target, token, host);
  }

  /** Saves what is not saved, and forgets plugin and token. */
  closePlugin(): void {
    this.#leave();
    if (this.#asked) this.#asked.tokenHolder.token = '';
    this.#asked = undefined;
    this.#showTitle();
    this.showMessage(() => texts().app.closed);
  }

  #showTitle(): void {
    if (!this.#workspace) document.title = texts().app.title;
  }

  #leave(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    const key = this.#key;
    const ended = this.#workspace?.close().finally(() => {
      if (this.#ending.get(key) === ended) this.#ending.delete(key);
    });
    if (ended) this.#ending.set(key, ended);
    this.#workspace = undefined;
  }

  #prepare(
    given: PluginTarget,
    tokenHolder: TokenHolder,
    host: EditorHost,
    early?: DraftStore,
  ): Opening | undefined {
    const { signal } = this.#abort;
    let target: PluginTarget | undefined;
    try {
      target = checkTarget(given);
      const builder = findBuilder(target.builder, this.#options.builders);
      if (builder === undefined) {
        const asked = target;
        this.#fail(() => {
          const { title, text } = texts().app.unknownBuilder;
          return { title, text: text(asked.builder, this.#options.builders.join(', ')), plugin: asked };
        });
        return undefined;
      }
      // A token that no request can carry is no session that ended; it is said at once.
      bearer(tokenHolder.token);
      this.#key = JSON.stringify([builder, target.ident, target.namespace, target.fn]);
      const store = early ?? new DraftStore(builder, target, tokenHolder);
      const copies = new LocalCopies(builder, target);
      signal.addEventListener('abort', () => copies.close());
      const permissions = new PluginService(builder, target, tokenHolder)
        .permissions(signal)
        // A builder that does not say it permits what it permits: it is found out by asking.
        .catch(() => undefined);
      const notices = new Notices();
      notices.onChange = () => this.draw();
      return { target, host, tokenHolder, builder, store, copies, notices, permissions, signal };
    } catch (error) {
      const text = `${(error as Error).message}.`;
      this.#fail(() => ({ title: texts().app.cannotOpen, text, plugin: target }));
      return undefined;
    }
  }

  async #load(opening: Opening, early: Promise<Draft | undefined> | undefined): Promise<void> {
    this.#show(() => waitingView(opening.target));
    await this.#attempt(opening, async () => {
      // Open before, and on its way to the builder still.
      await this.#ending.get(this.#key);
      const draft = await (early ?? opening.store.load(opening.signal));
      await this.#typingHelp;
      if (opening.signal.aborted) return;
      const permissions = await Promise.race([opening.permissions, Promise.resolve(undefined)]);
      if (draft) this.#edit(opening, draft.source, true, permissions);
      else await this.#begin(opening, opening.target.template, permissions);
      void this.#learnPermissions(opening, permissions);
      // The builder has accepted the token for this plugin: only now may the page show what it kept of it.
      await this.#offerCopies(opening, draft);
    });
  }

  /** What the token permits may come after the draft. */
  async #learnPermissions(opening: Opening, known: readonly string[] | undefined): Promise<void> {
    const permissions = await opening.permissions;
    if (opening.signal.aborted || permissions === known || !this.#workspace) return;
    this.#workspace.permissions = permissions;
  }

  /** A plugin without a draft: from what the host gives, from the template, or from one that the user chooses. */
  async #begin(
    opening: Opening,
    language: string | undefined,
    permissions: readonly string[] | undefined,
  ): Promise<void> {
    const { initialSource } = this.#wishes;
    if (initialSource && (!language || language === initialSource.lang)) {
      return this.#edit(opening, initialSource, false, permissions);
    }
    const { tokenHolder, builder, target, signal } = opening;
    const client = new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token });
    const start = async (lang: string) => {
      const place = { language: lang, pluginName: target.fn, namespace: target.namespace };
      const source = await client.getTemplateV2(place, { signal });
      if (!signal.aborted) this.#edit(opening, source, false, permissions);
    };
    if (language) {
      try {
        return await start(language);
      } catch (error) {
        if (!(error instanceof HttpError && error.status === 404)) throw error;
      }
    }
    const { languages } = await client.getFeatures({ signal });
    if (signal.aborted) return;
    const onChoose = ({ identifier }: { identifier: string }) =>
      void this.#attempt(opening, () => start(identifier));
    const { startScreen } = await loadPart(() => import('./start-screen.ts'));
    if (signal.aborted) return;
    this.#show(() =>
      startScreen({
        target,
        languages,
        unknown: language,
        isReadOnly: this.#wishes.readOnly === true || permissions?.includes('write') === false,
        notices: opening.notices.view(),
        onChoose,
      }),
    );
    this.#isChoosing = true;
    opening.host.onReady?.({ exists: false, ...(permissions ? { permissions: [...permissions] } : {}) });
  }

  async #offerCopies(opening: Opening, draft: Draft | undefined): Promise<void> {
    const { copies, notices, signal } = opening;
    const left = await copies.left();
    if (signal.aborted || !left.length) return;
    const part = await loadPartOrNotify(notices, () => import('../draft/recovery.ts'));
    if (!part || signal.aborted) return;
    const recovery = new part.Recovery({
      copies,
      notices,
      current: () => this.#workspace?.source,
      restore: (source) => {
        // Without a draft and a template there is nothing open yet: the copy is what to open.
        if (!this.#workspace) this.#edit(opening, { ...source, contents: '', tests: [] }, false, undefined);
        this.#workspace?.restore(source);
      },
    });
    recovery.start(left, draft?.source ?? this.#workspace?.source);
  }

  #edit(
    opening: Opening,
    source: PluginSource,
    exists: boolean,
    permissions: readonly string[] | undefined,
  ): void {
    const { host, target } = opening;
    const report = () => {
      const { language, exists: isThere, permissions: known } = workspace;
      host.onReady?.({ language, exists: isThere, ...(known ? { permissions: [...known] } : {}) });
    };
    const workspace = new Workspace({
      ...opening,
      ...host,
      source,
      exists,
      permissions,
      isReadOnly: this.#wishes.readOnly ?? false,
      onDraw: (now) => this.draw(now),
      onPlugin: report,
    });
    this.#workspace = workspace;
    this.#show(() => workspace.view());
    if (exists && target.template && target.template !== source.lang)
      workspace.sayLanguageStays(target.template);
    // A frame must not take the focus from the page around it.
    if (document.hasFocus()) workspace.focus();
    if (!this.#loadsLater) loadLaterParts();
    this.#loadsLater = true;
    report();
  }

  /** Runs a step of opening; when it fails, says why, and offers to open again. */
  async #attempt({ target, tokenHolder, host, signal }: Opening, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) return;
      const failure = failureOf(error);
      const ended = failure === 'session' || failure === 'forbidden';
      this.#fail(() => ({
        ...openFailureWords(failure),
        plugin: target,
        action: ended
          ? undefined
          : {
              label: texts().common.tryAgain,
              run: () => void this.openPlugin(target, tokenHolder.token, host),
            },
      }));
    }
  }

  #fail(message: () => MessageOptions): void {
    this.showMessage(message);
    if (!this.#asked) return;
    this.#asked.failed = true;
    const { title, text } = message();
    this.#asked.host.onFail?.(`${title}. ${text}`);
  }

  #show(view: () => TemplateResult): void {
    // What the page shows before its scripts run is not of this making.
    if (!this.#isShowing) this.#options.root.replaceChildren();
    this.#isShowing = true;
    this.#view = view;
    this.#isChoosing = false;
    this.draw(true);
  }
}

/** How long a text waits for the languages and the panels, in ms: shown without, it would change its colours at once. */
const TYPING_HELP_WAIT = 100;

/** Loads the languages and the panels. Resolves when they are there, or after a moment: on a slow line the text comes first. */
function typingHelpSoon(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, TYPING_HELP_WAIT);
    // Without them a text can be edited; each text that is opened asks for them again.
    Promise.all([loadTypingHelp(), loadPanels()]).then(
      () => resolve(),
      () => resolve(),
    );
  });
}
