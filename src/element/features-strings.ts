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
