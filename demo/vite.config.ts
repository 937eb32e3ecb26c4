import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** The vendor's page, for the root of its origin. */
export default defineConfig({
  root: fileURLToPath(new URL('../', import.meta.url)),
  base: '/',
  envDir: false,
  publicDir: false,
  build: {
    outDir: 'demo/dist',
    emptyOutDir: true,
    target: 'esnext',
    // The page's policy allows files alone, and the browsers that run it preload modules by themselves.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    // Slow builds are not actionable.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
