import type { ReactiveControllerHost } from 'lit';
import type { Config, RawConfig } from '../core/config.ts';
import type { PluginEditorError } from '../core/errors.ts';
import type { PluginDetails } from '../core/messages.ts';
import type { FetchToken, TokenHeaders } from '../core/token.ts';
import {
  PluginEditorDirtyEvent,
  PluginEditorDiscardEvent,
  PluginEditorErrorEvent,
  PluginEditorExpiringEvent,
  PluginEditorPluginEvent,
  PluginEditorReadyEvent,
  PluginEditorStateEvent,
  type PluginKey,
  type ShownPlugin,
} from './events.ts';
import type { FrameAttributes } from './frame.ts';
import type { LaunchReporter } from './launch.ts';
import { type Requested, isConfig } from './requested.ts';
import type { SettingsHost } from './settings.ts';
import type { PluginEditorState } from './state.ts';
import type { UnsavedWork } from './unsaved-work.ts';

/** What the controller needs of its element: the attributes, and a place for the frame and the state. */
export interface EditorHost
  extends ReactiveControllerHost, SettingsHost, Omit<RawConfig, keyof SettingsHost> {
  frameAttributes(fn: string | undefined): FrameAttributes;
  showState(state: PluginEditorState): void;
  readonly hasUpdated: boolean;
  readonly unguarded: boolean;
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
}

/** The names of a plugin, without anything else that is known about it. */
export const keyOf = ({ ident, namespace, fn }: PluginKey): PluginKey => ({ ident, namespace, fn });

/** Holds what the element shows (its state, the error, the plugin), and reports each change of it to the page by events. */
export class PluginReporter implements LaunchReporter {
  state: PluginEditorState = 'idle';
  declare error: PluginEditorError | undefined;
  /** What the editor itself said about the error, in words for its user. */
  declare editorMessage: string | undefined;
  /** The plugin that is shown; set only in state `ready`. */
  declare plugin: ShownPlugin | undefined;
  /** The config of the plugin that is shown or loading. */
  declare openedConfig: Config | undefined;

  #host: EditorHost;
  #work: UnsavedWork;

  constructor(host: EditorHost, work: UnsavedWork) {
    this.#host = host;
    this.#work = work;
  }

  get dirty(): boolean {
    return this.#work.dirty;
  }

  /** The plugin that is shown or loading. To be read only while there is a config. */
  get openedPlugin(): PluginKey {
    return keyOf(this.openedConfig as Config);
  }

  /** Changes what is shown, and fires the events for what differs. */
  setState(
    state: PluginEditorState,
    error?: PluginEditorError,
    plugin?: ShownPlugin,
    editorMessage?: string,
  ): void {
    const { state: previous } = this;
    const host = this.#host;
    const isOtherPlugin = JSON.stringify(plugin) !== JSON.stringify(this.plugin);
    this.error = error;
    this.editorMessage = editorMessage;
    if (isOtherPlugin) this.plugin = plugin && Object.freeze(plugin);
    const shown = this.plugin;
    if (state !== previous) {
      this.state = state;
      host.showState(state);
      host.dispatchEvent(new PluginEditorStateEvent({ state, previous }));
    }
    // A listener of the event above may have changed the plugin again.
    if (isOtherPlugin && this.plugin === shown)
      host.dispatchEvent(new PluginEditorPluginEvent({ plugin: shown }));
    if (error && this.error === error) {
      console.error(`<plugin-editor> ${error.code}: ${error.message}`);
      host.dispatchEvent(new PluginEditorErrorEvent({ error }));
    }
  }

  setDirty(dirty: boolean): void {
    if (dirty === this.dirty) return;
    this.#work.setDirty(dirty);
    this.#host.dispatchEvent(new PluginEditorDirtyEvent({ ...this.openedPlugin, dirty }));
  }

  /**
   * Asks the page whether unsaved work may be discarded.
   * @param error why it was not saved
   * @param next what is to be opened in its place
   */
  confirmDiscard(error: PluginEditorError | undefined, next: Requested): boolean {
    return this.#host.dispatchEvent(
      new PluginEditorDiscardEvent({
        ...this.openedPlugin,
        ...(isConfig(next) && { next: keyOf(next) }),
        ...(error && { error }),
      }),
    );
  }

  reportReady(details: PluginDetails | undefined, isFirst: boolean): void {
    const isNew = this.state !== 'ready' || (isFirst && !!details);
    // A page without the protocol that loads once more says nothing, so that what is known stays.
    if (details || isNew) this.setState('ready', undefined, { ...this.openedPlugin, ...details });
    if (isNew && this.state === 'ready') {
      this.#host.dispatchEvent(new PluginEditorReadyEvent({ confirmed: !!details, ...details }));
    }
  }

  reportFailure(error: PluginEditorError, editorMessage?: string): void {
    // A preload that failed is tried again when there is a plugin to open.
    if (this.state === 'idle') return;
    this.setDirty(false);
    this.setState('error', error, undefined, editorMessage);
  }

  reportExpiring(expiresAt: Date, error?: PluginEditorError): void {
    this.#host.dispatchEvent(new PluginEditorExpiringEvent({ expiresAt, ...(error && { error }) }));
  }
}
