import type { GlobalComponents } from 'vue';

import type {} from '../../src/types/vue.d.ts';

type Editor = InstanceType<GlobalComponents['plugin-editor']>['$props'];
type Features = InstanceType<GlobalComponents['plugin-features']>['$props'];

/** What Vue's tools check in a template, where `editor-url` is `editorUrl` and `@plugin-editor-ready` a listener. */
export const editor: Editor[] = [
  {
    editorUrl: '/editor/',
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
  { tokenDelivery: 'pigeon' },
  // @ts-expect-error a number
  { timeout: 'long' },
  // @ts-expect-error an event has its own fields
  { onPluginEditorReady: ({ version }) => version },
  // @ts-expect-error what is read-only cannot be set
  { dirty: true },
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

/** What a template ref holds. */
export const reload = (element: InstanceType<GlobalComponents['plugin-editor']>): Promise<void> =>
  element.reload({ discard: true });
