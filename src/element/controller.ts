import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { type AttributeName, namesWith } from '../core/attributes.ts';
import { type Config, type RawConfig, checkConfig, missing, preloadUrl } from '../core/config.ts';
import { checkedEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError } from '../core/errors.ts';
import type { EditorSettings, PluginDetails } from '../core/messages.ts';
import { type FetchToken, type HeldToken, type TokenHeaders, getToken } from '../core/token.ts';
import {
  type Plugin,
  PluginEditorDirtyEvent,
  PluginEditorDiscardEvent,
  PluginEditorExpiringEvent,
  PluginEditorReadyEvent,
} from './events.ts';
import type { FrameAttributes } from './frame.ts';
import { type HostMessage, Launch, type LaunchHost } from './launch.ts';
import { messageEvent } from './message-event.ts';
import { type SettingsHost, SettingsSync } from './settings.ts';
import { EditorStatus, type StatusHost } from './status.ts';
import { whenSettled } from './settled.ts';
import { openTab } from './tab.ts';
import { UnsavedWork } from './unsaved-work.ts';
import { onceNearViewport } from './viewport.ts';

/** What the controller needs of its element: attributes, read whenever they are needed, and a place to show its state. */
export interface EditorHost
  extends StatusHost, ReactiveControllerHost, SettingsHost, Omit<RawConfig, keyof SettingsHost> {
  frameAttributes(fn: string | undefined): FrameAttributes;
  readonly hasUpdated: boolean;
  readonly unguarded: boolean;
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
}

/** A change of one of these takes a new token. */
const TOKEN = namesWith('token');

/** A change of one of these ends what is open. */
const RESTARTING = [...TOKEN, ...namesWith('frame', 'open')];

/** A change of one of these is acted upon here. */
const FOLLOWED = [...RESTARTING, ...namesWith('later')];

let warned = false;

/**
 * Follows the attributes: decides when to launch, what a change means and when it must wait, and reports what becomes of
 * it. The latest call wins: what an earlier one has under way is aborted, and an answer to it is never used.
 */
export class EditorController extends EditorStatus implements ReactiveController, LaunchHost {
  #host: EditorHost;
  #launch: Launch;
  #work: UnsavedWork;
  #settings: SettingsSync;
  /** The values of the attributes that were last acted upon. */
  #handled: unknown[] = [];
  /** What is shown or loading. */
  #config: Config | undefined;
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
    this.#host = host;
    host.addController(this);
    this.#work = new UnsavedWork({
      isGuarded: () => !host.unguarded,
      canSave: () => !!this.#launch.connection?.has('save'),
      save: (timeout) => this.#launch.save(timeout),
      isAwaited: () => this.#changeWaits || this.#reloadWaits,
      confirmDiscard: (error) => this.#confirmDiscard(error),
    });
    this.#launch = new Launch(this);
    this.#settings = new SettingsSync(host, () => this.sendSettings());
  }

  get frame(): HTMLIFrameElement | undefined {
    return this.#launch.connection?.frame.element;
  }

  get dirty(): boolean {
    return this.#work.dirty;
  }

  hostConnected(): void {
    this.#handled = [];
    this.hostMoved();
    this.#host.requestUpdate();
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

  /** What a server rendered is `idle`. It is taken over like that before anything is done. */
  hostUpdate(): void {
    const host = this.#host;
    this.#hydrates = !host.hasUpdated && !!host.renderRoot.firstChild;
    if (this.#hydrates) queueMicrotask(() => host.requestUpdate());
    else this.#syncAttributes();
  }

  /** Once more, because a listener may have changed an attribute during the update. */
  hostUpdated(): void {
    if (!this.#hydrates) this.#syncAttributes();
  }

  /** Does what the attributes now ask for, and nothing when they have not changed. */
  #syncAttributes(): void {
    const host = this.#host;
    if (this.#closed || !host.isConnected) return;
    this.#launch.connection?.frame.setAttributes(this.frameAttributes());
    const values = this.#values();
    if (!values.every((value, i) => Object.is(value, this.#handled[i]))) {
      this.#makeChange();
      // Last, because what ends an editor on the way forgets what was handled.
      this.#handled = values;
    }
    this.sendSettings();
  }

  #values(): unknown[] {
    const host: RawConfig = this.#host;
    return [!host.fetchToken, ...FOLLOWED.map((name) => host[name])];
  }

  /** Makes the change that the attributes ask for, once unsaved work allows it. */
  #makeChange(): void {
    const next = this.#read();
    const changed = this.#changed(next);
    const isTemplateAlone = String(changed) === 'template';
    this.#changeWaits = false;
    if (isTemplateAlone && this.plugin?.exists) {
      this.#config = next as Config;
      if (!warned) console.warn('<plugin-editor>: template is for new plugins; this one keeps its language');
      warned = true;
    } else if (changed.length) {
      this.#changeWaits = true;
      // Saving a plugin that does not exist yet would fix the language that it is to lose.
      const released = this.#work.release(!isTemplateAlone);
      if (released === true) return this.#apply(next);
      this.#settings.hold();
      if (released) void released.then((may) => may && this.#changeWaits && this.#apply(this.#read()));
      return;
    } else {
      this.#apply(next);
    }
    this.#settings.release();
  }

  #apply(next: Config | PluginEditorError | undefined, token?: HeldToken): void {
    this.#changeWaits = false;
    if (next instanceof Error) {
      this.#launch.stop();
      this.#forget();
      this.setState('error', next);
    } else if (next) {
      this.#start(next, token);
    } else {
      const url = preloadUrl(this.#host, document.baseURI);
      this.#idle(!!url);
      if (!url) this.#launch.stop();
      else if (!this.#isFar()) this.#launch.preload(url);
    }
  }

  /** What the attributes say: a config, why they are none, or nothing as long as something is missing. */
  #read(): Config | PluginEditorError | undefined {
    const raw: RawConfig = this.#host;
    if (missing(raw).length) return undefined;
    try {
      return checkConfig(raw, document.baseURI);
    } catch (error) {
      return error as PluginEditorError;
    }
  }

  /** The attributes that ask for something else than what is shown or loading; all, where nothing can be shown. */
  #changed(next: Config | PluginEditorError | undefined): AttributeName[] {
    return RESTARTING.filter((name) => !next || next instanceof Error || next[name] !== this.#config?.[name]);
  }

  /** Asks the page whether unsaved work may go, unless nothing waits for that any longer. */
  #confirmDiscard(error?: PluginEditorError): boolean {
    if (!this.#changeWaits && !this.#reloadWaits) return false;
    const next = this.#read();
    return this.#host.dispatchEvent(
      new PluginEditorDiscardEvent({
        ...this.#plugin(),
        ...(next && !(next instanceof Error) && { next: pluginOf(next) }),
        ...(error && { error }),
      }),
    );
  }

  #start(config: Config, token?: HeldToken): void {
    const changed = this.#changed(config);
    const fresh = !!token || changed.some((name) => TOKEN.includes(name));
    if (!fresh && /loading|ready/.test(this.state) && !changed.length) {
      this.#config = config;
      return;
    }
    if (this.#isFar()) return this.#idle(true);
    this.#setDirty(false);
    this.#config = config;
    this.#reloadAbort.abort();
    this.#reloadWaits = false;
    this.#near = true;
    this.setState('loading');
    // A listener may have ended it, or started another.
    if (this.#config === config && this.state === 'loading') this.#launch.start(config, fresh, token);
  }

  /** Whether the element is lazy and has not come near the viewport. */
  #isFar(): boolean {
    return !this.#near && /^lazy$/i.test((this.#host as RawConfig).loading as string);
  }

  /** Shows nothing. An element that has something to do and is lazy goes on when it comes near the viewport. */
  #idle(waits: boolean): void {
    if (this.state !== 'idle') this.#reset();
    if (waits && this.#isFar()) {
      this.#stopWatching ??= onceNearViewport(this.#host, () => {
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
      // The editor stays until its successor has a token, and may come by more unsaved work meanwhile.
      const isReleased = async () => discard || (await this.#work.release(true));
      try {
        let may = await isReleased();
        // A change that waits may be that nothing is wanted any more, and then there is no token to get.
        const wantsNothing = this.#changeWaits && missing(this.#host).length > 0;
        if (may && !signal.aborted && !wantsNothing) {
          token = await this.getToken(signal, this.#checked());
          may = await isReleased();
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
      // A later call took over.
      return this.#reloading;
    }
    await whenSettled(this.#host, this);
  }

  /** Drops whatever there is, and does what the attributes say. */
  #restart(token?: HeldToken): void {
    this.#launch.stop();
    this.#forget();
    this.#closed = undefined;
    this.#near = true;
    if (this.#host.isConnected) {
      const values = this.#values();
      this.#apply(this.#read(), token);
      this.#handled = values;
    }
    if (this.state === 'idle') this.#checked();
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
    await this.#launch.save(this.#config?.timeout ?? 0);
  }

  async openInNewTab(): Promise<void> {
    const config = this.#checked();
    if (config.tokenDelivery === 'message' || config.readOnly) {
      throw new PluginEditorError('config', 'A new tab needs token-delivery="url", and not read-only');
    }
    await openTab(async () => {
      const { token } = await this.getToken(this.#tabs.signal, config);
      return checkedEditorUrl({ ...config, token });
    });
  }

  /** A tab that still waits for its token gets none: its user may have signed out. */
  #endTabs(): void {
    this.#tabs.abort(new PluginEditorError('config', 'The element was closed or removed'));
    this.#tabs = new AbortController();
  }

  #checked(): Config {
    const raw: RawConfig = this.#host;
    const lacks = missing(raw);
    if (lacks.length) throw new PluginEditorError('config', `<plugin-editor> lacks: ${lacks.join(', ')}`);
    return checkConfig(raw, document.baseURI);
  }

  /** Tells a running editor of the settings that changed, where it can be told. */
  sendSettings(): void {
    if (!this.#launch.connection?.has('configure')) return;
    const changes = this.#settings.takeChanges();
    if (Object.keys(changes).length) this.#launch.post({ type: 'configure', ...changes });
  }

  /** Named after the plugin that is open: a change may have to wait for unsaved work. */
  frameAttributes(): FrameAttributes {
    return this.#host.frameAttributes(this.#config?.fn);
  }

  openSettings(): EditorSettings {
    return this.#settings.open();
  }

  getToken(signal: AbortSignal, config = this.#config as Config): Promise<HeldToken> {
    const { fetchToken, tokenHeaders } = this.#host;
    return getToken({ ...config, fetchToken, tokenHeaders }, { ...pluginOf(config), signal });
  }

  /** Not by way of the template, whose first rendering takes longer than everything before it. */
  onFrame(frame: HTMLIFrameElement): void {
    this.#host.renderRoot.prepend(frame);
  }

  onReady(details: PluginDetails | undefined, isFirst: boolean): void {
    const isNew = this.state !== 'ready' || (isFirst && !!details);
    // A page that loaded once more and says nothing takes nothing back.
    if (details || isNew) this.setState('ready', undefined, { ...this.#plugin(), ...details });
    if (isNew && this.state === 'ready') {
      this.#host.dispatchEvent(new PluginEditorReadyEvent({ confirmed: !!details, ...details }));
    }
  }

  onFail(error: PluginEditorError, said?: string): void {
    // A preload that failed is tried again when there is a plugin to open.
    if (this.state === 'idle') return;
    this.#setDirty(false);
    this.setState('error', error, undefined, said);
  }

  onExpiring(expiresAt: Date, error?: PluginEditorError): void {
    this.#host.dispatchEvent(new PluginEditorExpiringEvent({ expiresAt, ...(error && { error }) }));
  }

  onRefused(): void {
    void this.close();
  }

  onMessage(message: HostMessage): void {
    if (message.type !== 'dirty') {
      this.#host.dispatchEvent(messageEvent(message, this.#plugin()));
    } else {
      this.#setDirty(message.dirty);
      if (!message.dirty) this.#resume();
    }
  }

  onHello(): void {
    this.#setDirty(false);
    this.#resume();
  }

  /** Does what waited for unsaved work. While the editor is asked to save, that is done when it has answered. */
  #resume(): void {
    if (this.#work.isReleasing) return;
    if (this.#changeWaits) {
      // A change that waits lets the frame go in any case.
      if (this.#reloadWaits) this.#restart();
      else this.#apply(this.#read());
    } else if (this.#reloadWaits) void this.reload().catch(() => {});
  }

  #setDirty(dirty: boolean): void {
    if (dirty === this.dirty) return;
    this.#work.set(dirty);
    this.#host.dispatchEvent(new PluginEditorDirtyEvent({ ...this.#plugin(), dirty }));
  }

  #plugin(): Plugin {
    return pluginOf(this.#config as Config);
  }

  /** Forgets what was open and handled; who calls this has ended it. */
  #forget(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#setDirty(false);
    this.#reloadAbort.abort();
    this.#changeWaits = this.#reloadWaits = false;
    this.#config = undefined;
    this.#handled = [];
  }

  #reset(): void {
    this.#launch.stop();
    this.#forget();
    this.setState('idle');
  }
}

const pluginOf = ({ ident, namespace, fn }: Plugin): Plugin => ({ ident, namespace, fn });
