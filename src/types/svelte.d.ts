// Generated from the doc comments of the elements by `npm run generate`.

import type { HTMLAttributes } from 'svelte/elements';
import type { PluginEditorElement, PluginFeaturesElement } from '../index.js';
import type { PluginEditorTag, PluginFeaturesTag } from './attributes.js';

type PluginEditor = PluginEditorTag<'on' | 'on:'>;
type PluginFeatures = PluginFeaturesTag<'on' | 'on:'>;

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'plugin-editor': PluginEditor & Omit<HTMLAttributes<PluginEditorElement>, keyof PluginEditor>;
    'plugin-features': PluginFeatures & Omit<HTMLAttributes<PluginFeaturesElement>, keyof PluginFeatures>;
  }
}
