// Generated from the doc comments of the elements by `npm run generate`.

import type { JSX as SolidJSX } from 'solid-js';
import type { PluginEditorElement, PluginFeaturesElement } from '../index.js';
import type {
  Listeners,
  PluginEditorAttributes,
  PluginEditorEvents,
  PluginEditorOnly,
  PluginEditorOneOf,
  PluginFeaturesAttributes,
  PluginFeaturesEvents,
  PluginFeaturesOnly,
} from './attributes.js';

type PluginEditor = PluginEditorAttributes &
  PluginEditorOnly &
  PluginEditorOneOf<'token-endpoint'> &
  Listeners<PluginEditorEvents, PluginEditorElement, 'on:'>;
type PluginFeatures = PluginFeaturesAttributes &
  PluginFeaturesOnly &
  Listeners<PluginFeaturesEvents, PluginFeaturesElement, 'on:'>;

declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'plugin-editor': PluginEditor & Omit<SolidJSX.HTMLAttributes<PluginEditorElement>, keyof PluginEditor>;
      'plugin-features': PluginFeatures &
        Omit<SolidJSX.HTMLAttributes<PluginFeaturesElement>, keyof PluginFeatures>;
    }
  }
}
