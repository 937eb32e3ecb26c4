import { type FunctionComponent, createElement, useState } from 'react';

import type { PluginEditorProps, PluginFeaturesProps } from '../../src/react.ts';
import { PluginEditor, PluginFeatures } from '../../src/react.ts';

export interface AppProps {
  editor: PluginEditorProps;
  features?: PluginFeaturesProps | undefined;
}

/** The app that a server renders and a browser hydrates: an editor, and the languages if wanted. */
export const App: FunctionComponent<AppProps> = ({ editor, features }) => {
  const [language, setLanguage] = useState(features?.value);
  return createElement(
    'main',
    null,
    createElement(PluginEditor, { id: 'editor', className: 'wide', ...editor }, 'Inside'),
    features &&
      createElement(PluginFeatures, {
        id: 'features',
        ...features,
        ...(language !== undefined && { value: language }),
        onChange: (event) => setLanguage(event.currentTarget.value),
      }),
    createElement('output', null, language),
  );
};
