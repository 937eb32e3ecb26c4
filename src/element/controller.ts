import type { ReactiveController } from 'lit';
import { type Config, type RawConfig, missingAttributes, preloadUrl } from '../core/config.ts';
import { checkedEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError } from '../core/errors.ts';
import type { EditorSettings } from '../core/messages.ts';
import { type HeldToken, getToken } from '../core/token.ts';
import type { EditorFrame } from './frame.ts';
import { type HostMessage, Launch, type LaunchHost } from './launch.ts';
import { messageEvent } from './message-event.ts';
import { type EditorHost, PluginReporter, keyOf } from './plugin-reporter.ts';
import {
  type Requested,
  changedAttributes,
  watchedValues,
  needsToken,
  readRequested,
  requireConfig,
} from './requested.ts';
import { SettingsSync } from './settings.ts';
import { whenSettled } from './settled.ts';
import { EditorTabs } from './tabs.ts';
import { UnsavedWork } from './unsaved-work.ts';
import { onceNearViewport } from './viewport.ts';

let hasWarned = false;

/**
 * Launches what the attributes ask for: decides what a change of them leads to, and holds it back while it would cost
 * unsaved work. The latest change wins: it aborts what an earlier one has under way, whose result is never used.
 */
export class EditorController implements ReactiveController, LaunchHost {
  declare readonly reporter: PluginReporter;

  #host: EditorHost;
  #settings: SettingsSync;
  #work = new UnsavedWork({
    isGuarded: () => !this.#host.unguarded,
    canSave: () => !!this.#launch.connection?.canPost('save'),
    save: (timeout) => this.#launch.save(timeout),
    hasPending: () => this.#hasPendingChange || this.#hasPendingReload,
    confirmDiscard: (error) => this.reporter.confirmDiscard(error, readRequested(this.#host)),
  });
  #launch = new Launch(this);
  /** The values of the attributes that were last acted upon. */
  #handledValues: unknown[] = [];
  #tabs = new EditorTabs();
  #stopWatchingViewport: (() => void) | undefined;
  /** Whether the element has come near the viewport, or no longer has to. */
  #isNear = false;
  #isHydrating = false;
  /** The call of `close()` after which the element stays `idle`. */
  #closing: Promise<void> | undefined;
  /** Whether a change of the attributes waits until unsaved work is released. */
  #hasPendingChange = false;
  /** Whether a `reload()` waits for the same. */
  #hasPendingReload = false;
  /** The latest call of `reload()`. */
  #reloadPromise: Promise<void> | undefined;
  #reloadAbort = new AbortController();

  constructor(host: EditorHost) {
    this.#host = host;
    this.#settings = new SettingsSync(host, () => this.sendSettings());
    this.reporter = new PluginReporter(host, this.#work);
    host.addController(this);
  }

  get frame(): HTMLIFrameElement | undefined {
    return this.#launch.connection?.editorFrame.iframe;
  }

  hostConnected(): void {
    this.#handledValues = [];
    this.hostMoved();
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#isNear = false;
    this.#settings.unwatch();
    this.#tabs.closeWaiting();
    this.#reset();
  }

  /** The element may have another language at its new place. */
  hostMoved(): void {
    this.#settings.watch();
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
    this.#setFrameAttributes(this.#launch.connection?.editorFrame);
    const values = watchedValues(host);
    if (!values.every((value, i) => Object.is(value, this.#handledValues[i]))) {
      this.#applyOnceReleased();
      // Set last, because `#clear`, which may run on the way, empties it.
      this.#handledValues = values;
    }
    this.sendSettings();
  }

  /** Makes the change that the attributes ask for, once unsaved work allows it. */
  #applyOnceReleased(): void {
    const next = readRequested(this.#host);
    const changed = changedAttributes(next, this.reporter.openedConfig);
    // As text, an array with one name is that name.
    const isTemplateAlone = String(changed) === 'template';
    this.#hasPendingChange = false;
    if (isTemplateAlone && this.reporter.plugin?.exists) {
      this.reporter.openedConfig = next as Config;
      if (!hasWarned)
        console.warn('<plugin-editor>: template is for new plugins; this one keeps its language');
      hasWarned = true;
    } else if (changed.length) {
      this.#hasPendingChange = true;
      // Saving would create the plugin, and so fix the very language that is to change.
      const released = this.#work.release(!isTemplateAlone);
      if (released === true) return this.#applyNow(next);
      this.#settings.defer();
      if (released) {
        void released.then(
          (isReleased) => isReleased && this.#hasPendingChange && this.#applyNow(readRequested(this.#host)),
        );
      }
      return;
    } else {
      this.#applyNow(next);
    }
    this.#settings.stopDeferring();
  }

  /**
   * Makes the change at once.
   * @param token a token that was requested for it already
   */
  #applyNow(next: Requested, token?: HeldToken): void {
    this.#hasPendingChange = false;
    if (next instanceof Error) {
      this.#launch.stop();
      this.#clear();
      this.reporter.setState('error', next);
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
    const changed = changedAttributes(config, this.reporter.openedConfig);
    const withNewToken = !!token || needsToken(changed);
    if (!withNewToken && /loading|ready/.test(this.reporter.state) && !changed.length) {
      this.reporter.openedConfig = config;
      return;
    }
    if (this.#isAwaitingViewport()) return this.#becomeIdle(true);
    this.reporter.setDirty(false);
    this.reporter.openedConfig = config;
    this.#reloadAbort.abort();
    this.#hasPendingReload = false;
    this.#isNear = true;
    this.reporter.setState('loading');
    // A listener may have closed the element or started another launch.
    if (this.reporter.openedConfig === config && this.reporter.state === 'loading')
      this.#launch.start(config, withNewToken, token);
  }

  /** Whether the element is lazy and has not come near the viewport. */
  #isAwaitingViewport(): boolean {
    return !this.#isNear && /^lazy$/i.test((this.#host as RawConfig).loading as string);
  }

  /**
   * Makes the element `idle`.
   * @param canLaunch whether there is something to load. A lazy element then loads it when it comes near the viewport.
   */
  #becomeIdle(canLaunch: boolean): void {
    if (this.reporter.state !== 'idle') this.#reset();
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
    this.#hasPendingReload = !discard;
    let token: HeldToken | undefined;
    if (this.reporter.state === 'ready') {
      // The editor stays until there is a new token, and more work may become unsaved meanwhile.
      const release = async () => discard || (await this.#work.release(true));
      try {
        let isReleased = await release();
        // If the change that waits removes a required attribute, no token is needed.
        const needsNoToken = this.#hasPendingChange && missingAttributes(this.#host).length > 0;
        if (isReleased && !signal.aborted && !needsNoToken) {
          let config: Config;
          do {
            config = requireConfig(this.#host);
            token = await this.getToken(signal, config);
            isReleased = await release();
            // The attributes may have changed meanwhile, and then the token is for another plugin.
          } while (isReleased && needsToken(changedAttributes(readRequested(this.#host), config)));
        }
        if (!isReleased && !signal.aborted) return;
      } catch (error) {
        if (!signal.aborted) {
          this.#hasPendingReload = false;
          throw error;
        }
      }
    }
    if (!signal.aborted) {
      this.#restart(token);
    } else if (signal !== this.#reloadAbort.signal) {
      // A later call of `reload()` has replaced this one.
      return this.#reloadPromise;
    }
    await whenSettled(this.#host, this.reporter);
  }

  /** Ends what is open or under way, and launches what the attributes ask for. */
  #restart(token?: HeldToken): void {
    this.#launch.stop();
    this.#clear();
    this.#closing = undefined;
    this.#isNear = true;
    if (this.#host.isConnected) {
      const values = watchedValues(this.#host);
      this.#applyNow(readRequested(this.#host), token);
      this.#handledValues = values;
    }
    if (this.reporter.state === 'idle') requireConfig(this.#host);
  }

  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = this.#launch.close();
      this.#tabs.closeWaiting();
      this.#clear();
      this.reporter.setState('idle');
    }
    return this.#closing;
  }

  async renewToken(): Promise<void> {
    if (this.reporter.state !== 'ready')
      throw new PluginEditorError('config', 'No editor is open that a token could go to');
    if (!this.#launch.canDeliver) {
      throw new PluginEditorError('editor', 'The editor takes no new token while it runs; use reload()');
    }
    await this.#launch.renew();
  }

  async save(): Promise<void> {
    await this.#launch.save(this.reporter.openedConfig?.timeout ?? 0);
  }

  async openInNewTab(): Promise<void> {
    const config = requireConfig(this.#host);
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
    const changes = this.#settings.takeChanges();
    if (Object.keys(changes).length) this.#launch.post({ type: 'configure', ...changes });
  }

  takeAllSettings(): EditorSettings {
    return this.#settings.takeAll();
  }

  getToken(signal: AbortSignal, config = this.reporter.openedConfig as Config): Promise<HeldToken> {
    const { fetchToken, tokenHeaders } = this.#host;
    return getToken({ ...config, fetchToken, tokenHeaders }, { ...keyOf(config), signal });
  }

  /** The frame is no part of the template, because Lit's first rendering takes longer than everything before it. */
  onFrame(frame: EditorFrame): void {
    this.#setFrameAttributes(frame);
    this.#host.renderRoot.prepend(frame.iframe);
  }

  /** The frame is named after the plugin that is open, because a change may have to wait for unsaved work. */
  #setFrameAttributes(frame: EditorFrame | undefined): void {
    frame?.setAttributes(this.#host.frameAttributes(this.reporter.openedConfig?.fn));
  }

  onUnauthorized(): void {
    void this.close();
  }

  onMessage(message: HostMessage): void {
    if (message.type !== 'dirty') {
      this.#host.dispatchEvent(messageEvent(message, this.reporter.openedPlugin));
    } else {
      this.reporter.setDirty(message.dirty);
      if (!message.dirty) this.#runPending();
    }
  }

  /**
   * Goes on with the change or the reload that waited for unsaved work. While the editor is being asked to save, nothing is
   * done here, because the call that asked continues when the editor has answered.
   */
  #runPending(): void {
    if (this.#work.isReleasing) return;
    if (this.#hasPendingChange) {
      // The change that waits replaces the frame in any case.
      if (this.#hasPendingReload) this.#restart();
      // Saving may have created the plugin, and then a change of its template alone is no longer made.
      else this.#applyOnceReleased();
    } else if (this.#hasPendingReload) void this.reload().catch(() => {});
  }

  /** Clears all fields that are about an editor, which the caller has ended. */
  #clear(): void {
    this.#stopWatchingViewport?.();
    this.#stopWatchingViewport = undefined;
    this.reporter.setDirty(false);
    this.#reloadAbort.abort();
    this.#hasPendingChange = this.#hasPendingReload = false;
    this.reporter.openedConfig = undefined;
    this.#handledValues = [];
  }

  /** Ends what is open or under way. */
  #reset(): void {
    this.#launch.stop();
    this.#clear();
    this.reporter.setState('idle');
  }
}
