import 'plugin-editor';
import { createSSRApp } from 'vue';
import App from './App.vue';

const place = Object.fromEntries(new URLSearchParams(location.search));
createSSRApp(App, { place }).mount('#app');
