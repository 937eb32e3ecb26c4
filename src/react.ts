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
import { type EventOn, type PropsOf, component } from './react/component.ts';

export type { PluginEditorElement, PluginFeaturesElement };

interface PluginEditorOwnProps extends PropsOf<
  PluginEditorElement,
  'editorUrl' | 'builder' | 'ident' | 'fn',
  | 'namespace'
  | 'template'
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
  | 'tokenHeaders'
  | 'initialSource'
  | 'assistant'
  | 'strings'
> {
  /** Address of your endpoint that answers with an editor token; a relative one is resolved against the document. Required unless `fetchToken` is set. */
  tokenEndpoint?: PluginEditorElement['tokenEndpoint'] | null | undefined;
  /** Your function that gets tokens, instead of `token-endpoint`: called with `{ ident, namespace, fn, signal }`, it returns a promise of a token or of `{ token, expires_in?, expires_at? }`. A new function restarts nothing. */
  fetchToken?: PluginEditorElement['fetchToken'] | null | undefined;
  /** Every change of `state`. */
  onPluginEditorState?: ((event: EventOn<PluginEditorElement, PluginEditorStateEvent>) => void) | undefined;
  /** The editor can be used. `confirmed`: whether the editor said so itself; `false` means that its page has loaded. Fires once for each plugin that is opened, and once more if the editor says so later. */
  onPluginEditorReady?: ((event: EventOn<PluginEditorElement, PluginEditorReadyEvent>) => void) | undefined;
  /** The editor cannot be shown: `state` became `error`. Or a running editor could not be reloaded, such as after a sign-out, and stays: `state` is `ready`. */
  onPluginEditorError?: ((event: EventOn<PluginEditorElement, PluginEditorErrorEvent>) => void) | undefined;
  /** The token is about to end, and the editor has not got a new one. */
  onPluginEditorExpiring?:
    ((event: EventOn<PluginEditorElement, PluginEditorExpiringEvent>) => void) | undefined;
  /** `plugin` changed. */
  onPluginEditorPlugin?: ((event: EventOn<PluginEditorElement, PluginEditorPluginEvent>) => void) | undefined;
  /** Unsaved work is about to be lost; `preventDefault()` keeps it. `next`: the plugin that replaces this one, if any; `error`: why the editor did not save. */
  onPluginEditorDiscard?:
    ((event: EventOn<PluginEditorElement, PluginEditorDiscardEvent>) => void) | undefined;
  /** `dirty` changed: unsaved work appeared, or is saved or gone. */
  onPluginEditorDirty?: ((event: EventOn<PluginEditorElement, PluginEditorDirtyEvent>) => void) | undefined;
  /** The draft was saved. */
  onPluginEditorSave?: ((event: EventOn<PluginEditorElement, PluginEditorSaveEvent>) => void) | undefined;
  /** A build ended. */
  onPluginEditorBuild?: ((event: EventOn<PluginEditorElement, PluginEditorBuildEvent>) => void) | undefined;
  /** A test run ended, with a `result` or an `error`; `passed` only if the test asserts something. */
  onPluginEditorTest?: ((event: EventOn<PluginEditorElement, PluginEditorTestEvent>) => void) | undefined;
  /** A version was deployed; `unchanged`: it was the newest already. */
  onPluginEditorDeploy?: ((event: EventOn<PluginEditorElement, PluginEditorDeployEvent>) => void) | undefined;
  /** Another version was made live; `null`: the newest is live again. Does not fire for a deploy. */
  onPluginEditorLive?: ((event: EventOn<PluginEditorElement, PluginEditorLiveEvent>) => void) | undefined;
}

/** What `<PluginEditor>` can be given, beside what any HTML element in React can. */
export type PluginEditorProps = PluginEditorOwnProps &
  ({ tokenEndpoint: unknown } | { fetchToken: unknown }) &
  Omit<HTMLAttributes<PluginEditorElement>, keyof PluginEditorOwnProps>;

/** Shows a plugin editor in a frame: gets an editor token from the page's own endpoint, builds the editor's address from the attributes, and reports by events what happens in the editor. Its ref is the element. */
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

interface PluginFeaturesOwnProps extends PropsOf<
  PluginFeaturesElement,
  never,
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
> {
  /** The record arrived, for the first time or after a refresh. */
  onPluginFeaturesLoad?:
    ((event: EventOn<PluginFeaturesElement, PluginFeaturesLoadEvent>) => void) | undefined;
  /** The record could not be loaded; `state` became `error`. */
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
