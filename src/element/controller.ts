import type { ReactiveController } from 'lit';
import { type Config, type RawConfig, missing, preloadUrl } from '../core/config.ts';
import { checkedEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError } from '../core/errors.ts';
import type { EditorSettings } from '../core/messages.ts';
import type { HeldToken } from '../core/token.ts';
import { type HostMessage, Launch, type LaunchHost } from './launch.ts';
import { messageEvent } from './message-event.ts';
import { type EditorHost, EditorReports } from './reports.ts';
import {
  type Requested,
  changedAttributes,
  followedValues,
  needsToken,
  readRequested,
  requireConfig,
} from './requested.ts';
import { SettingsSync } from './settings.ts';
import { whenSettled } from './settled.ts';
import { openTab } from './tab.ts';
import { UnsavedWork } from './unsaved-work.ts';
import { onceNearViewport } from './viewport.ts';

let warned = false;

/**
 * Follows the attributes: decides when to launch, what a change means and when it must wait, and reports what becomes of
 * it. The latest call wins: what an earlier one has under way is aborted, and an answer to it is never used.
 */
export class EditorController extends EditorReports implements ReactiveController, LaunchHost {
  protected readonly work = new UnsavedWork({
    isGuarded: () => !this.host.unguarded,
    canSave: () => !!this.#launch.connection?.has('save'),
    save: (timeout) => this.#launch.save(timeout),
    isAwaited: () => this.#changeWaits || this.#reloadWaits,
    confirmDiscard: (error) => this.confirmDiscard(error, this.#read()),
  });
  #launch = new Launch(this);
  #settings = new SettingsSync(this.host, () => this.sendSettings());
  /** The values of the attributes that were last acted upon. */
  #handled: unknown[] = [];
  #tabs = new AbortController();
  #stopWatching: (() => void) | undefined;
  #near = false;
  #hydrates = false;
  #closed: Promise<void> | undefined;
  /** A change that waits for unsaved work to be saved. */
  #changeWaits = false;
  /** A `reload()` that waits for the same. */
  #reloadWaits = false;
  /** The latest `reload()`, and what aborts it. */
  #reloading: Promise<void> | undefined;
  #reloadAbort = new AbortController();

  constructor(host: EditorHost) {
    super(host);
    host.addController(this);
  }

  get frame(): HTMLIFrameElement | undefined {
    return this.#launch.connection?.frame.element;
  }

  hostConnected(): void {
    this.#handled = [];
    this.hostMoved();
    this.host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#near = false;
    this.#settings.unwatch();
    this.#endTabs();
    this.#reset();
  }

  /** The element may have another language at its new place. */
  hostMoved(): void {
    this.#settings.watch();
    this.sendSettings();
  }

  /** A server renders the state `idle`, which is hydrated before anything changes it. */
  hostUpdate(): void {
    const host = this.host;
    this.#hydrates = !host.hasUpdated && !!host.renderRoot.firstChild;
    if (this.#hydrates) queueMicrotask(() => host.requestUpdate());
    else this.#syncAttributes();
  }

  /** Attributes are read again, because a listener may have changed one during the update. */
  hostUpdated(): void {
    if (!this.#hydrates) this.#syncAttributes();
  }

  /** Acts upon the attributes if they have changed. */
  #syncAttributes(): void {
    const host = this.host;
    if (this.#closed || !host.isConnected) return;
    this.#launch.connection?.frame.setAttributes(this.frameAttributes());
    const values = followedValues(host);
    if (!values.every((value, i) => Object.is(value, this.#handled[i]))) {
      this.#makeChange();
      // This comes last, because ending an editor on the way clears it.
      this.#handled = values;
    }
    this.sendSettings();
  }

  /** Makes the change that the attributes ask for, once unsaved work allows it. */
  #makeChange(): void {
    const next = this.#read();
    const changed = changedAttributes(next, this.config);
    const isTemplateAlone = String(changed) === 'template';
    this.#changeWaits = false;
    if (isTemplateAlone && this.plugin?.exists) {
      this.config = next as Config;
      if (!warned) console.warn('<plugin-editor>: template is for new plugins; this one keeps its language');
      warned = true;
    } else if (changed.length) {
      this.#changeWaits = true;
      // Saving would create the plugin, and so fix the very language that is to change.
      const released = this.work.release(!isTemplateAlone);
      if (released === true) return this.#apply(next);
      this.#settings.hold();
      if (released) void released.then((may) => may && this.#changeWaits && this.#apply(this.#read()));
      return;
    } else {
      this.#apply(next);
    }
    this.#settings.release();
  }

  #apply(next: Requested, token?: HeldToken): void {
    this.#changeWaits = false;
    if (next instanceof Error) {
      this.#launch.stop();
      this.#forget();
      this.setState('error', next);
    } else if (next) {
      this.#start(next, token);
    } else {
      const url = preloadUrl(this.host, document.baseURI);
      this.#idle(!!url);
      if (!url) this.#launch.stop();
      else if (!this.#isFar()) this.#launch.preload(url);
    }
  }

  #read(): Requested {
    return readRequested(this.host);
  }

  #start(config: Config, token?: HeldToken): void {
    const changed = changedAttributes(config, this.config);
    const fresh = !!token || needsToken(changed);
    if (!fresh && /loading|ready/.test(this.state) && !changed.length) {
      this.config = config;
      return;
    }
    if (this.#isFar()) return this.#idle(true);
    this.setDirty(false);
    this.config = config;
    this.#reloadAbort.abort();
    this.#reloadWaits = false;
    this.#near = true;
    this.setState('loading');
    // A listener may have closed the element or started another launch.
    if (this.config === config && this.state === 'loading') this.#launch.start(config, fresh, token);
  }

  /** Whether the element is lazy and has not come near the viewport. */
  #isFar(): boolean {
    return !this.#near && /^lazy$/i.test((this.host as RawConfig).loading as string);
  }

  /** Makes the element `idle`. If it waits for the viewport, it goes on when it comes near. */
  #idle(waits: boolean): void {
    if (this.state !== 'idle') this.#reset();
    if (waits && this.#isFar()) {
      this.#stopWatching ??= onceNearViewport(this.host, () => {
        this.#near = true;
        this.#handled = [];
        this.#syncAttributes();
      });
    }
  }

  /** Starts over with a new token, near the viewport or not. Settles when the element is no longer `loading`. */
  reload(discard = false): Promise<void> {
    this.#reloadAbort.abort();
    this.#reloadAbort = new AbortController();
    return (this.#reloading = this.#reload(discard, this.#reloadAbort.signal));
  }

  async #reload(discard: boolean, signal: AbortSignal): Promise<void> {
    this.#reloadWaits = !discard;
    let token: HeldToken | undefined;
    if (this.state === 'ready') {
      // The editor stays until there is a new token, and more work may become unsaved meanwhile.
      const isReleased = async () => discard || (await this.work.release(true));
      try {
        let may = await isReleased();
        // If the change that waits removes a required attribute, no token is needed.
        const wantsNothing = this.#changeWaits && missing(this.host).length > 0;
        if (may && !signal.aborted && !wantsNothing) {
          let config: Config;
          do {
            config = requireConfig(this.host);
            token = await this.getToken(signal, config);
            may = await isReleased();
            // The attributes may have changed meanwhile, and then the token is for another plugin.
          } while (may && needsToken(changedAttributes(this.#read(), config)));
        }
        if (!may && !signal.aborted) return;
      } catch (error) {
        if (!signal.aborted) {
          this.#reloadWaits = false;
          throw error;
        }
      }
    }
    if (!signal.aborted) {
      this.#restart(token);
    } else if (signal !== this.#reloadAbort.signal) {
      // A later call of `reload()` has replaced this one.
      return this.#reloading;
    }
    await whenSettled(this.host, this);
  }

  /** Drops whatever there is, and does what the attributes say. */
  #restart(token?: HeldToken): void {
    this.#launch.stop();
    this.#forget();
    this.#closed = undefined;
    this.#near = true;
    if (this.host.isConnected) {
      const values = followedValues(this.host);
      this.#apply(this.#read(), token);
      this.#handled = values;
    }
    if (this.state === 'idle') requireConfig(this.host);
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = this.#launch.close();
      this.#endTabs();
      this.#forget();
      this.setState('idle');
    }
    return this.#closed;
  }

  async renewToken(): Promise<void> {
    if (this.state !== 'ready')
      throw new PluginEditorError('config', 'No editor is open that a token could go to');
    if (!this.#launch.canDeliver) {
      throw new PluginEditorError('editor', 'The editor takes no new token while it runs; use reload()');
    }
    await this.#launch.renew();
  }

  async save(): Promise<void> {
    await this.#launch.save(this.config?.timeout ?? 0);
  }

  async openInNewTab(): Promise<void> {
    const config = requireConfig(this.host);
    if (config.tokenDelivery === 'message' || config.readOnly) {
      throw new PluginEditorError('config', 'A new tab needs token-delivery="url", and not read-only');
    }
    await openTab(async () => {
      const { token } = await this.getToken(this.#tabs.signal, config);
      return checkedEditorUrl({ ...config, token });
    });
  }

  /** Aborts tabs that still wait for their token, because the user may have signed out. */
  #endTabs(): void {
    this.#tabs.abort(new PluginEditorError('config', 'The element was closed or removed'));
    this.#tabs = new AbortController();
  }

  /** Tells a running editor of the settings that changed, where it can be told. */
  sendSettings(): void {
    if (!this.#launch.connection?.has('configure')) return;
    const changes = this.#settings.takeChanges();
    if (Object.keys(changes).length) this.#launch.post({ type: 'configure', ...changes });
  }

  openSettings(): EditorSettings {
    return this.#settings.open();
  }

  onRefused(): void {
    void this.close();
  }

  onMessage(message: HostMessage): void {
    if (message.type !== 'dirty') {
      this.host.dispatchEvent(messageEvent(message, this.openedPlugin()));
    } else {
      this.setDirty(message.dirty);
      if (!message.dirty) this.#resume();
    }
  }

  onHello(): void {
    this.setDirty(false);
    this.#resume();
  }

  /** Does what waited for unsaved work. While the editor is asked to save, that is done when it has answered. */
  #resume(): void {
    if (this.work.isReleasing) return;
    if (this.#changeWaits) {
      // The change that waits replaces the frame in any case.
      if (this.#reloadWaits) this.#restart();
      // Saving may have created the plugin, and then a change of its template alone is no longer made.
      else this.#makeChange();
    } else if (this.#reloadWaits) void this.reload().catch(() => {});
  }

  /** Clears what is known of an editor that the caller has ended. */
  #forget(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.setDirty(false);
    this.#reloadAbort.abort();
    this.#changeWaits = this.#reloadWaits = false;
    this.config = undefined;
    this.#handled = [];
  }

  #reset(): void {
    this.#launch.stop();
    this.#forget();
    this.setState('idle');
  }
}
