import type { PluginSource } from 'plugin-editor/client.js';
import type { LocalCopies } from '../draft/local-copies.ts';
import type { PluginTarget } from '../plugin/target.ts';
import type { DraftStore } from '../service/draft-store.ts';
import type { TokenHolder } from '../service/token-holder.ts';
import type { Notices } from '../ui/notices.ts';
import type { ActionEvents } from './actions.ts';

/** Events about the plugin that is open, for the page around the editor. */
export interface WorkspaceEvents extends ActionEvents {
  /** Unsaved work appeared, or went. */
  onDirty?: ((dirty: boolean) => void) | undefined;
  /** The draft was saved. */
  onSave?: (() => void) | undefined;
  /** The language, whether the plugin has a draft, or what may be done with it changed. */
  onPlugin?: (() => void) | undefined;
}

export interface WorkspaceOptions extends WorkspaceEvents {
  target: PluginTarget;
  /** The service's base address, in the form that `findBuilder` returns. */
  builder: string;
  tokenHolder: TokenHolder;
  /** What to edit: the draft, or the template of a plugin that has none. */
  source: PluginSource;
  /** Whether `source` is a draft of the service. */
  exists: boolean;
  /** What the token permits; `undefined` where the service does not say, or has not yet. */
  permissions: readonly string[] | undefined;
  /** Whether the page around the editor wants nothing changed. */
  isReadOnly: boolean;
  store: DraftStore;
  copies: LocalCopies;
  notices: Notices;
  /** What the page shows changed. `now`: it is to be drawn before anything else happens. */
  onDraw: (now?: boolean) => void;
}
