import { StrictMode, createElement, createRef } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';

import { PluginEditorElement } from '../../src/elements.ts';
import { App, type AppProps } from './app.ts';

/** The log of the page, for the test that drives it. */
export interface Log {
  events: { type: string; detail: unknown; target: string | undefined }[];
  tokens: number;
}

type Editor = AppProps['editor'];

const log: Log = { events: [], tokens: 0 };
const ref = createRef<PluginEditorElement>();

/** Functions that are new at every render, as most are. */
const inline = (): Partial<Editor> => ({
  onPluginEditorReady: ({ type, confirmed, currentTarget }) =>
    log.events.push({ type, detail: confirmed, target: currentTarget.id }),
  onPluginEditorState: ({ type, state, currentTarget }) =>
    log.events.push({ type, detail: state, target: currentTarget.id }),
  tokenHeaders: () => ({ 'x-from': 'react' }),
});

const fetchToken = () => {
  log.tokens += 1;
  return Promise.resolve(`t${log.tokens}`);
};

const tree = ({ editor, features }: AppProps, byFunction: boolean) =>
  createElement(
    StrictMode,
    null,
    createElement(App, {
      editor: Object.assign(
        { ...editor, ...inline(), ref },
        byFunction && { fetchToken: () => fetchToken() },
      ),
      features,
    } as AppProps),
  );

const container = document.querySelector('#app') as HTMLElement;
let root: ReturnType<typeof createRoot>;

const page = {
  log,
  ref,
  mount(props: AppProps, byFunction = false) {
    root = createRoot(container);
    root.render(tree(props, byFunction));
  },
  hydrate(props: AppProps, byFunction = false) {
    root = hydrateRoot(container, tree(props, byFunction));
  },
  render(props: AppProps, byFunction = false) {
    root.render(tree(props, byFunction));
  },
  /** Defines the element, as another part of the page may have done before. */
  async define() {
    customElements.define('plugin-editor', PluginEditorElement);
    await document.querySelector<PluginEditorElement>('plugin-editor')?.updateComplete;
  },
  unmount: () => root.unmount(),
};

declare global {
  interface Window {
    react: typeof page;
  }
}

window.react = page;
