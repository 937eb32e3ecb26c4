/** The element classes, not defined: for scoped registries and for subclassing. */
export { PluginEditorElement } from './element/plugin-editor.ts';
export { PluginFeaturesElement } from './element/plugin-features.ts';
