/** @jsxImportSource solid-js */
import type {} from '../../src/types/solid.d.ts';

export const elements = [
  <plugin-editor
    class="wide"
    editor-url="/editor/"
    token-delivery="message"
    preload
    fetchToken={({ fn }) => Promise.resolve(fn)}
    on:plugin-editor-ready={({ confirmed, currentTarget }) => [
      confirmed satisfies boolean,
      currentTarget.state,
    ]}
  />,
  <plugin-features for="editor" on:change={(event) => event.currentTarget.value.length} />,
  // @ts-expect-error there is no such delivery
  <plugin-editor token-delivery="pigeon" />,
  // @ts-expect-error an event has its own fields
  <plugin-editor on:plugin-editor-ready={({ version }) => version} />,
];
