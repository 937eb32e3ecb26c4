/** @jsxImportSource solid-js */
import type {} from '../../src/types/solid.d.ts';

const needed = { builder: null, ident: undefined, fn: 'add-record' };
const all = { ...needed, 'editor-url': '/editor/', 'token-endpoint': '/token' };

export const elements = [
  <plugin-editor
    {...needed}
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
  <plugin-editor {...all} token-delivery="pigeon" />,
  // @ts-expect-error there is no source of tokens
  <plugin-editor {...needed} editor-url="/editor/" />,
  // @ts-expect-error an event has its own fields
  <plugin-editor {...all} on:plugin-editor-ready={({ version }) => version} />,
];
