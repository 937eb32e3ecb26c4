import type { ReactiveController } from 'lit';
import {
  type Config,
  type ConfigResult,
  changedAttributes,
  missingAttributes,
  needsToken,
  preloadUrl,
  readConfig,
  requireConfig,
  watchedValues,
} from '../core/config.ts';
import { checkedEditorUrl } from '../core/url.ts';
import { PluginEditorError } from '../core/errors.ts';
import { type FetchToken, type HeldToken, getToken } from '../core/token.ts';
import type { EditorFrame } from './connection.ts';
import { ElementState, type WorkMessage, keyOf } from './element-state.ts';
import { Launch } from './launch.ts';
import type { PluginEditorElement } from './plugin-editor.ts';
import { SettingsSync } from './settings.ts';
import { EditorTabs } from './tabs.ts';
import { UnsavedWork } from './unsaved-work.ts';

let hasWarned = false;

/**
 * Launches what the attributes ask for: decides what a change of them leads to, and holds it back while it would cost
 * unsaved work. The latest change wins: it aborts the earlier ones, whose results are never used.
 */
export class EditorController implements ReactiveController {
  declare readonly shown: ElementState;
  declare readonly settings: SettingsSync;

  #host: PluginEditorElement;
  #work: UnsavedWork;
  #launch = new Launch(this);
  /** The values of the attributes that were last acted upon. */
  #handledValues: unknown[] = [];
  /** The last function that the page gave. */
  #fetchToken: FetchToken | undefined;
  #tabs = new EditorTabs();
  #stopWatchingViewport: (() => void) | undefined;
  /** Whether the element has come near the viewport, or no longer has to. */
  #isNear = false;
  #isHydrating = false;
  /** The call of `close()` after which the element stays `idle`. */
  #closing: Promise<void> | undefined;
  /** The latest call of `reload()`, unless it has resolved because unsaved work holds it back. */
  #reloadPromise: Promise<void> | undefined;
  #reloadAbort = new AbortController();

  constructor(host: PluginEditorElement) {
    this.#host = host;
    this.settings = new SettingsSync(host, () => this.sendSettings());
    this.shown = new ElementState(host);
    this.#work = new UnsavedWork(host, this.shown, this.#launch);
    host.addController(this);
  }

  get frame(): HTMLIFrameElement | undefined {
    return this.#launch.connection?.editorFrame.iframe;
  }

  /** The page's assistant, unchecked. */
  get assistant(): unknown {
    return this.#host.assistant;
  }

  hostConnected(): void {
    this.#handledValues = [];
    this.hostMoved();
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#isNear = false;
    this.settings.unwatch();
    this.#tabs.closeWaiting();
    this.#reset();
  }

  /** The element may have another language at its new place. */
  hostMoved(): void {
    this.settings.watch();
    this.sendSettings();
  }

  /** A server renders the state `idle`, which is hydrated before anything changes it. */
  hostUpdate(): void {
    const host = this.#host;
    this.#isHydrating = !host.hasUpdated && !!host.renderRoot.firstChild;
    if (this.#isHydrating) queueMicrotask(() => host.requestUpdate());
    else this.#syncAttributes();
  }

  /** Attributes are read again, because a listener may have changed one during the update. */
  hostUpdated(): void {
    if (!this.#isHydrating) this.#syncAttributes();
  }

  /** Acts upon the attributes if they have changed. */
  #syncAttributes(): void {
    const host = this.#host;
    if (this.#closing || !host.isConnected) return;
    this.#fetchToken = host.fetchToken ?? this.#fetchToken;
    this.#setFrameAttributes(this.#launch.connection?.editorFrame);
    if (!host.assistant) this.#launch.assistantCalls.end('assistant-missing');
    const values = watchedValues(host);
    if (!values.every((value, i) => Object.is(value, this.#handledValues[i]))) {
      this.#handledValues = values;
      this.#applyOnceReleased();
    }
    this.sendSettings();
  }

  /** Reads what the attributes ask for. */
  #read(): ConfigResult {
    return readConfig(this.#host, document.baseURI);
  }

  /** Makes the change that the attributes ask for, once unsaved work allows it. */
  #applyOnceReleased(): void {
    const next = this.#read();
    const changed = changedAttributes(next, this.shown.config);
    // As text, an array with one name is that name.
    const isTemplateAlone = String(changed) === 'template';
    this.#work.pending.delete('change');
    if (isTemplateAlone && this.shown.plugin?.exists) {
      this.shown.config = next as Config;
      if (!hasWarned)
        console.warn('<plugin-editor>: template is for new plugins; this one keeps its language');
      hasWarned = true;
    } else if (changed.length) {
      this.#work.pending.add('change');
      // Saving would create the plugin, and so fix the very language that is to change.
      const released = !this.shown.dirty || this.#work.release(!isTemplateAlone);
      if (released === true) return this.#applyNow(next);
      this.settings.defer();
      if (released) {
        void released.then(
          (isReleased) => isReleased && this.#work.pending.has('change') && this.#applyNow(this.#read()),
        );
      }
      return;
    } else {
      this.#applyNow(next);
    }
    this.settings.stopDeferring();
  }

  /**
   * Makes the change at once.
   * @param token a token that was requested for it already
   */
  #applyNow(next: ConfigResult, token?: HeldToken): void {
    this.#work.pending.delete('change');
    if (next instanceof Error) {
      this.#launch.stop();
      this.#clear();
      this.shown.setState('error', next);
    } else if (next) {
      this.#start(next, token);
    } else {
      const url = preloadUrl(this.#host, document.baseURI);
      this.#becomeIdle(!!url);
      if (!url) this.#launch.stop();
      else if (!this.#isAwaitingViewport()) this.#launch.preload(url);
    }
  }

  /** Launches a config, unless it is shown or loading already. */
  #start(config: Config, token?: HeldToken): void {
    const changed = changedAttributes(config, this.shown.config);
    const withNewToken = !!token || needsToken(changed);
    if (!withNewToken && /loading|ready/.test(this.shown.state) && !changed.length) {
      this.shown.config = config;
      return;
    }
    if (this.#isAwaitingViewport()) return this.#becomeIdle(true);
    this.shown.setDirty(false);
    this.shown.config = config;
    this.#reloadAbort.abort();
    this.#work.pending.delete('reload');
    this.#isNear = true;
    this.shown.setState('loading');
    // A listener may have closed the element or started another launch.
    if (this.shown.config === config && this.shown.state === 'loading')
      this.#launch.start(config, withNewToken, token);
  }

  /** Whether the element is lazy and has not come near the viewport. */
  #isAwaitingViewport(): boolean {
    return !this.#isNear && /^lazy$/i.test(this.#host.loading as string);
  }

  /**
   * Makes the element `idle`.
   * @param canLaunch whether there is something to load. A lazy element then loads it when it comes near the viewport.
   */
  #becomeIdle(canLaunch: boolean): void {
    if (this.shown.state !== 'idle') this.#reset();
    if (canLaunch && this.#isAwaitingViewport()) {
      this.#stopWatchingViewport ??= onceNearViewport(this.#host, () => {
        this.#isNear = true;
        this.#handledValues = [];
        this.#syncAttributes();
      });
    }
  }

  /** Starts over with a new token, near the viewport or not. Settles when the element is no longer `loading`. */
  reload(discard = false): Promise<void> {
    this.#reloadAbort.abort();
    this.#reloadAbort = new AbortController();
    return (this.#reloadPromise = this.#reload(discard, this.#reloadAbort.signal));
  }

  async #reload(discard: boolean, signal: AbortSignal): Promise<void> {
    if (discard) this.#work.pending.delete('reload');
    else this.#work.pending.add('reload');
    let token: HeldToken | undefined;
    if (this.shown.state === 'ready') {
      // The editor stays until there is a new token, and more work may become unsaved meanwhile.
      const release = async () => discard || !this.shown.dirty || (await this.#work.release(true));
      try {
        let isReleased = await release();
        // If the change that waits removes a required attribute, no token is needed.
        const needsNoToken = this.#work.pending.has('change') && missingAttributes(this.#host).length > 0;
        if (isReleased && !signal.aborted && !needsNoToken) {
          let config: Config;
          do {
            config = requireConfig(this.#host, document.baseURI);
            token = await this.getToken(signal, config);
            isReleased = await release();
            // The attributes may have changed meanwhile, and then the token is for another plugin.
          } while (isReleased && needsToken(changedAttributes(this.#read(), config)));
        }
        if (!isReleased && !signal.aborted) {
          this.#reloadPromise = undefined;
          return;
        }
      } catch (error) {
        if (!signal.aborted) {
          this.#work.pending.delete('reload');
          this.shown.reportError(error as PluginEditorError);
          throw error;
        }
      }
    }
    if (!signal.aborted) {
      this.#restart(token);
      if (this.shown.state === 'idle') requireConfig(this.#host, document.baseURI);
    } else if (signal !== this.#reloadAbort.signal) {
      // A later call of `reload()` has replaced this one.
      return this.#reloadPromise;
    }
    await this.shown.settled();
  }

  /** Ends what is open or loading, and launches what the attributes ask for. */
  #restart(token?: HeldToken): void {
    this.#launch.stop();
    this.#clear();
    this.#closing = undefined;
    this.#isNear = true;
    if (this.#host.isConnected) {
      this.#handledValues = watchedValues(this.#host);
      this.#applyNow(this.#read(), token);
    }
  }

  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = this.#launch.close();
      this.#tabs.closeWaiting();
      this.#clear();
      this.shown.setState('idle');
    }
    return this.#closing;
  }

  async renewToken(): Promise<void> {
    if (this.shown.state !== 'ready')
      throw new PluginEditorError('config', 'No editor is open that a token could go to');
    if (!this.#launch.canDeliver) {
      throw new PluginEditorError('editor', 'The editor takes no new token while it runs; use reload()');
    }
    await this.#launch.tokens.renew();
  }

  async save(): Promise<void> {
    try {
      await this.#launch.save(this.shown.config?.timeout ?? 0);
    } finally {
      // Not here, where an error of the change would be that of saving.
      queueMicrotask(() => this.#runPending());
    }
  }

  async openInNewTab(): Promise<void> {
    const config = requireConfig(this.#host, document.baseURI);
    if (config.tokenDelivery === 'message' || config.readOnly) {
      throw new PluginEditorError('config', 'A new tab needs token-delivery="url", and not read-only');
    }
    await this.#tabs.open(async (signal) => {
      const { token } = await this.getToken(signal, config);
      return checkedEditorUrl({ ...config, token });
    });
  }

  /** Sends the settings that changed to a running editor, where it takes them. */
  sendSettings(): void {
    if (!this.#launch.connection?.canPost('configure')) return;
    const changes = this.settings.takeChanges();
    if (Object.keys(changes).length) this.#launch.post({ type: 'configure', ...changes });
  }

  /** Gets a new token, by default for the plugin that is shown. */
  getToken(signal: AbortSignal, config = this.shown.config as Config): Promise<HeldToken> {
    const { tokenHeaders } = this.#host;
    // The page may have removed its function by a change that waits, and then the config has no endpoint.
    const fetchToken = this.#host.fetchToken ?? (config.tokenEndpoint ? undefined : this.#fetchToken);
    return getToken({ ...config, fetchToken, tokenHeaders }, { ...keyOf(config), signal });
  }

  /** Puts a new frame into the page. It is no part of the template, because Lit's first rendering takes longer than everything before it. */
  onFrame(frame: EditorFrame): void {
    this.#setFrameAttributes(frame);
    this.#host.renderRoot.prepend(frame.iframe);
  }

  /** The frame is named after the plugin that is open, because a change may have to wait for unsaved work. */
  #setFrameAttributes(frame: EditorFrame | undefined): void {
    frame?.setAttributes(this.#host.frameAttributes(this.shown.config?.fn));
  }

  /** Handles a message about the work on the plugin. That work is no longer `dirty` each time that an editor greets. */
  onMessage(message: WorkMessage): void {
    this.shown.reportWork(message);
    if (message.type === 'dirty' && !message.dirty) this.#runPending();
  }

  /**
   * Goes on with the change or the reload that waited for unsaved work. While the editor is being asked to save, nothing is
   * done here, because the call that asked continues when the editor has answered.
   */
  #runPending(): void {
    if (this.#work.isReleasing || this.#launch.connection?.isSaving || this.shown.dirty) return;
    if (this.#work.pending.has('change')) {
      // The change that waits replaces the frame in any case.
      if (this.#work.pending.has('reload')) this.#restart();
      // Saving may have created the plugin, and then a change of only its template is no longer made.
      else this.#applyOnceReleased();
    } else if (this.#work.pending.has('reload') && !this.#reloadPromise) void this.reload().catch(() => {});
  }

  /** Clears all fields that are about an editor, which the caller has ended. */
  #clear(): void {
    this.#stopWatchingViewport?.();
    this.#stopWatchingViewport = undefined;
    this.shown.setDirty(false);
    this.#reloadAbort.abort();
    this.#work.pending.clear();
    this.shown.config = undefined;
  }

  /** Ends what is open or loading. */
  #reset(): void {
    this.#launch.stop();
    this.#clear();
    this.shown.setState('idle');
  }
}

/**
 * How far outside the viewport an element may be and still count as near. Both margins below apply to the viewport, so
 * together they are about half a screen.
 */
const MARGIN = '25%';

/**
 * Calls back once, as soon as the element comes near the viewport. The frame's own `loading=lazy` would not do: the token
 * would be requested long before the frame loads.
 * @returns a function that stops watching
 */
function onceNearViewport(element: Element, callback: () => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      callback();
    },
    { rootMargin: MARGIN, scrollMargin: MARGIN },
  );
  observer.observe(element);
  return () => observer.disconnect();
}
