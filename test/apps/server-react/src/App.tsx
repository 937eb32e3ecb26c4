import { PluginEditor, PluginFeatures } from 'plugin-editor/react.js';
import { useState } from 'react';

export interface Place {
  editor: string;
  builder: string;
  delivery: 'url' | 'message';
}

export function App({ place }: { place: Place }) {
  const [language, setLanguage] = useState('typescript');
  const [events, setEvents] = useState<string[]>([]);

  return (
    <>
      <PluginEditor
        editorUrl={place.editor}
        builder={place.builder}
        ident="com.example.acme"
        fn="first"
        template={language}
        tokenEndpoint="token"
        tokenDelivery={place.delivery}
        tokenHeaders={{ 'x-app': 'server-react' }}
        onPluginEditorReady={({ confirmed }) => setEvents([...events, `ready:${confirmed}`])}
      />
      <PluginFeatures
        builder={place.builder}
        selectable
        value={language}
        onInput={({ currentTarget }) => setLanguage(currentTarget.value)}
      />
      <output id="events">{events.join(' ')}</output>
      <output id="language">{language}</output>
    </>
  );
}
