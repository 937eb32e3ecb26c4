// Generated from the doc comments of the elements by `npm run generate`.

import type { JSX as SolidJSX } from 'solid-js';
import type { PluginEditorElement, PluginFeaturesElement } from '../index.js';
import type { PluginEditorTag, PluginFeaturesTag } from './attributes.js';

type PluginEditor = PluginEditorTag<'on:'>;
type PluginFeatures = PluginFeaturesTag<'on:'>;

declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'plugin-editor': PluginEditor & Omit<SolidJSX.HTMLAttributes<PluginEditorElement>, keyof PluginEditor>;
      'plugin-features': PluginFeatures &
        Omit<SolidJSX.HTMLAttributes<PluginFeaturesElement>, keyof PluginFeatures>;
    }
  }
}
