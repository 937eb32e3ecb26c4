import type { PluginDetails } from 'plugin-editor/editor.js';
import type { RenewToken } from '../service/token-holder.ts';
import type { WorkspaceEvents } from '../workspace/workspace-options.ts';

/** Whoever asked for a plugin to be opened: what it is told, and what it can be asked for. */
export interface EditorHost extends Omit<WorkspaceEvents, 'onPlugin'> {
  /** The plugin can be edited, or its details changed. */
  onReady?: (plugin: PluginDetails) => void;
  /** The plugin cannot be opened; `problem` says to the user why. */
  onFail?: (problem: string) => void;
  /** Gets another token when the service says that this one has ended. */
  renewToken?: RenewToken;
}
