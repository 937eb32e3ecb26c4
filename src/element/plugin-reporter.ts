import type { ReactiveControllerHost } from 'lit';
import type { Config, RawConfig } from '../core/config.ts';
import type { PluginEditorError } from '../core/errors.ts';
import type { PluginDetails } from '../core/messages.ts';
import { type FetchToken, type HeldToken, type TokenHeaders, getToken } from '../core/token.ts';
import {
  type PluginKey,
  PluginEditorDirtyEvent,
  PluginEditorDiscardEvent,
  PluginEditorExpiringEvent,
  PluginEditorReadyEvent,
} from './events.ts';
import type { FrameAttributes } from './frame.ts';
import { type Requested, isConfig } from './requested.ts';
import type { SettingsHost } from './settings.ts';
import { StateReporter, type StateHost } from './state-reporter.ts';
import type { UnsavedWork } from './unsaved-work.ts';

/** What the controller needs of its element: the attributes, and a place for the frame and the state. */
export interface EditorHost
  extends StateHost, ReactiveControllerHost, SettingsHost, Omit<RawConfig, keyof SettingsHost> {
  frameAttributes(fn: string | undefined): FrameAttributes;
  readonly hasUpdated: boolean;
  readonly unguarded: boolean;
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
}

/**
 * Reports to the page, by state and events, what becomes of the plugin that is shown or loading, and gives a launch what it
 * needs for that plugin: its token and the attributes of its frame.
 */
export abstract class PluginReporter extends StateReporter {
  declare protected readonly host: EditorHost;
  protected abstract readonly work: UnsavedWork;
  /** The config of the plugin that is shown or loading. */
  protected config: Config | undefined;

  get dirty(): boolean {
    return this.work.dirty;
  }

  /**
   * Asks the page whether unsaved work may be discarded.
   * @param error why it was not saved
   * @param next what is to be opened in its place
   */
  protected confirmDiscard(error: PluginEditorError | undefined, next: Requested): boolean {
    return this.host.dispatchEvent(
      new PluginEditorDiscardEvent({
        ...this.openedPlugin(),
        ...(isConfig(next) && { next: keyOf(next) }),
        ...(error && { error }),
      }),
    );
  }

  protected setDirty(dirty: boolean): void {
    if (dirty === this.dirty) return;
    this.work.setDirty(dirty);
    this.host.dispatchEvent(new PluginEditorDirtyEvent({ ...this.openedPlugin(), dirty }));
  }

  /** The plugin that is shown or loading. To be called only while there is a config. */
  protected openedPlugin(): PluginKey {
    return keyOf(this.config as Config);
  }

  /** The frame is named after the plugin that is open, because a change may have to wait for unsaved work. */
  frameAttributes(): FrameAttributes {
    return this.host.frameAttributes(this.config?.fn);
  }

  getToken(signal: AbortSignal, config = this.config as Config): Promise<HeldToken> {
    const { fetchToken, tokenHeaders } = this.host;
    return getToken({ ...config, fetchToken, tokenHeaders }, { ...keyOf(config), signal });
  }

  /** The frame is no part of the template, because Lit's first rendering takes longer than everything before it. */
  onFrame(frame: HTMLIFrameElement): void {
    this.host.renderRoot.prepend(frame);
  }

  onReady(details: PluginDetails | undefined, isFirst: boolean): void {
    const isNew = this.state !== 'ready' || (isFirst && !!details);
    // A page without the protocol that loads once more says nothing, so that what is known stays.
    if (details || isNew) this.setState('ready', undefined, { ...this.openedPlugin(), ...details });
    if (isNew && this.state === 'ready') {
      this.host.dispatchEvent(new PluginEditorReadyEvent({ confirmed: !!details, ...details }));
    }
  }

  onFail(error: PluginEditorError, editorMessage?: string): void {
    // A preload that failed is tried again when there is a plugin to open.
    if (this.state === 'idle') return;
    this.setDirty(false);
    this.setState('error', error, undefined, editorMessage);
  }

  onExpiring(expiresAt: Date, error?: PluginEditorError): void {
    this.host.dispatchEvent(new PluginEditorExpiringEvent({ expiresAt, ...(error && { error }) }));
  }
}

const keyOf = ({ ident, namespace, fn }: PluginKey): PluginKey => ({ ident, namespace, fn });
