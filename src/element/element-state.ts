import type { Config } from '../core/config.ts';
import type { PluginEditorError } from '../core/errors.ts';
import type { EditorMessages, MessageOf, PluginDetails } from '../core/messages.ts';
import {
  PluginEditorBuildEvent,
  PluginEditorDeployEvent,
  PluginEditorDirtyEvent,
  PluginEditorErrorEvent,
  type PluginEditorEvent,
  type PluginEditorEventMap,
  PluginEditorExpiringEvent,
  PluginEditorLiveEvent,
  PluginEditorPluginEvent,
  PluginEditorReadyEvent,
  PluginEditorSaveEvent,
  PluginEditorStateEvent,
  PluginEditorTestEvent,
  type PluginKey,
  type ShownPlugin,
} from './events.ts';
import type { PluginEditorElement } from './plugin-editor.ts';

/**
 * What an element shows. `idle`: nothing; `loading`: what is asked for is loading; `ready`: it is there; `error`: it cannot
 * be shown, for the reason that the property `error` gives.
 */
export type PluginEditorState = 'idle' | 'loading' | 'ready' | 'error';

/** The names of a plugin, without anything else that is known about it. @internal */
export const keyOf = ({ ident, namespace, fn }: PluginKey): PluginKey => ({ ident, namespace, fn });

/** The editor's messages about the work on a plugin. Each becomes an event of the same name and fields. */
type WorkMessages = Omit<
  EditorMessages,
  'hello' | 'ready' | 'error' | 'token-request' | 'save-result' | 'assist' | 'assist-stop'
>;

/** @internal */
export type WorkMessage = MessageOf<WorkMessages>;

/** The event of each such message. The type has the compiler check that it is in the event map and takes all fields. */
const WORK_EVENTS: {
  [Type in keyof WorkMessages]: new (
    fields: PluginKey & WorkMessages[Type],
  ) => PluginEditorEventMap[`plugin-editor-${Type}`];
} = {
  dirty: PluginEditorDirtyEvent,
  save: PluginEditorSaveEvent,
  build: PluginEditorBuildEvent,
  test: PluginEditorTestEvent,
  deploy: PluginEditorDeployEvent,
  live: PluginEditorLiveEvent,
};

/** What the element shows: its state, the error, the plugin and whether work is unsaved. Reports each change by events. @internal */
export class ElementState {
  state: PluginEditorState = 'idle';
  declare error: PluginEditorError | undefined;
  /** What the editor itself said about the error, in words for its user. */
  declare editorMessage: string | undefined;
  /** The plugin that is shown; set only in state `ready`. */
  declare plugin: ShownPlugin | undefined;
  /** The config of the plugin that is shown or loading. */
  declare config: Config | undefined;
  /** Whether the editor holds unsaved work. */
  dirty = false;

  #host: PluginEditorElement;

  constructor(host: PluginEditorElement) {
    this.#host = host;
  }

  /** The plugin that is shown or loading. To be read only while there is a config. */
  get key(): PluginKey {
    return keyOf(this.config as Config);
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
    if (error && this.error === error) this.reportError(error);
  }

  /** Reports what failed, on the console and by an event. The state stays as it is. */
  reportError(error: PluginEditorError): void {
    console.error(`<plugin-editor> ${error.code}: ${error.message}`);
    this.#host.dispatchEvent(new PluginEditorErrorEvent({ error }));
  }

  setDirty(dirty: boolean): void {
    if (dirty === this.dirty) return;
    this.dirty = dirty;
    // A permanent listener would keep some browsers from putting the page into the back-forward cache.
    if (dirty) addEventListener('beforeunload', this.#handleBeforeUnload);
    else removeEventListener('beforeunload', this.#handleBeforeUnload);
    this.#dispatchWorkEvent({ type: 'dirty', dirty });
  }

  /** Takes over what the editor says about the work on the plugin. */
  reportWork(message: WorkMessage): void {
    if (message.type === 'dirty') this.setDirty(message.dirty);
    else this.#dispatchWorkEvent(message);
  }

  #dispatchWorkEvent({ type, ...fields }: WorkMessage): void {
    // The table above pairs each type with its fields, which the compiler cannot follow through a union.
    const EventClass = WORK_EVENTS[type] as new (fields: object) => PluginEditorEvent;
    this.#host.dispatchEvent(new EventClass({ ...this.key, ...fields }));
  }

  /** Makes the browser ask the user before the page is left. */
  #handleBeforeUnload = (event: Event): void => {
    if (!this.#host.unguarded) event.preventDefault();
  };

  /**
   * The editor can be used.
   * @param details what it said about the plugin; `undefined` for an editor without the protocol, whose page has loaded
   * @param isFirst whether this is the first `ready` since the plugin was opened
   */
  reportReady(details: PluginDetails | undefined, isFirst: boolean): void {
    const isNew = this.state !== 'ready' || (isFirst && !!details);
    // A page without the protocol that loads once more says nothing, so that what is known stays.
    if (details || isNew) this.setState('ready', undefined, { ...this.key, ...details });
    if (isNew && this.state === 'ready') {
      this.#host.dispatchEvent(new PluginEditorReadyEvent({ confirmed: !!details, ...details }));
    }
  }

  /**
   * The editor cannot be shown; the frame is gone.
   * @param editorMessage what the editor itself said, in words for its user
   */
  reportFailure(error: PluginEditorError, editorMessage?: string): void {
    // A preload that failed is tried again when there is a plugin to open.
    if (this.state === 'idle') return;
    this.setDirty(false);
    this.setState('error', error, undefined, editorMessage);
  }

  /** The token is about to end, and the editor could not be given a new one. */
  reportExpiring(expiresAt: Date, error?: PluginEditorError): void {
    this.#host.dispatchEvent(new PluginEditorExpiringEvent({ expiresAt, ...(error && { error }) }));
  }

  /** Resolves when the element is no longer `loading`; rejects with its error if it has one then. */
  settled(): Promise<void> {
    const host = this.#host;
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.state === 'loading') return;
        host.removeEventListener('plugin-editor-state', check);
        if (this.error) reject(this.error);
        else resolve();
      };
      host.addEventListener('plugin-editor-state', check);
      check();
    });
  }
}
