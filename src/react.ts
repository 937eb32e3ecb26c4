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
  PluginEditorDiscardEvent,
  PluginEditorDirtyEvent,
  PluginEditorSaveEvent,
  PluginEditorBuildEvent,
  PluginEditorTestEvent,
  PluginEditorDeployEvent,
  PluginFeaturesLoadEvent,
  PluginFeaturesErrorEvent,
} from './index.ts';
import { type EventOn, component } from './react/component.ts';

export type { PluginEditorElement, PluginFeaturesElement };

interface PluginEditorOwnProps {
  /** Address of the editor page, http or https; a relative one is resolved against the document. Required. */
  editorUrl?: PluginEditorElement['editorUrl'] | undefined;
  /** Base address of the builder interface, http or https, absolute. Required. */
  builder?: PluginEditorElement['builder'] | undefined;
  /** Environment name, a period, tenant name. Required. */
  ident?: PluginEditorElement['ident'] | undefined;
  /** Plugin namespace. */
  namespace?: PluginEditorElement['namespace'] | undefined;
  /** Plugin name. Required. */
  fn?: PluginEditorElement['fn'] | undefined;
  /** Language for a new plugin. */
  template?: PluginEditorElement['template'] | undefined;
  /** The page's own endpoint that answers with an editor token. Required unless `fetchToken` is set. */
  tokenEndpoint?: PluginEditorElement['tokenEndpoint'] | undefined;
  /** How the token is asked for: `post` or `get`. */
  tokenMethod?: PluginEditorElement['tokenMethod'] | undefined;
  /** Whether cookies go with the token request: `omit`, `same-origin` or `include`. */
  credentials?: PluginEditorElement['credentials'] | undefined;
  /** How the editor gets the token. `url`: as a parameter of its address. `message`: by the frame protocol, for which the frame starts loading beside the token request; no address holds the token then. */
  tokenDelivery?: PluginEditorElement['tokenDelivery'] | undefined;
  /** `lazy`: nothing is fetched until the element comes near the viewport. */
  loading?: PluginEditorElement['loading'] | undefined;
  /** With `message` delivery: the frame loads as soon as `editor-url` is known, while there is no plugin yet. */
  preload?: PluginEditorElement['preload'] | undefined;
  /** Turns off the question that is asked before the page is left while `dirty`. */
  unguarded?: PluginEditorElement['unguarded'] | undefined;
  /** Time limit for one token request, and for the frame to load (`url`) or be ready (`message`), in ms. */
  timeout?: PluginEditorElement['timeout'] | undefined;
  /** The frame's sandbox; `none` removes it. */
  sandbox?: PluginEditorElement['sandbox'] | undefined;
  /** The frame's permissions. */
  allow?: PluginEditorElement['allow'] | undefined;
  /** The frame's referrer policy. */
  referrerpolicy?: PluginEditorElement['referrerpolicy'] | undefined;
  /** The frame's accessible name; by default `Plugin editor: ` and the plugin's name. */
  label?: PluginEditorElement['label'] | undefined;
  /** Gets tokens in place of `token-endpoint`; a new function restarts nothing. */
  fetchToken?: PluginEditorElement['fetchToken'] | undefined;
  /** Headers for the token request, such as one against cross-site request forgery, or a function that gives them. */
  tokenHeaders?: PluginEditorElement['tokenHeaders'] | undefined;
  /** Texts in place of the English ones. */
  strings?: PluginEditorElement['strings'] | undefined;
  /** The state changed: `state`, `previous`. */
  onPluginEditorState?: ((event: EventOn<PluginEditorElement, PluginEditorStateEvent>) => void) | undefined;
  /** The editor can be used: `confirmed`. */
  onPluginEditorReady?: ((event: EventOn<PluginEditorElement, PluginEditorReadyEvent>) => void) | undefined;
  /** The editor cannot be shown: `error`. */
  onPluginEditorError?: ((event: EventOn<PluginEditorElement, PluginEditorErrorEvent>) => void) | undefined;
  /** The token is about to end, and the editor could not be given a new one: `expiresAt`, `error`. */
  onPluginEditorExpiring?:
    ((event: EventOn<PluginEditorElement, PluginEditorExpiringEvent>) => void) | undefined;
  /** Unsaved work is about to go; cancelable. */
  onPluginEditorDiscard?:
    ((event: EventOn<PluginEditorElement, PluginEditorDiscardEvent>) => void) | undefined;
  /** Unsaved work appeared or went: `dirty`. */
  onPluginEditorDirty?: ((event: EventOn<PluginEditorElement, PluginEditorDirtyEvent>) => void) | undefined;
  /** The draft was saved. */
  onPluginEditorSave?: ((event: EventOn<PluginEditorElement, PluginEditorSaveEvent>) => void) | undefined;
  /** A build ended: `succeeded`, `outputLog`. */
  onPluginEditorBuild?: ((event: EventOn<PluginEditorElement, PluginEditorBuildEvent>) => void) | undefined;
  /** A test run ended: `name`, `result`, `error`. */
  onPluginEditorTest?: ((event: EventOn<PluginEditorElement, PluginEditorTestEvent>) => void) | undefined;
  /** A version was deployed: `version`. */
  onPluginEditorDeploy?: ((event: EventOn<PluginEditorElement, PluginEditorDeployEvent>) => void) | undefined;
}

/** What `<PluginEditor>` can be given, beside what any HTML element in React can. */
export interface PluginEditorProps
  extends PluginEditorOwnProps, Omit<HTMLAttributes<PluginEditorElement>, keyof PluginEditorOwnProps> {}

/** Shows a plugin editor in a frame: gets an editor token from the page's own endpoint, builds the editor's address from the attributes, and reports what becomes of it. Its ref is the element. */
export const PluginEditor = /* @__PURE__ */ component<PluginEditorElement, PluginEditorProps>(
  'plugin-editor',
  PluginEditorElement,
  [
    'plugin-editor-state',
    'plugin-editor-ready',
    'plugin-editor-error',
    'plugin-editor-expiring',
    'plugin-editor-discard',
    'plugin-editor-dirty',
    'plugin-editor-save',
    'plugin-editor-build',
    'plugin-editor-test',
    'plugin-editor-deploy',
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
  /** The `identifier` that is chosen at first and after a reset of the form: the attribute `value`. */
  defaultValue?: PluginFeaturesElement['defaultValue'] | undefined;
  /** Whether a form needs a choice. */
  required?: PluginFeaturesElement['required'] | undefined;
  disabled?: PluginFeaturesElement['disabled'] | undefined;
  /** Accessible name of the list or group. */
  label?: PluginFeaturesElement['label'] | undefined;
  /** Gets a token that is sent as Bearer; a new function restarts nothing. The request is then not shared. */
  fetchToken?: PluginFeaturesElement['fetchToken'] | undefined;
  /** Texts in place of the English ones. */
  strings?: PluginFeaturesElement['strings'] | undefined;
  /** The chosen `identifier`, or an empty string. */
  value?: PluginFeaturesElement['value'] | undefined;
  /** The record arrived, also anew: `record`. */
  onPluginFeaturesLoad?:
    ((event: EventOn<PluginFeaturesElement, PluginFeaturesLoadEvent>) => void) | undefined;
  /** The record could not be had: `error`. */
  onPluginFeaturesError?:
    ((event: EventOn<PluginFeaturesElement, PluginFeaturesErrorEvent>) => void) | undefined;
  /** The user chose a language. */
  onInput?: ((event: EventOn<PluginFeaturesElement, Event>) => void) | undefined;
  /** The user chose a language. */
  onChange?: ((event: EventOn<PluginFeaturesElement, Event>) => void) | undefined;
}

/** What `<PluginFeatures>` can be given, beside what any HTML element in React can. */
export interface PluginFeaturesProps
  extends PluginFeaturesOwnProps, Omit<HTMLAttributes<PluginFeaturesElement>, keyof PluginFeaturesOwnProps> {}

/** Shows what a builder supports: its languages, as a list or to choose one of, and its features. Its ref is the element. */
export const PluginFeatures = /* @__PURE__ */ component<PluginFeaturesElement, PluginFeaturesProps>(
  'plugin-features',
  PluginFeaturesElement,
  ['plugin-features-load', 'plugin-features-error', 'input', 'change'],
);
