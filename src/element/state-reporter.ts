import type { PluginEditorError } from '../core/errors.ts';
import {
  PluginEditorErrorEvent,
  PluginEditorPluginEvent,
  PluginEditorStateEvent,
  type ShownPlugin,
} from './events.ts';
import type { PluginEditorState } from './state.ts';

/** The element whose state is reported. */
export interface StateHost extends HTMLElement {
  showState(state: PluginEditorState): void;
}

/** Holds what the element shows (its state, the error, the plugin), and reports each change of it to the page. */
export class StateReporter {
  state: PluginEditorState = 'idle';
  declare error: PluginEditorError | undefined;
  /** What the editor itself said about the error, in words for its user. */
  declare editorMessage: string | undefined;
  /** The plugin that is shown; set only in state `ready`. */
  declare plugin: ShownPlugin | undefined;

  declare protected readonly host: StateHost;

  constructor(host: StateHost) {
    this.host = host;
  }

  /** Changes what is shown, and fires the events for what differs. */
  protected setState(
    state: PluginEditorState,
    error?: PluginEditorError,
    plugin?: ShownPlugin,
    editorMessage?: string,
  ): void {
    const { state: previous, host } = this;
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
}
