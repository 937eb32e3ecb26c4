// Before anything of Lit: it teaches elements to take over what a server rendered.
import '@lit-labs/ssr-client/lit-element-hydrate-support.js';
import { hydrate } from '@lit-labs/ssr-client';
import 'plugin-editor';
import { page } from './page.ts';

const app = document.querySelector<HTMLElement>('#app');
if (app) hydrate(page(Object.fromEntries(new URLSearchParams(location.search))), app);
