// Generated from the doc comments of the elements by `npm run generate`.

import type { HTMLAttributes } from 'svelte/elements';
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
  Listeners<PluginEditorEvents, PluginEditorElement, 'on'> &
  Listeners<PluginEditorEvents, PluginEditorElement, 'on:'>;
type PluginFeatures = PluginFeaturesAttributes &
  PluginFeaturesOnly &
  Listeners<PluginFeaturesEvents, PluginFeaturesElement, 'on'> &
  Listeners<PluginFeaturesEvents, PluginFeaturesElement, 'on:'>;

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'plugin-editor': PluginEditor & Omit<HTMLAttributes<PluginEditorElement>, keyof PluginEditor>;
    'plugin-features': PluginFeatures & Omit<HTMLAttributes<PluginFeaturesElement>, keyof PluginFeatures>;
  }
}
