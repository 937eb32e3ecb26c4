import type { TokenHeaders } from 'plugin-editor';
import { PluginEditor, PluginFeatures } from 'plugin-editor/react.js';
import { useState, version } from 'react';

export interface Place {
  editor: string;
  builder: string;
  delivery: 'url' | 'message';
}

export function App({ place }: { place: Place }) {
  const [mounts, setMounts] = useState(0);
  const [fn, setFn] = useState('first');
  const [language, setLanguage] = useState('');
  const [events, setEvents] = useState<string[]>([]);
  const add = (event: string) => setEvents((before) => [...before, event]);
  const headers: TokenHeaders = { 'x-app': `react-${version.split('.', 1)[0]}` };

  return (
    <>
      <PluginEditor
        key={mounts}
        editorUrl={place.editor}
        builder={place.builder}
        ident="com.example.acme"
        fn={fn}
        template={language}
        tokenEndpoint="token"
        tokenDelivery={place.delivery}
        tokenHeaders={headers}
        onPluginEditorReady={({ confirmed }) => add(`ready:${confirmed}`)}
        onPluginEditorDirty={({ dirty }) => add(`dirty:${dirty}`)}
        onPluginEditorDeploy={({ version }) => add(`deploy:${version}`)}
      />
      <PluginFeatures
        builder={place.builder}
        selectable
        value={language}
        onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
      />
      <button id="remount" onClick={() => setMounts(mounts + 1)}>
        Once more
      </button>
      <button id="other" onClick={() => setFn('other')}>
        Other plugin
      </button>
      <button id="javascript" onClick={() => setLanguage('javascript')}>
        JavaScript
      </button>
      <output id="events">{events.join(' ')}</output>
      <output id="language">{language}</output>
    </>
  );
}
