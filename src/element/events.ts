import type { PluginEditorError } from '../core/errors.ts';
import type { PluginEditorState } from './state.ts';

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
  /** `true` when the editor said so; `false` when its page loaded, which is all that a browser tells. */
  declare readonly confirmed: boolean;

  constructor(fields: { confirmed: boolean }) {
    super('plugin-editor-ready', fields);
  }
}

/** The editor cannot be shown; `state` is `error`. */
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

/** The plugin that an event is about. */
export interface Plugin {
  ident: string;
  namespace: string;
  fn: string;
}

/** An event about the plugin that is open. */
class PluginEvent extends PluginEditorEvent {
  declare readonly ident: string;
  declare readonly namespace: string;
  declare readonly fn: string;
}

/** Unsaved work is about to go; `preventDefault()` keeps it, and puts the change off until it is saved. */
export class PluginEditorDiscardEvent extends PluginEvent {
  constructor(fields: Plugin) {
    super('plugin-editor-discard', fields, true);
  }
}

/** Unsaved work appeared or went. */
export class PluginEditorDirtyEvent extends PluginEvent {
  declare readonly dirty: boolean;

  constructor(fields: Plugin & { dirty: boolean }) {
    super('plugin-editor-dirty', fields);
  }
}

/** The draft was saved. */
export class PluginEditorSaveEvent extends PluginEvent {
  constructor(fields: Plugin) {
    super('plugin-editor-save', fields);
  }
}

/** A build ended. */
export class PluginEditorBuildEvent extends PluginEvent {
  declare readonly succeeded: boolean;
  declare readonly outputLog: string;

  constructor(fields: Plugin & { succeeded: boolean; outputLog: string }) {
    super('plugin-editor-build', fields);
  }
}

/** A test run ended, with a `result` or an `error`. */
export class PluginEditorTestEvent extends PluginEvent {
  /** The test's name; none for a payload that was typed in. */
  declare readonly name?: string;
  declare readonly result?: string;
  declare readonly error?: unknown;

  constructor(fields: Plugin & { name?: string; result?: string; error?: unknown }) {
    super('plugin-editor-test', fields);
  }
}

/** A version was deployed. */
export class PluginEditorDeployEvent extends PluginEvent {
  declare readonly version: string;

  constructor(fields: Plugin & { version: string }) {
    super('plugin-editor-deploy', fields);
  }
}

/** The events of `<plugin-editor>` by name. */
export interface PluginEditorEventMap {
  'plugin-editor-state': PluginEditorStateEvent;
  'plugin-editor-ready': PluginEditorReadyEvent;
  'plugin-editor-error': PluginEditorErrorEvent;
  'plugin-editor-expiring': PluginEditorExpiringEvent;
  'plugin-editor-discard': PluginEditorDiscardEvent;
  'plugin-editor-dirty': PluginEditorDirtyEvent;
  'plugin-editor-save': PluginEditorSaveEvent;
  'plugin-editor-build': PluginEditorBuildEvent;
  'plugin-editor-test': PluginEditorTestEvent;
  'plugin-editor-deploy': PluginEditorDeployEvent;
}

declare global {
  // Both: `GlobalEventHandlersEventMap` types listeners on `document` and `window`, as the events bubble there.
  interface GlobalEventHandlersEventMap extends PluginEditorEventMap {}
}
