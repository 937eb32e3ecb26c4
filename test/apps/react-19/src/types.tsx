// What must not compile. Nothing imports this file.
import { PluginEditor, PluginFeatures } from 'plugin-editor/react.js';
import type {} from 'plugin-editor/types/react.d.ts';

export const wrong = [
  // @ts-expect-error: this event has no version
  <PluginEditor key="1" onPluginEditorReady={({ version }) => version} />,
  // @ts-expect-error: a property is named as in the reference
  <PluginEditor key="2" editorURL="https://editor.example.com/" />,
  // @ts-expect-error: there are two ways of delivery
  <PluginEditor key="3" tokenDelivery="post" />,
  // @ts-expect-error: it is called htmlFor
  <PluginFeatures key="4" for="editor" />,
];

/** The tags themselves, as React 19 renders them in a browser. */
export const plain = [
  <plugin-editor key="1" editor-url="/editor/" token-delivery="message" />,
  // @ts-expect-error: there are two ways of delivery
  <plugin-editor key="2" token-delivery="post" />,
];
