import type { PluginDetails } from 'plugin-editor/editor.js';
import type { RenewToken } from '../service/token-holder.ts';
import type { WorkspaceEvents } from '../workspace/workspace-options.ts';

/** The part of the page around the editor that opened a plugin: the events it gets, and the token that it can renew. */
export interface EditorHost extends Omit<WorkspaceEvents, 'onPlugin'> {
  /** The plugin can be edited, or its details changed. */
  onReady?: (plugin: PluginDetails) => void;
  /** The plugin cannot be opened; `problem` says to the user why. */
  onFail?: (problem: string) => void;
  /** Gets another token when the service says that this one has ended. */
  renewToken?: RenewToken;
}
