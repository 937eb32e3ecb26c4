// What must not compile. Nothing imports this file.
import { PluginEditor, PluginFeatures } from 'plugin-editor/react.js';

const all = { editorUrl: '/editor/', builder: null, ident: undefined, fn: 'f', tokenEndpoint: '/token' };

export const wrong = [
  // @ts-expect-error: the plugin is missing
  <PluginEditor key="0" editorUrl="/editor/" tokenEndpoint="/token" />,
  // @ts-expect-error: this event has no version
  <PluginEditor {...all} key="1" onPluginEditorReady={({ version }) => version} />,
  // @ts-expect-error: a property is named as in the reference
  <PluginEditor {...all} key="2" editorURL="https://editor.example.com/" />,
  // @ts-expect-error: there are two ways of delivery
  <PluginEditor {...all} key="3" tokenDelivery="post" />,
  // @ts-expect-error: it is called htmlFor
  <PluginFeatures key="4" for="editor" />,
];
