import type { SvelteHTMLElements } from 'svelte/elements';

import type {} from '../../src/types/svelte.d.ts';

export const editor: SvelteHTMLElements['plugin-editor'][] = [
  {
    class: 'wide',
    'editor-url': '/editor/',
    'token-delivery': 'message',
    preload: true,
    fetchToken: ({ fn }) => Promise.resolve(fn),
    'onplugin-editor-ready': ({ confirmed, currentTarget }) =>
      void [confirmed satisfies boolean, currentTarget.state],
    'on:plugin-editor-save': ({ ident }) => void ident.length,
  },
  // @ts-expect-error there is no such delivery
  { 'token-delivery': 'pigeon' },
  // @ts-expect-error an event has its own fields
  { 'onplugin-editor-ready': ({ version }) => version },
];

export const features: SvelteHTMLElements['plugin-features'] = {
  for: 'editor',
  value: 'typescript',
  onchange: (event) => void event.currentTarget.value.length,
};
