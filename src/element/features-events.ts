import type { Features } from '../core/records.ts';
import { PluginEditorEvent } from './events.ts';

/** The features record arrived, for the first time or anew; `state` is `ready`. */
export class PluginFeaturesLoadEvent extends PluginEditorEvent {
  declare readonly record: Readonly<Features>;

  constructor(fields: { record: Readonly<Features> }) {
    super('plugin-features-load', fields);
  }
}

/** The features record could not be loaded; `state` is `error`. */
export class PluginFeaturesErrorEvent extends PluginEditorEvent {
  declare readonly error: Error;

  constructor(fields: { error: Error }) {
    super('plugin-features-error', fields);
  }
}

/** The events of `<plugin-features>` by name, besides the standard `input` and `change`. */
export interface PluginFeaturesEventMap {
  'plugin-features-load': PluginFeaturesLoadEvent;
  'plugin-features-error': PluginFeaturesErrorEvent;
}

declare global {
  interface GlobalEventHandlersEventMap extends PluginFeaturesEventMap {}
}
