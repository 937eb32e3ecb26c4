'use client';

// Generated from the doc comments of the elements by `npm run generate`.

import type { HTMLAttributes } from 'react';
import { PluginEditorElement } from './element/plugin-editor.ts';
import { PluginFeaturesElement } from './element/plugin-features.ts';
import type {
  PluginEditorStateEvent,
  PluginEditorReadyEvent,
  PluginEditorErrorEvent,
  PluginEditorExpiringEvent,
  PluginEditorPluginEvent,
  PluginEditorDiscardEvent,
  PluginEditorDirtyEvent,
  PluginEditorSaveEvent,
  PluginEditorBuildEvent,
  PluginEditorTestEvent,
  PluginEditorDeployEvent,
  PluginEditorLiveEvent,
  PluginFeaturesLoadEvent,
  PluginFeaturesErrorEvent,
} from './index.ts';
import { type EventOn, component } from './react/component.ts';

export type { PluginEditorElement, PluginFeaturesElement };

interface PluginEditorOwnProps {
  /** Address of the editor page, http or https; a relative one is resolved against the document. Required. */
  editorUrl: PluginEditorElement['editorUrl'] | undefined;
  /** Base address of the builder interface, http or https, absolute. Required. */
  builder: PluginEditorElement['builder'] | undefined;
  /** Environment name, a period, tenant name, such as `com.acme.customer-7`. Required. */
  ident: PluginEditorElement['ident'] | undefined;
  /** Namespace of the plugin, as one segment of a path. */
  namespace?: PluginEditorElement['namespace'] | undefined;
  /** Name of the plugin, as one segment of a path. Required. */
  fn: PluginEditorElement['fn'] | undefined;
  /** Language for a new plugin: the `identifier` of one that the builder knows, such as `typescript`. */
  template?: PluginEditorElement['template'] | undefined;
  /** Address of the page's own endpoint that answers with an editor token; a relative one is resolved against the document. Needed unless `fetchToken` is set. */
  tokenEndpoint?: PluginEditorElement['tokenEndpoint'] | null | undefined;
  /** Method of the token request: `post`, with the plugin as JSON, or `get`, with the plugin as a query. */
  tokenMethod?: PluginEditorElement['tokenMethod'] | undefined;
  /** Whether cookies go with the token request: `omit`, `same-origin` or `include`. */
  credentials?: PluginEditorElement['credentials'] | undefined;
  /** How the editor gets the token. `url`: as a parameter of its address. `message`: by the frame protocol, for which the frame starts loading beside the token request; no address holds the token then. */
  tokenDelivery?: PluginEditorElement['tokenDelivery'] | undefined;
  /** `eager`: at once. `lazy`: nothing is fetched until the element comes near the viewport. */
  loading?: PluginEditorElement['loading'] | undefined;
  /** With `message` delivery: the frame loads as soon as `editor-url` is known, while there is no plugin yet. */
  preload?: PluginEditorElement['preload'] | undefined;
  /** Has the editor show the plugin and change nothing. A courtesy to the user: what is allowed is in the token, by its permissions. */
  readOnly?: PluginEditorElement['readOnly'] | undefined;
  /** BCP 47 tag for the editor's texts, dates and numbers; while empty, the nearest `lang` attribute around the element. A tag that is not valid is not handed on. */
  locale?: PluginEditorElement['locale'] | undefined;
  /** Turns off the question that the browser asks before the page is left while `dirty`. */
  unguarded?: PluginEditorElement['unguarded'] | undefined;
  /** Time limit in ms for one token request, and for the frame to load (`url`) or be ready (`message`). */
  timeout?: PluginEditorElement['timeout'] | undefined;
  /** The frame's sandbox, as keywords of that attribute; `none` removes it. */
  sandbox?: PluginEditorElement['sandbox'] | undefined;
  /** The frame's permissions, as in the attribute of this name of an `<iframe>`. */
  allow?: PluginEditorElement['allow'] | undefined;
  /** The frame's referrer policy, as in the attribute of this name of an `<iframe>`. */
  referrerpolicy?: PluginEditorElement['referrerpolicy'] | undefined;
  /** The frame's accessible name; while empty it is `Plugin editor: ` and the plugin's name. */
  label?: PluginEditorElement['label'] | undefined;
  /** Gets tokens in place of `token-endpoint`: called with `{ ident, namespace, fn, signal }`, it returns a token or `{ token, expires_in?, expires_at? }`. A new function restarts nothing. */
  fetchToken?: PluginEditorElement['fetchToken'] | null | undefined;
  /** Headers for the token request, such as one against cross-site request forgery, or a function that gives them. */
  tokenHeaders?: PluginEditorElement['tokenHeaders'] | undefined;
  /** Source of a plugin that has no draft, in place of a template: `{ contents, lang, tests? }`, at most 1 MiB of JSON. Used where `template` is empty or equals its `lang`. It goes to the editor by message alone. Read with the attributes when a change is made; a new object restarts nothing. */
  initialSource?: PluginEditorElement['initialSource'] | undefined;
  /** Texts in place of the English ones, which are exported as `defaultStrings`. */
  strings?: PluginEditorElement['strings'] | undefined;
  /** Every change of `state`. */
  onPluginEditorState?: ((event: EventOn<PluginEditorElement, PluginEditorStateEvent>) => void) | undefined;
  /** The editor can be used. `confirmed` is `false` when it did not say so itself: then its page has loaded, which is the only signal that a browser gives. Fires once for each time that a plugin is opened. */
  onPluginEditorReady?: ((event: EventOn<PluginEditorElement, PluginEditorReadyEvent>) => void) | undefined;
  /** The editor cannot be shown; `state` became `error`. */
  onPluginEditorError?: ((event: EventOn<PluginEditorElement, PluginEditorErrorEvent>) => void) | undefined;
  /** The token is about to end, and the editor could not be given a new one. */
  onPluginEditorExpiring?:
    ((event: EventOn<PluginEditorElement, PluginEditorExpiringEvent>) => void) | undefined;
  /** `plugin` changed. */
  onPluginEditorPlugin?: ((event: EventOn<PluginEditorElement, PluginEditorPluginEvent>) => void) | undefined;
  /** Unsaved work is about to be lost; `preventDefault()` keeps it. `next` says what is wanted in its place, `error` why it was not saved. */
  onPluginEditorDiscard?:
    ((event: EventOn<PluginEditorElement, PluginEditorDiscardEvent>) => void) | undefined;
  /** Unsaved work appeared or went. */
  onPluginEditorDirty?: ((event: EventOn<PluginEditorElement, PluginEditorDirtyEvent>) => void) | undefined;
  /** The draft was saved. */
  onPluginEditorSave?: ((event: EventOn<PluginEditorElement, PluginEditorSaveEvent>) => void) | undefined;
  /** A build ended. */
  onPluginEditorBuild?: ((event: EventOn<PluginEditorElement, PluginEditorBuildEvent>) => void) | undefined;
  /** A test run ended, with a `result` or an `error`; `passed` where the test asserts something. */
  onPluginEditorTest?: ((event: EventOn<PluginEditorElement, PluginEditorTestEvent>) => void) | undefined;
  /** A version was deployed; `unchanged`: it was there already. */
  onPluginEditorDeploy?: ((event: EventOn<PluginEditorElement, PluginEditorDeployEvent>) => void) | undefined;
  /** Another version was made live, or (`null`) the newest again; not for a deploy. */
  onPluginEditorLive?: ((event: EventOn<PluginEditorElement, PluginEditorLiveEvent>) => void) | undefined;
}

/** What `<PluginEditor>` can be given, beside what any HTML element in React can. */
export type PluginEditorProps = PluginEditorOwnProps &
  ({ tokenEndpoint: unknown } | { fetchToken: unknown }) &
  Omit<HTMLAttributes<PluginEditorElement>, keyof PluginEditorOwnProps>;

/** Shows a plugin editor in a frame: gets an editor token from the page's own endpoint, builds the editor's address from the attributes, and reports what becomes of it. Its ref is the element. */
export const PluginEditor = /* @__PURE__ */ component<PluginEditorElement, PluginEditorProps>(
  'plugin-editor',
  PluginEditorElement,
  [
    'plugin-editor-state',
    'plugin-editor-ready',
    'plugin-editor-error',
    'plugin-editor-expiring',
    'plugin-editor-plugin',
    'plugin-editor-discard',
    'plugin-editor-dirty',
    'plugin-editor-save',
    'plugin-editor-build',
    'plugin-editor-test',
    'plugin-editor-deploy',
    'plugin-editor-live',
  ],
);

interface PluginFeaturesOwnProps {
  /** Base address of the builder interface, http or https, absolute; by default that of the editor that `for` names. */
  builder?: PluginFeaturesElement['builder'] | undefined;
  /** Id of a `<plugin-editor>` in the same tree, whose `template` is chosen here. */
  htmlFor?: PluginFeaturesElement['htmlFor'] | undefined;
  /** Whether one of the languages can be chosen; with `for` it always can. */
  selectable?: PluginFeaturesElement['selectable'] | undefined;
  /** The name under which a form submits the choice. */
  name?: PluginFeaturesElement['name'] | undefined;
  /** The `identifier` that is chosen at first and after a reset of the form, such as `typescript`. */
  defaultValue?: PluginFeaturesElement['defaultValue'] | undefined;
  /** Whether a form needs a choice. */
  required?: PluginFeaturesElement['required'] | undefined;
  /** Whether nothing can be chosen, and nothing is submitted. */
  disabled?: PluginFeaturesElement['disabled'] | undefined;
  /** Accessible name of the list or group; while empty it is the word of `strings`. */
  label?: PluginFeaturesElement['label'] | undefined;
  /** Gets a token, which is sent as Bearer: called with `{ signal }`, it returns one. A new function restarts nothing. The request is then not shared with other elements. */
  fetchToken?: PluginFeaturesElement['fetchToken'] | undefined;
  /** Texts in place of the English ones. With one for `error`, that stands alone, without the English `error.message`. */
  strings?: PluginFeaturesElement['strings'] | undefined;
  /** The chosen `identifier`, or an empty string. */
  value?: PluginFeaturesElement['value'] | undefined;
  /** The record arrived, for the first time or anew. */
  onPluginFeaturesLoad?:
    ((event: EventOn<PluginFeaturesElement, PluginFeaturesLoadEvent>) => void) | undefined;
  /** The record could not be had; `state` became `error`. */
  onPluginFeaturesError?:
    ((event: EventOn<PluginFeaturesElement, PluginFeaturesErrorEvent>) => void) | undefined;
  /** The user chose a language. */
  onInput?: ((event: EventOn<PluginFeaturesElement, Event>) => void) | undefined;
  /** The user chose a language. */
  onChange?: ((event: EventOn<PluginFeaturesElement, Event>) => void) | undefined;
}

/** What `<PluginFeatures>` can be given, beside what any HTML element in React can. */
export type PluginFeaturesProps = PluginFeaturesOwnProps &
  Omit<HTMLAttributes<PluginFeaturesElement>, keyof PluginFeaturesOwnProps>;

/** Shows what a builder supports: its languages, as a list or to choose one of, and its features. Its ref is the element. */
export const PluginFeatures = /* @__PURE__ */ component<PluginFeaturesElement, PluginFeaturesProps>(
  'plugin-features',
  PluginFeaturesElement,
  ['plugin-features-load', 'plugin-features-error', 'input', 'change'],
);
