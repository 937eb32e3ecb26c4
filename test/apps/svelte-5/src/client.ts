// The types of the elements in templates.
import type {} from 'plugin-editor/types/svelte.d.ts';
import 'plugin-editor';
import { mount } from 'svelte';
import App from './App.svelte';

const { editor = '', builder = '', delivery } = Object.fromEntries(new URLSearchParams(location.search));
const target = document.querySelector('#app');
if (target)
  mount(App, {
    target,
    props: { place: { editor, builder, delivery: delivery === 'message' ? delivery : 'url' } },
  });
