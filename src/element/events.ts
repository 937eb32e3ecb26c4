import type { PluginEditorError } from '../core/errors.ts';
import type { PluginDetails } from '../core/messages.ts';
import type { PluginEditorState } from './element-state.ts';

/** What all events of both elements have in common: they bubble, cross shadow roots and have read-only fields. */
export class PluginEditorEvent extends Event {
  constructor(type: string, fields: object = {}, cancelable = false) {
    super(type, { bubbles: true, composed: true, cancelable });
    Object.assign(this, fields);
  }
}

/** The element's `state` changed. */
export class PluginEditorStateEvent extends PluginEditorEvent {
  declare readonly state: PluginEditorState;
  declare readonly previous: PluginEditorState;

  constructor(fields: { state: PluginEditorState; previous: PluginEditorState }) {
    super('plugin-editor-state', fields);
  }
}

/** The editor can be used. */
export class PluginEditorReadyEvent extends PluginEditorEvent {
  /** `true`: the editor said so. `false`: its page has loaded, which is the only signal of an editor without the protocol. */
  declare readonly confirmed: boolean;
  /** The `identifier` of the plugin's language, where the editor says it. */
  declare readonly language?: string;
  /** Whether the plugin has a draft, where the editor says it. */
  declare readonly exists?: boolean;
  /** What the token allows, where the editor says it. */
  declare readonly permissions?: readonly string[];

  constructor(fields: { confirmed: boolean } & PluginDetails) {
    super('plugin-editor-ready', fields);
  }
}

/** The editor cannot be shown: `state` is `error`. Or it could not be reloaded, and stays: `state` is `ready`. */
export class PluginEditorErrorEvent extends PluginEditorEvent {
  declare readonly error: PluginEditorError;

  constructor(fields: { error: PluginEditorError }) {
    super('plugin-editor-error', fields);
  }
}

/** The token is about to end, and the editor could not be given a new one. */
export class PluginEditorExpiringEvent extends PluginEditorEvent {
  /** When it ends, by the local clock. */
  declare readonly expiresAt: Date;
  /** Why the renewal failed; `undefined` for an editor that takes no new token while it runs. */
  declare readonly error?: PluginEditorError;

  constructor(fields: { expiresAt: Date; error?: PluginEditorError }) {
    super('plugin-editor-expiring', fields);
  }
}

/** What identifies the plugin that an event is about. */
export interface PluginKey {
  ident: string;
  namespace: string;
  fn: string;
}

/** The plugin that an editor shows, with what the editor said about it. */
export interface ShownPlugin extends Readonly<PluginKey> {
  /** The `identifier` of its language in the features record. */
  readonly language?: string;
  /** Whether it has a draft. */
  readonly exists?: boolean;
  /** What its token allows, such as `read`, `write` and `deploy`. */
  readonly permissions?: readonly string[];
}

/** The element shows another plugin, or the editor said more about the one that it shows. */
export class PluginEditorPluginEvent extends PluginEditorEvent {
  /** What is shown; `undefined` while nothing is. */
  declare readonly plugin: ShownPlugin | undefined;

  constructor(fields: { plugin: ShownPlugin | undefined }) {
    super('plugin-editor-plugin', fields);
  }
}

/** An event about the plugin that is open. */
class PluginEvent extends PluginEditorEvent {
  declare readonly ident: string;
  declare readonly namespace: string;
  declare readonly fn: string;
}

/** Unsaved work is about to be lost; `preventDefault()` keeps it, and puts the change off until it is saved. */
export class PluginEditorDiscardEvent extends PluginEvent {
  /** The plugin that is to replace this one; `undefined` where nothing follows. */
  declare readonly next?: PluginKey;
  /** Why the editor did not save; `undefined` for an editor that cannot be asked to. */
  declare readonly error?: PluginEditorError;

  constructor(fields: PluginKey & { next?: PluginKey; error?: PluginEditorError }) {
    super('plugin-editor-discard', fields, true);
  }
}

/** `dirty` changed: there is unsaved work now, or none any longer. */
export class PluginEditorDirtyEvent extends PluginEvent {
  declare readonly dirty: boolean;

  constructor(fields: PluginKey & { dirty: boolean }) {
    super('plugin-editor-dirty', fields);
  }
}

/** The draft was saved. */
export class PluginEditorSaveEvent extends PluginEvent {
  constructor(fields: PluginKey) {
    super('plugin-editor-save', fields);
  }
}

/** A build ended. */
export class PluginEditorBuildEvent extends PluginEvent {
  declare readonly succeeded: boolean;
  declare readonly outputLog: string;

  constructor(fields: PluginKey & { succeeded: boolean; outputLog: string }) {
    super('plugin-editor-build', fields);
  }
}

/** A test run ended, with a `result` or an `error`. */
export class PluginEditorTestEvent extends PluginEvent {
  /** The test's name; missing for a payload that was typed in. */
  declare readonly name?: string;
  declare readonly result?: string;
  declare readonly error?: unknown;
  /** Whether the result is the expected one; missing for a test that asserts nothing. */
  declare readonly passed?: boolean;

  constructor(fields: PluginKey & { name?: string; result?: string; error?: unknown; passed?: boolean }) {
    super('plugin-editor-test', fields);
  }
}

/** A version was deployed. */
export class PluginEditorDeployEvent extends PluginEvent {
  declare readonly version: string;
  /** `true`: the draft was the newest version already, and no other was made. */
  declare readonly unchanged?: boolean;

  constructor(fields: PluginKey & { version: string; unchanged?: boolean }) {
    super('plugin-editor-deploy', fields);
  }
}

/** Another version was made live. A deploy fires only `plugin-editor-deploy`. */
export class PluginEditorLiveEvent extends PluginEvent {
  /** The version; `null` when the newest is live again, whichever that is. */
  declare readonly version: string | null;

  constructor(fields: PluginKey & { version: string | null }) {
    super('plugin-editor-live', fields);
  }
}

/** The events of `<plugin-editor>` by name. */
export interface PluginEditorEventMap {
  'plugin-editor-state': PluginEditorStateEvent;
  'plugin-editor-ready': PluginEditorReadyEvent;
  'plugin-editor-error': PluginEditorErrorEvent;
  'plugin-editor-expiring': PluginEditorExpiringEvent;
  'plugin-editor-plugin': PluginEditorPluginEvent;
  'plugin-editor-discard': PluginEditorDiscardEvent;
  'plugin-editor-dirty': PluginEditorDirtyEvent;
  'plugin-editor-save': PluginEditorSaveEvent;
  'plugin-editor-build': PluginEditorBuildEvent;
  'plugin-editor-test': PluginEditorTestEvent;
  'plugin-editor-deploy': PluginEditorDeployEvent;
  'plugin-editor-live': PluginEditorLiveEvent;
}

declare global {
  // This types listeners on elements, `document` and `window` alike. The events bubble to all of them.
  interface GlobalEventHandlersEventMap extends PluginEditorEventMap {}
}
