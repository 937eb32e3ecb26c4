import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { type Config, DEFAULTS, type RawConfig, checkConfig, missing } from '../core/config.ts';
import { buildEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError, isPluginEditorError } from '../core/errors.ts';
import { type FetchToken, type HeldToken, type TokenHeaders, getToken, isLive } from '../core/token.ts';
import { PluginEditorErrorEvent, PluginEditorReadyEvent, PluginEditorStateEvent } from './events.ts';
import { EditorFrame, type FrameAttributes } from './frame.ts';
import { whenNear } from './viewport.ts';

/** `idle`: nothing to show; `loading`: token or frame under way; `ready`: shown; `error`: `error` says why not. */
export type PluginEditorState = 'idle' | 'loading' | 'ready' | 'error';

/** What a session needs of its element: attributes, read whenever they are needed, and a place to say its state. */
export interface SessionHost extends ReactiveControllerHost, HTMLElement, RawConfig {
  readonly frameAttributes: FrameAttributes;
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
  showState(state: PluginEditorState): void;
}

const NAMES = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];

/** A change of one of these is another plugin or another authority, and takes a new token. */
const TARGET = ['ident', 'namespace', 'fn', 'tokenEndpoint'] as const;

/** A change of one of these takes another frame; the token serves on. */
const ADDRESS = ['template', 'builder', 'editorUrl'] as const;

/** What else can be thrown between token and frame is an address that the token does not fit into. */
const known = (error: Error): PluginEditorError =>
  isPluginEditorError(error) ? error : new PluginEditorError('token-invalid', error.message);

/**
 * Goes from attributes to a running editor: config, token, address, frame. The latest call wins: what an earlier one
 * has under way is aborted, and an answer to it never used.
 */
export class Session implements ReactiveController {
  state: PluginEditorState = 'idle';
  error: PluginEditorError | undefined;
  frame: EditorFrame | undefined;

  #host: SessionHost;
  /** The attributes that were last acted upon. */
  #seen: unknown[] = [];
  #config: Config | undefined;
  #token: HeldToken | undefined;
  /** Aborts what is under way. */
  #run = new AbortController();
  #stopWatching: (() => void) | undefined;
  #near = false;
  #closed = false;

  constructor(host: SessionHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#seen = [];
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#near = false;
    this.#reset();
  }

  hostUpdate(): void {
    this.#follow();
  }

  /** Once more, for a listener that changed an attribute in the midst of the update. */
  hostUpdated(): void {
    this.#follow();
  }

  /** Does what the attributes now ask for, and nothing when they have not changed. */
  #follow(): void {
    if (this.#closed || !this.#host.isConnected) return;
    this.frame?.setAttributes(this.#host.frameAttributes);
    const raw = this.#host;
    const now = [!raw.fetchToken, ...NAMES.map((name) => raw[name])];
    if (now.every((value, i) => Object.is(value, this.#seen[i]))) return;
    this.#seen = now;
    if (missing(raw).length) {
      this.#reset();
    } else {
      try {
        this.#apply(checkConfig(raw, document.baseURI));
      } catch (error) {
        this.#reset();
        this.#setState('error', error as PluginEditorError);
      }
    }
  }

  /** Starts over with a new token, near the viewport or not. Settles when the element is no longer `loading`. */
  async reload(): Promise<void> {
    this.#closed = false;
    this.#near = true;
    this.#config = undefined;
    this.#seen = [];
    this.#follow();
    if (this.state === 'idle') this.#checked();
    await this.#settled();
  }

  close(): void {
    this.#closed = true;
    this.#reset();
  }

  /** Opens the editor in a tab of its own, with a token of its own, as the tab's will not be renewed. */
  async openInNewTab(): Promise<void> {
    const config = this.#checked();
    // Opened before the token is asked for: a browser allows it only while the click is fresh.
    let tab: Window | null = null;
    try {
      tab = window.open('about:blank', '_blank');
    } catch {
      // Firefox throws in a sandbox that allows no popups.
    }
    if (!tab)
      throw new PluginEditorError('popup-blocked', 'The browser blocked the new tab; call this from a click');
    tab.opener = null;
    try {
      const { token } = await this.#getToken(config, new AbortController().signal);
      tab.location.replace(buildEditorUrl({ ...config, token }));
    } catch (error) {
      tab.close();
      throw known(error as Error);
    }
  }

  #checked(): Config {
    const raw = this.#host;
    const lacks = missing(raw);
    if (lacks.length) throw new PluginEditorError('config', `<plugin-editor> lacks: ${lacks.join(', ')}`);
    return checkConfig(raw, document.baseURI);
  }

  #apply(config: Config): void {
    const old = this.#config;
    const differs = (names: readonly (keyof Config)[]) => names.some((name) => config[name] !== old?.[name]);
    this.#config = config;
    if (config.loading === 'lazy' && !this.#near) {
      this.#reset();
      this.#config = config;
      this.#stopWatching = whenNear(this.#host, () => this.#start(true));
    } else if (
      differs(TARGET) ||
      this.state === 'idle' ||
      this.state === 'error' ||
      // Without a frame the token is still under way, and what comes of it uses the new config.
      (differs(ADDRESS) && this.frame)
    ) {
      this.#start(differs(TARGET));
    }
  }

  #start(withNewToken: boolean): void {
    this.#stop();
    this.#near = true;
    if (withNewToken || (this.#token && !isLive(this.#token))) this.#token = undefined;
    void this.#open((this.#run = new AbortController()).signal);
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#setState('loading');
    try {
      const token = this.#token ?? (await this.#getToken(this.#config as Config, signal));
      // A listener to the change of state may have ended this run.
      signal.throwIfAborted();
      this.#token = token;
      this.#showFrame(token.token);
    } catch (error) {
      if (!signal.aborted) this.#fail(error as Error);
    }
  }

  async #getToken(config: Config, signal: AbortSignal): Promise<HeldToken> {
    const { fetchToken, tokenHeaders } = this.#host;
    const { ident, namespace, fn } = config;
    return getToken({ ...config, fetchToken, tokenHeaders }, { ident, namespace, fn, signal });
  }

  #showFrame(token: string): void {
    const config = this.#config as Config;
    this.frame = new EditorFrame({
      url: buildEditorUrl({ ...config, token }),
      timeout: config.timeout,
      attributes: this.#host.frameAttributes,
      onLoad: () => this.#setState('ready'),
      onFail: (error) => this.#fail(error),
    });
    this.#host.requestUpdate();
  }

  #fail(error: Error): void {
    this.#stop();
    this.#setState('error', known(error));
  }

  /** Ends everything under way. */
  #stop(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#run.abort();
    this.frame?.dispose();
    this.frame = undefined;
    this.#host.requestUpdate();
  }

  #reset(): void {
    this.#stop();
    this.#config = this.#token = undefined;
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
    if (this.state !== state) return;
    if (error) host.dispatchEvent(new PluginEditorErrorEvent({ error }));
    if (state === 'ready' && previous !== state)
      host.dispatchEvent(new PluginEditorReadyEvent({ confirmed: false }));
  }

  #settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.state === 'loading') return;
        this.#host.removeEventListener('plugin-editor-state', check);
        if (this.error) reject(this.error);
        else resolve();
      };
      this.#host.addEventListener('plugin-editor-state', check);
      check();
    });
  }
}
