// The types of the elements in templates.
import type {} from 'plugin-editor/types/vue.d.ts';
import 'plugin-editor';
import { createApp } from 'vue';
import App from './App.vue';

const { editor = '', builder = '', delivery } = Object.fromEntries(new URLSearchParams(location.search));
createApp(App, { place: { editor, builder, delivery: delivery === 'message' ? delivery : 'url' } }).mount(
  '#app',
);
