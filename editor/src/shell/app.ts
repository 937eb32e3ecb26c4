import { BuilderClient, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { type RenewToken, TokenHolder, bearer } from '../service/token-holder.ts';
import { type PluginTarget, checkTarget } from '../plugin/target.ts';
import { findBuilder } from '../service/builders.ts';
import { type Draft, DraftStore } from '../service/draft-store.ts';
import type { EarlyDraft } from './early-draft.ts';
import { failureOf } from '../service/failure.ts';
import { openFailureWords } from './open-failure-words.ts';
import { loadTypingHelp } from '../code/languages.ts';
import { loadLaterParts } from './later-parts.ts';
import { LocalCopies } from '../draft/local-copies.ts';
import { messageView, type MessageOptions, waitingView } from './message-view.ts';
import { Notices } from '../ui/notices.ts';
import { Recovery } from '../draft/recovery.ts';
import { startScreen } from './start-screen.ts';
import { Workspace, type WorkspaceEvents } from './workspace.ts';

/** Who had a plugin opened: what they hear of it, and what they can be asked for. */
export interface EditorHost extends WorkspaceEvents {
  /** It can be edited. */
  onReady?: () => void;
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

  constructor(options: EditorAppOptions) {
    this.#options = options;
  }

  /** The plugin that is being edited, if one is. */
  get workspace(): Workspace | undefined {
    return this.#workspace;
  }

  /** Shows that there is nothing to edit, and why. */
  showMessage(message: MessageOptions): void {
    this.#show(messageView(message));
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
    document.title = 'Plugin editor';
    this.showMessage({
      title: 'No plugin is open',
      text: 'The page around this editor says which one to open.',
    });
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
        this.#fail({
          title: 'This editor does not know that builder',
          text: `It was asked to open a plugin at ${target.builder}, and works with ${this.#options.builders.join(', ') || 'none'} only. Nothing was sent there.`,
          plugin: target,
        });
        return undefined;
      }
      // A token that no request can carry is no session that ended; it is said at once.
      bearer(tokenHolder.token);
      this.#key = JSON.stringify([builder, target.ident, target.namespace, target.fn]);
      const store = early ?? new DraftStore(builder, target, tokenHolder);
      const copies = new LocalCopies(builder, target);
      signal.addEventListener('abort', () => copies.close());
      return { target, host, tokenHolder, builder, store, copies, notices: new Notices(), signal };
    } catch (error) {
      const text = `${(error as Error).message}.`;
      this.#fail({ title: 'The plugin cannot be opened', text, plugin: target });
      return undefined;
    }
  }

  async #load(opening: Opening, early: Promise<Draft | undefined> | undefined): Promise<void> {
    this.#show(waitingView('Opening the plugin…', opening.target));
    await this.#attempt(opening, async () => {
      // Open before, and on its way to the builder still.
      await this.#ending.get(this.#key);
      const draft = await (early ?? opening.store.load(opening.signal));
      await this.#typingHelp;
      if (opening.signal.aborted) return;
      if (draft) this.#edit(opening, draft.source, true);
      else await this.#begin(opening, opening.target.template);
      // The builder has accepted the token for this plugin: only now may the page show what it kept of it.
      await this.#offerCopies(opening, draft);
    });
  }

  /** A plugin without a draft: from the template, or from one that the user chooses. */
  async #begin(opening: Opening, language: string | undefined): Promise<void> {
    const { tokenHolder, builder, target, signal } = opening;
    const client = new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token });
    const start = async (lang: string) => {
      const place = { language: lang, pluginName: target.fn, namespace: target.namespace };
      const source = await client.getTemplateV2(place, { signal });
      if (!signal.aborted) this.#edit(opening, source, false);
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
    const notices = opening.notices.element;
    this.#show(startScreen({ target, languages, unknown: language, notices, onChoose }));
    opening.host.onReady?.();
  }

  async #offerCopies(opening: Opening, draft: Draft | undefined): Promise<void> {
    const { copies, notices, signal } = opening;
    const recovery = new Recovery({
      copies,
      notices,
      current: () => this.#workspace?.source,
      restore: (source) => {
        // Without a draft and a template there is nothing open yet: the copy is what to open.
        if (!this.#workspace) this.#edit(opening, { ...source, contents: '', tests: [] }, false);
        this.#workspace?.restore(source);
      },
    });
    await recovery.start(draft?.source ?? this.#workspace?.source, signal);
  }

  #edit(opening: Opening, source: PluginSource, exists: boolean): void {
    const { host } = opening;
    this.#workspace = new Workspace({ ...opening, ...host, source, exists });
    this.#show(this.#workspace.element);
    // A frame must not take the focus from the page around it.
    if (document.hasFocus()) this.#workspace.focus();
    if (!this.#loadsLater) loadLaterParts();
    this.#loadsLater = true;
    host.onReady?.();
  }

  /** Runs a step of opening; when it fails, says why, and offers to open again. */
  async #attempt({ target, tokenHolder, host, signal }: Opening, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) return;
      const failure = failureOf(error);
      const again = {
        label: 'Try again',
        run: () => void this.openPlugin(target, tokenHolder.token, host),
      };
      const ended = failure === 'session' || failure === 'forbidden';
      this.#fail({ ...openFailureWords[failure], plugin: target, ...(ended ? {} : { action: again }) });
    }
  }

  #fail(message: MessageOptions): void {
    this.showMessage(message);
    if (!this.#asked) return;
    this.#asked.failed = true;
    this.#asked.host.onFail?.(`${message.title}. ${message.text}`);
  }

  #show(view: HTMLElement): void {
    this.#options.root.replaceChildren(view);
  }
}

/** How long a text waits for the languages, in ms: shown without, it would change its colours at once. */
const TYPING_HELP_WAIT = 100;

/** Loads the languages. Resolves when they are there, or after a moment: on a slow line the text comes first. */
function typingHelpSoon(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, TYPING_HELP_WAIT);
    // Without them a text can be edited; each text that is opened asks for them again.
    loadTypingHelp().then(
      () => resolve(),
      () => resolve(),
    );
  });
}
