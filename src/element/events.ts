import type { PluginEditorError } from '../core/errors.ts';
import type { PluginEditorState } from './session.ts';

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

/** The events of `<plugin-editor>` by name. */
export interface PluginEditorEventMap {
  'plugin-editor-state': PluginEditorStateEvent;
  'plugin-editor-ready': PluginEditorReadyEvent;
  'plugin-editor-error': PluginEditorErrorEvent;
}

declare global {
  // Both: `GlobalEventHandlersEventMap` types listeners on `document` and `window`, as the events bubble there.
  interface GlobalEventHandlersEventMap extends PluginEditorEventMap {}
}
