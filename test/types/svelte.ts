import type { SvelteHTMLElements } from 'svelte/elements';

import type {} from '../../src/types/svelte.d.ts';

const needed = { builder: null, ident: undefined, fn: 'add-record', 'editor-url': '/editor/' };
const all = { ...needed, 'token-endpoint': '/token' };

export const editor: SvelteHTMLElements['plugin-editor'][] = [
  {
    ...needed,
    class: 'wide',
    'token-delivery': 'message',
    preload: true,
    fetchToken: ({ fn }) => Promise.resolve(fn),
    'onplugin-editor-ready': ({ confirmed, currentTarget }) =>
      void [confirmed satisfies boolean, currentTarget.state],
    'on:plugin-editor-save': ({ ident }) => void ident.length,
  },
  // @ts-expect-error there is no such delivery
  { ...all, 'token-delivery': 'pigeon' },
  // @ts-expect-error there is no source of tokens
  needed,
  // @ts-expect-error an event has its own fields
  { ...all, 'onplugin-editor-ready': ({ version }) => version },
];

export const features: SvelteHTMLElements['plugin-features'] = {
  for: 'editor',
  value: 'typescript',
  onchange: (event) => void event.currentTarget.value.length,
};
