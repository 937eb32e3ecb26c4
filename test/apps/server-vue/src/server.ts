import 'plugin-editor';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import App from './App.vue';

export const render = (place: Record<string, string>): Promise<string> =>
  renderToString(createSSRApp(App, { place }));
