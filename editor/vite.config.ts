import { defineConfig } from 'vite';
import { firstScreen } from './first-screen.ts';

/** The editor's page, for `/editor/` of the service. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/editor/',
  envDir: false,
  publicDir: false,
  plugins: [firstScreen()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'esnext',
    // The page's policy allows files alone, and the browsers that run it preload modules by themselves.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What is bundled wants its licence to go with it.
    license: { fileName: 'LICENSES.txt' },
    chunkSizeWarningLimit: 2000,
    // What a slow machine takes is no fault that one could mend.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
