import type { PluginEditorErrorCode } from '../core/errors.ts';

/**
 * Every visible text of `<plugin-editor>`: those of the error view by the error's code, and the others by what they are for.
 */
export type PluginEditorStrings = Record<
  'frame' | 'loading' | 'retry' | Exclude<PluginEditorErrorCode, 'popup-blocked'>,
  string
>;

const server = 'The server could not open the editor.';

export const defaultStrings: PluginEditorStrings = {
  // A colon and the plugin's name follow.
  frame: 'Plugin editor',
  loading: 'Loading the editor…',
  retry: 'Try again',
  config: 'The editor is not set up correctly.',
  'token-network': 'There is no connection to the server.',
  'token-timeout': 'The server did not answer in time.',
  'token-unauthorized': 'You may not open this plugin, or your session has ended.',
  'token-redirect': 'Your session seems to have ended. Sign in, then try again.',
  'token-http': server,
  'token-invalid': server,
  'token-source': server,
  'frame-timeout': 'The editor did not load in time.',
  'frame-blocked': 'This page does not allow the editor to be shown.',
  editor: 'The editor could not open this plugin.',
};

/** Every visible text of `<plugin-features>`. */
export interface PluginFeaturesStrings {
  /** Accessible name of the languages, unless `label` is set. */
  languages: string;
  /** Accessible name of the features. */
  features: string;
  loading: string;
  empty: string;
  retry: string;
  /** Shown by the browser when `required` and nothing is chosen. */
  required: string;
  /** Shown in the error view. */
  error: string;
  /** Names of features, by `feature-` and the builder's name for it. A feature without one is shown by the builder's name. */
  [feature: `feature-${string}`]: string;
}

export const defaultFeaturesStrings: PluginFeaturesStrings = {
  languages: 'Languages',
  features: 'Features',
  loading: 'Loading languages…',
  empty: 'No languages',
  retry: 'Try again',
  required: 'Choose a language',
  error: 'The languages could not be loaded.',
  'feature-testing': 'Try out before deploying',
  'feature-stream_builds': 'Watch builds as they run',
};
