import type { PluginEditorError } from '../core/errors.ts';
import {
  PluginEditorErrorEvent,
  PluginEditorPluginEvent,
  PluginEditorStateEvent,
  type ShownPlugin,
} from './events.ts';
import type { PluginEditorState } from './state.ts';

/** The element whose status it is. */
export interface StatusHost extends HTMLElement {
  showState(state: PluginEditorState): void;
}

/** What the element shows: its state, the reason of an error, and the plugin. */
export class EditorStatus {
  state: PluginEditorState = 'idle';
  declare error: PluginEditorError | undefined;
  /** What the editor itself said about the error. */
  declare said: string | undefined;
  /** The plugin that is shown; set only in state `ready`. */
  declare plugin: ShownPlugin | undefined;

  declare protected readonly host: StatusHost;

  constructor(host: StatusHost) {
    this.host = host;
  }

  /** Changes what is shown, and tells the page of each change of it. */
  protected setState(
    state: PluginEditorState,
    error?: PluginEditorError,
    plugin?: ShownPlugin,
    said?: string,
  ): void {
    const { state: previous, host } = this;
    const isOther = JSON.stringify(plugin) !== JSON.stringify(this.plugin);
    this.error = error;
    this.said = said;
    if (isOther) this.plugin = plugin && Object.freeze(plugin);
    const shown = this.plugin;
    if (state !== previous) {
      this.state = state;
      host.showState(state);
      host.dispatchEvent(new PluginEditorStateEvent({ state, previous }));
    }
    // A listener of the event above may have changed the plugin again.
    if (isOther && this.plugin === shown) host.dispatchEvent(new PluginEditorPluginEvent({ plugin: shown }));
    if (error && this.error === error) {
      console.error(`<plugin-editor> ${error.code}: ${error.message}`);
      host.dispatchEvent(new PluginEditorErrorEvent({ error }));
    }
  }
}
