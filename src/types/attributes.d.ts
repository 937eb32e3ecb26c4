// Generated from the doc comments of the elements by `npm run generate`.

import type {
  PluginEditorElement,
  PluginEditorEventMap,
  PluginFeaturesElement,
  PluginFeaturesEventMap,
} from '../index.js';

/** Listeners by event, each under the event's name after a prefix. */
type Listeners<Events, Element, Prefix extends string> = {
  [Name in keyof Events & string as `${Prefix}${Name}`]?:
    ((event: Events[Name] & { readonly currentTarget: Element }) => void) | undefined;
};

/** Some of an element's properties. */
export type Settable<Element, Name extends keyof Element> = { [Key in Name]?: Element[Key] | undefined };

/** Attributes of `<plugin-editor>`. */
export interface PluginEditorAttributes {
  /** Address of the editor page, http or https; a relative one is resolved against the document. Required. */
  'editor-url': PluginEditorElement['editorUrl'] | undefined;
  /** Base address of the builder interface, http or https, absolute. Required. */
  builder: PluginEditorElement['builder'] | undefined;
  /** Environment name, a period, tenant name, such as `com.acme.customer-7`. Required. */
  ident: PluginEditorElement['ident'] | undefined;
  /** Namespace of the plugin, as one segment of a path. */
  namespace?: PluginEditorElement['namespace'] | undefined;
  /** Name of the plugin, as one segment of a path. Required. */
  fn: PluginEditorElement['fn'] | undefined;
  /** Language for a new plugin: the `identifier` of a language in the features record, such as `typescript`. */
  template?: PluginEditorElement['template'] | undefined;
  /** Address of your endpoint that answers with an editor token; a relative one is resolved against the document. Required unless `fetchToken` is set. */
  'token-endpoint'?: PluginEditorElement['tokenEndpoint'] | undefined;
  /** Method of the token request: `post`, with the plugin as JSON, or `get`, with the plugin as a query. */
  'token-method'?: PluginEditorElement['tokenMethod'] | undefined;
  /** Whether cookies go with the token request: `omit`, `same-origin` or `include`. */
  credentials?: PluginEditorElement['credentials'] | undefined;
  /** How the editor gets the token. `url`: as a parameter of its address. `message`: by the frame protocol, so that no address holds the token; the frame starts loading during the token request. */
  'token-delivery'?: PluginEditorElement['tokenDelivery'] | undefined;
  /** `eager`: at once. `lazy`: nothing is fetched until the element comes near the viewport. */
  loading?: PluginEditorElement['loading'] | undefined;
  /** With `message` delivery: loads the frame as soon as `editor-url` is known, before there is a plugin. */
  preload?: PluginEditorElement['preload'] | undefined;
  /** Asks the editor to change nothing. Only the token's permissions decide what is allowed. */
  'read-only'?: PluginEditorElement['readOnly'] | undefined;
  /** BCP 47 tag for the editor's texts, dates and numbers; while empty, the nearest `lang` attribute around the element. An invalid tag is not sent to the editor. */
  locale?: PluginEditorElement['locale'] | undefined;
  /** Turns off the question that the browser asks before the page is left while `dirty`. */
  unguarded?: PluginEditorElement['unguarded'] | undefined;
  /** Time limit in ms for each try of a token request, for `save()`, and for the frame to load (`url`) or be ready (`message`). Above 0 and below 2 ** 31. */
  timeout?: PluginEditorElement['timeout'] | undefined;
  /** The attribute `sandbox` of the frame: its keywords; `none` removes it. */
  sandbox?: PluginEditorElement['sandbox'] | undefined;
  /** The attribute `allow` of the frame. */
  allow?: PluginEditorElement['allow'] | undefined;
  /** The attribute `referrerpolicy` of the frame. */
  referrerpolicy?: PluginEditorElement['referrerpolicy'] | undefined;
  /** The frame's accessible name; while empty it is `Plugin editor: ` and the plugin's name. */
  label?: PluginEditorElement['label'] | undefined;
}

/** All that can be set on `<plugin-editor>`: properties, of which some have an attribute. */
export type PluginEditorProperties = Settable<
  PluginEditorElement,
  | 'namespace'
  | 'template'
  | 'tokenEndpoint'
  | 'tokenMethod'
  | 'credentials'
  | 'tokenDelivery'
  | 'loading'
  | 'preload'
  | 'readOnly'
  | 'locale'
  | 'unguarded'
  | 'timeout'
  | 'sandbox'
  | 'allow'
  | 'referrerpolicy'
  | 'label'
  | 'fetchToken'
  | 'tokenHeaders'
  | 'initialSource'
  | 'assistant'
  | 'strings'
> & { [Key in 'editorUrl' | 'builder' | 'ident' | 'fn']: PluginEditorElement[Key] | undefined };

/** One of these must be given, as an attribute or property; it may be `undefined` as long as there is nothing to give. */
export type PluginEditorOneOf<Attribute extends string> =
  { [Key in Attribute]: unknown } | { [Key in 'fetchToken']: unknown };

/** Properties of `<plugin-editor>` without an attribute. */
type PluginEditorOnly = Pick<
  PluginEditorProperties,
  'fetchToken' | 'tokenHeaders' | 'initialSource' | 'assistant' | 'strings'
>;

/** Events of `<plugin-editor>`. */
export interface PluginEditorEvents extends PluginEditorEventMap {}

/** All that a template can set on `<plugin-editor>`. `Prefix` makes the name of a listener of an event's name. */
export type PluginEditorTag<Prefix extends string> = PluginEditorAttributes &
  PluginEditorOnly &
  PluginEditorOneOf<'token-endpoint'> &
  Listeners<PluginEditorEvents, PluginEditorElement, Prefix>;

/** Attributes of `<plugin-features>`. */
export interface PluginFeaturesAttributes {
  /** Base address of the builder interface, http or https, absolute; by default that of the editor that `for` names. */
  builder?: PluginFeaturesElement['builder'] | undefined;
  /** Id of a `<plugin-editor>` in the same tree; the choice sets its `template`. */
  for?: PluginFeaturesElement['htmlFor'] | undefined;
  /** Whether the user can choose a language; with `for`, the user always can. */
  selectable?: PluginFeaturesElement['selectable'] | undefined;
  /** The name under which a form submits the choice. */
  name?: PluginFeaturesElement['name'] | undefined;
  /** The `identifier` that is chosen initially and after a reset of the form, such as `typescript`. */
  value?: PluginFeaturesElement['defaultValue'] | undefined;
  /** Whether the form needs a choice. */
  required?: PluginFeaturesElement['required'] | undefined;
  /** Whether the control is disabled: nothing can be chosen, and nothing is submitted. */
  disabled?: PluginFeaturesElement['disabled'] | undefined;
  /** Accessible name of the list or group; while empty it is `languages` of `strings`. */
  label?: PluginFeaturesElement['label'] | undefined;
}

/** All that can be set on `<plugin-features>`: properties, of which some have an attribute. */
export type PluginFeaturesProperties = Settable<
  PluginFeaturesElement,
  | 'builder'
  | 'htmlFor'
  | 'selectable'
  | 'name'
  | 'defaultValue'
  | 'required'
  | 'disabled'
  | 'label'
  | 'fetchToken'
  | 'strings'
  | 'value'
>;

/** Properties of `<plugin-features>` without an attribute. */
type PluginFeaturesOnly = Pick<PluginFeaturesProperties, 'fetchToken' | 'strings' | 'value'>;

/** Events of `<plugin-features>`. */
export interface PluginFeaturesEvents extends PluginFeaturesEventMap {
  /** The user chose a language. */
  input: Event;
  /** The user chose a language. */
  change: Event;
}

/** All that a template can set on `<plugin-features>`. `Prefix` makes the name of a listener of an event's name. */
export type PluginFeaturesTag<Prefix extends string> = PluginFeaturesAttributes &
  PluginFeaturesOnly &
  Listeners<PluginFeaturesEvents, PluginFeaturesElement, Prefix>;
