// Generated from the doc comments of the elements by `npm run generate`.

import type { HTMLAttributes, PublicProps } from 'vue';
import type { PluginEditorElement, PluginFeaturesElement } from '../index.js';
import type {
  PluginEditorAttributes,
  PluginEditorEvents,
  PluginEditorOneOf,
  PluginEditorProperties,
  PluginFeaturesAttributes,
  PluginFeaturesEvents,
  PluginFeaturesProperties,
} from './attributes.js';

/** `plugin-editor-ready` is `PluginEditorReady`. */
type Pascal<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${Pascal<Rest>}`
  : Capitalize<Name>;

/** Listeners, which Vue writes as `@plugin-editor-ready`. */
type VueListeners<Events, Element> = {
  [Name in keyof Events & string as `on${Pascal<Name>}`]?:
    ((event: Events[Name] & { readonly currentTarget: Element }) => void) | undefined;
};

type PluginEditorProps = PluginEditorProperties &
  PluginEditorOneOf<'tokenEndpoint'> &
  VueListeners<PluginEditorEvents, PluginEditorElement>;

/** Shows a plugin editor in a frame: gets an editor token from the page's own endpoint, builds the editor's address from the attributes, and reports by events what happens in the editor. */
type PluginEditor = new () => PluginEditorElement & {
  /** For type checks alone, as in Vue's guide; nothing has it at run time. */
  $props: PluginEditorProps & Omit<HTMLAttributes, keyof PluginEditorProps> & PublicProps;
};

type PluginFeaturesProps = PluginFeaturesProperties &
  Pick<PluginFeaturesAttributes, 'for' | 'value'> &
  VueListeners<PluginFeaturesEvents, PluginFeaturesElement> & {
    /** `v-model`: the `value`, and what the user chooses. */
    modelValue?: string | null | undefined;
    'onUpdate:modelValue'?: ((value: string) => void) | undefined;
  };

/** Shows what a builder supports: its languages, as a list or to choose one of, and its features. */
type PluginFeatures = new () => PluginFeaturesElement & {
  /** For type checks alone, as in Vue's guide; nothing has it at run time. */
  $props: PluginFeaturesProps & Omit<HTMLAttributes, keyof PluginFeaturesProps> & PublicProps;
};

declare module 'vue' {
  interface GlobalComponents {
    'plugin-editor': PluginEditor;
    'plugin-features': PluginFeatures;
  }
}
