import type { GlobalComponents } from 'vue';

import type {} from '../../src/types/vue.d.ts';

type Editor = InstanceType<GlobalComponents['plugin-editor']>['$props'];
type Features = InstanceType<GlobalComponents['plugin-features']>['$props'];

const needed = { editorUrl: '/editor/', builder: null, ident: undefined, fn: 'add-record' };
const all = { ...needed, tokenEndpoint: '/token' };

/** What Vue's tools check in a template, where `editor-url` is `editorUrl` and `@plugin-editor-ready` a listener. */
export const editor: Editor[] = [
  {
    ...needed,
    tokenDelivery: 'message',
    preload: true,
    timeout: 5000,
    class: 'wide',
    key: 'editor',
    fetchToken: ({ fn }) => Promise.resolve(fn),
    onPluginEditorReady: ({ confirmed, currentTarget }) =>
      void [confirmed satisfies boolean, currentTarget.state],
  },
  // @ts-expect-error there is no such delivery
  { ...all, tokenDelivery: 'pigeon' },
  // @ts-expect-error there is no source of tokens
  needed,
  // @ts-expect-error a number
  { ...all, timeout: 'long' },
  // @ts-expect-error an event has its own fields
  { ...all, onPluginEditorReady: ({ version }) => version },
  // @ts-expect-error what is read-only cannot be set
  { ...all, dirty: true },
];

export const features: Features[] = [
  {
    for: 'editor',
    modelValue: 'typescript',
    'onUpdate:modelValue': (value) => void value.length,
    required: true,
  },
  { htmlFor: 'editor', onChange: (event) => void event.currentTarget.value.length },
  // @ts-expect-error a string
  { value: 3 },
];

/** The value of a template ref. */
export const reload = (element: InstanceType<GlobalComponents['plugin-editor']>): Promise<void> =>
  element.reload({ discard: true });
