import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { type Config, DEFAULTS, type RawConfig, checkConfig, missing, preloadUrl } from '../core/config.ts';
import { buildEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError } from '../core/errors.ts';
import { type FetchToken, type HeldToken, type TokenHeaders, getToken } from '../core/token.ts';
import type { PluginMessage } from './conversation.ts';
import {
  type Plugin,
  PluginEditorDirtyEvent,
  PluginEditorDiscardEvent,
  PluginEditorErrorEvent,
  PluginEditorExpiringEvent,
  PluginEditorReadyEvent,
  PluginEditorStateEvent,
} from './events.ts';
import type { FrameAttributes } from './frame.ts';
import { Launch, type LaunchHost } from './launch.ts';
import { type EventMessage, messageEvent } from './message-event.ts';
import type { PluginEditorState } from './state.ts';
import { whenSettled } from './settled.ts';
import { openTab } from './tab.ts';
import { UnsavedWork } from './unsaved-work.ts';
import { whenNear } from './viewport.ts';

/** What a session needs of its element: attributes, read whenever they are needed, and a place to say its state. */
export interface SessionHost extends ReactiveControllerHost, HTMLElement, RawConfig {
  frameAttributes(fn: string | undefined): FrameAttributes;
  readonly hasUpdated: boolean;
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly unguarded: boolean;
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
  showState(state: PluginEditorState): void;
}

const NAMES = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];

/** A change of one of these is another plugin or another authority, and takes a new token. */
const TARGET = ['ident', 'namespace', 'fn', 'tokenEndpoint'] as const;

/** A change of one of these takes another frame, or a word to the editor; the token serves on. */
const ADDRESS = ['template', 'builder', 'editorUrl', 'tokenDelivery'] as const;

/**
 * Follows the attributes: decides when to launch, what a change means, and when to wait, and says what becomes of it.
 * The latest call wins: what an earlier one has under way is aborted, and an answer to it never used.
 */
export class Session implements ReactiveController, LaunchHost {
  state: PluginEditorState = 'idle';
  declare error: PluginEditorError | undefined;

  #host: SessionHost;
  #launch: Launch;
  #work: UnsavedWork;
  /** The attributes that were last acted upon. */
  #seen: unknown[] = [];
  #config: Config | undefined;
  #tabs = new AbortController();
  #stopWatching: (() => void) | undefined;
  #near = false;
  #hydrates = false;
  #closed: Promise<void> | undefined;
  /** A `reload()` that waits for unsaved work to be saved. */
  #reloadLater = false;
  #confirmed = false;

  constructor(host: SessionHost) {
    this.#host = host;
    host.addController(this);
    this.#work = new UnsavedWork(() => !host.unguarded);
    this.#launch = new Launch(this);
  }

  get frame(): HTMLIFrameElement | undefined {
    return this.#launch.frame?.element;
  }

  get dirty(): boolean {
    return this.#work.dirty;
  }

  hostConnected(): void {
    this.#seen = [];
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#near = false;
    this.#endTabs();
    this.#reset();
  }

  /** What a server rendered is `idle`, and is taken over as that before anything is done. */
  hostUpdate(): void {
    const host = this.#host;
    this.#hydrates = !host.hasUpdated && !!host.renderRoot.firstChild;
    if (this.#hydrates) queueMicrotask(() => host.requestUpdate());
    else this.#follow();
  }

  /** Once more, for a listener that changed an attribute in the midst of the update. */
  hostUpdated(): void {
    if (!this.#hydrates) this.#follow();
  }

  /** Does what the attributes now ask for, and nothing when they have not changed. */
  #follow(): void {
    const host = this.#host;
    if (this.#closed || !host.isConnected) return;
    this.#launch.frame?.setAttributes(this.frameAttributes());
    const now = [!host.fetchToken, ...NAMES.map((name) => host[name])];
    if (now.every((value, i) => Object.is(value, this.#seen[i]))) return;
    const next = this.#read();
    if (!this.#drops(next) || this.#mayDiscard()) this.#obey(next);
    this.#seen = now;
  }

  #obey(next: Config | PluginEditorError | undefined): void {
    if (next instanceof Error) {
      this.#launch.stop();
      this.#forget();
      this.#setState('error', next);
    } else if (next) {
      this.#apply(next);
    } else {
      const url = preloadUrl(this.#host, document.baseURI);
      this.#idle(!!url);
      if (!url) this.#launch.stop();
      else if (!this.#isFar()) this.#launch.preload(url);
    }
  }

  /** What the attributes say: a config, why they are none, or nothing as long as something is missing. */
  #read(): Config | PluginEditorError | undefined {
    if (missing(this.#host).length) return undefined;
    try {
      return checkConfig(this.#host, document.baseURI);
    } catch (error) {
      return error as PluginEditorError;
    }
  }

  #differs(next: Config, names: readonly (keyof Config)[]): boolean {
    return names.some((name) => next[name] !== this.#config?.[name]);
  }

  /** Whether that would end what is open. */
  #drops(next: Config | PluginEditorError | undefined): boolean {
    return !next || next instanceof Error || this.#differs(next, [...TARGET, ...ADDRESS]);
  }

  /** Whether there is no unsaved work, or the page lets it go. */
  #mayDiscard(): boolean {
    return !this.dirty || this.#host.dispatchEvent(new PluginEditorDiscardEvent(this.#plugin()));
  }

  #apply(config: Config): void {
    const fresh = this.#differs(config, TARGET);
    if (!fresh && /loading|ready/.test(this.state) && !this.#differs(config, ADDRESS)) {
      this.#config = config;
      return;
    }
    if (this.#isFar()) return this.#idle(true);
    this.#setDirty(false);
    this.#config = config;
    this.#reloadLater = this.#confirmed = false;
    this.#near = true;
    this.#setState('loading');
    // A listener may have ended it, or started another.
    if (this.#config === config && this.state === 'loading') this.#launch.start(config, fresh);
  }

  /** Whether the element is lazy and has not come near the viewport. */
  #isFar(): boolean {
    return !this.#near && /^lazy$/i.test(this.#host.loading as string);
  }

  /** Shows nothing; with something to do, an element that is lazy goes on when it comes near the viewport. */
  #idle(waits: boolean): void {
    if (this.state !== 'idle') this.#reset();
    if (waits && this.#isFar()) {
      this.#stopWatching ??= whenNear(this.#host, () => {
        this.#near = true;
        this.#seen = [];
        this.#follow();
      });
    }
  }

  /** Starts over with a new token, near the viewport or not. Settles when the element is no longer `loading`. */
  async reload(discard?: boolean): Promise<void> {
    this.#reloadLater = !discard && !this.#mayDiscard();
    if (!this.#reloadLater) {
      this.#launch.stop();
      this.#forget();
      this.#closed = undefined;
      this.#near = true;
      this.#follow();
      if (this.state === 'idle') this.#checked();
    }
    await whenSettled(this.#host, this);
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = this.#launch.close();
      this.#endTabs();
      this.#forget();
      this.#setState('idle');
    }
    return this.#closed;
  }

  async renewToken(): Promise<void> {
    if (this.state !== 'ready')
      throw new PluginEditorError('config', 'No editor is open that a token could go to');
    if (!this.#launch.speaks) {
      throw new PluginEditorError('editor', 'The editor takes no new token while it runs; use reload()');
    }
    await this.#launch.renew();
  }

  async openInNewTab(): Promise<void> {
    const config = this.#checked();
    if (config.tokenDelivery === 'message') {
      throw new PluginEditorError('config', 'A new tab needs token-delivery="url"');
    }
    await openTab(async () => {
      const { token } = await this.getToken(this.#tabs.signal, config);
      return buildEditorUrl({ ...config, token });
    });
  }

  /** A tab that still waits for its token gets none: its user may have signed out. */
  #endTabs(): void {
    this.#tabs.abort(new PluginEditorError('config', 'The element was closed or removed'));
    this.#tabs = new AbortController();
  }

  #checked(): Config {
    const lacks = missing(this.#host);
    if (lacks.length) throw new PluginEditorError('config', `<plugin-editor> lacks: ${lacks.join(', ')}`);
    return checkConfig(this.#host, document.baseURI);
  }

  /** Named after the plugin that is open: a change may have to wait for unsaved work. */
  frameAttributes(): FrameAttributes {
    return this.#host.frameAttributes(this.#config?.fn);
  }

  getToken(signal: AbortSignal, config = this.#config as Config): Promise<HeldToken> {
    const { fetchToken, tokenHeaders } = this.#host;
    return getToken({ ...config, fetchToken, tokenHeaders }, { ...pluginOf(config), signal });
  }

  /** Not by way of the template, whose first rendering takes longer than all that comes before it. */
  onFrame(frame: HTMLIFrameElement): void {
    this.#host.renderRoot.prepend(frame);
  }

  onReady(confirmed: boolean): void {
    if (this.state === 'ready' && (!confirmed || this.#confirmed)) return;
    this.#confirmed = confirmed;
    this.#setState('ready');
    if (this.state === 'ready') this.#host.dispatchEvent(new PluginEditorReadyEvent({ confirmed }));
  }

  onFail(error: PluginEditorError): void {
    // A preload that failed is tried again when there is a plugin to open.
    if (this.state === 'idle') return;
    this.#setDirty(false);
    this.#setState('error', error);
  }

  onExpiring(expiresAt: Date, error?: PluginEditorError): void {
    this.#host.dispatchEvent(new PluginEditorExpiringEvent({ expiresAt, ...(error && { error }) }));
  }

  onRefused(): void {
    void this.close();
  }

  onMessage(message: EventMessage | Extract<PluginMessage, { type: 'dirty' }>): void {
    if (message.type !== 'dirty') {
      this.#host.dispatchEvent(messageEvent(message, this.#plugin()));
    } else if (message.dirty) {
      this.#setDirty(true);
    } else {
      this.onClean();
    }
  }

  /** Nothing is unsaved: what waited for that is done now. */
  onClean(): void {
    this.#setDirty(false);
    if (this.#reloadLater) void this.reload(true).catch(() => {});
    this.#seen = [];
    this.#follow();
  }

  #setDirty(dirty: boolean): void {
    if (dirty === this.dirty) return;
    this.#work.set(dirty);
    this.#host.dispatchEvent(new PluginEditorDirtyEvent({ ...this.#plugin(), dirty }));
  }

  #plugin(): Plugin {
    return pluginOf(this.#config as Config);
  }

  /** Forgets what was open and seen; who calls this has ended it. */
  #forget(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#setDirty(false);
    this.#reloadLater = this.#confirmed = false;
    this.#config = undefined;
    this.#seen = [];
  }

  #reset(): void {
    this.#launch.stop();
    this.#forget();
    this.#setState('idle');
  }

  #setState(state: PluginEditorState, error?: PluginEditorError): void {
    const { state: previous } = this;
    const host = this.#host;
    this.error = error;
    if (state !== previous) {
      this.state = state;
      host.showState(state);
      host.dispatchEvent(new PluginEditorStateEvent({ state, previous }));
    }
    // A listener may have changed it again.
    if (error && this.error === error) host.dispatchEvent(new PluginEditorErrorEvent({ error }));
  }
}

const pluginOf = ({ ident, namespace, fn }: Config): Plugin => ({ ident, namespace, fn });
