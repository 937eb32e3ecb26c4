// Generated from the doc comments of the elements by `npm run generate`.

import type { ClassAttributes, HTMLAttributes } from 'react';
import type { PluginEditorElement, PluginFeaturesElement } from '../index.js';
import type { PluginEditorTag, PluginFeaturesTag } from './attributes.js';

type PluginEditor = PluginEditorTag<'on'>;
type PluginFeatures = PluginFeaturesTag<'on'>;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'plugin-editor': PluginEditor &
        Omit<ClassAttributes<PluginEditorElement> & HTMLAttributes<PluginEditorElement>, keyof PluginEditor>;
      'plugin-features': PluginFeatures &
        Omit<
          ClassAttributes<PluginFeaturesElement> & HTMLAttributes<PluginFeaturesElement>,
          keyof PluginFeatures
        >;
    }
  }
}
