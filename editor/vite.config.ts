import { fileURLToPath } from 'node:url';
import { type HtmlTagDescriptor, type Plugin, defineConfig } from 'vite';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Names in the page, beside `main`, the scripts `loader` and `page` with what they import. A browser then asks for all files at
 * once; a file that is found only in another one costs a round trip more. The loader is the first, because it handles missing files.
 */
const namedScripts: Plugin = {
  name: 'named-scripts',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) => {
      const chunkOf = (name: string) => {
        const chunk = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === name);
        if (chunk?.type !== 'chunk') throw new Error(`The build made no chunk "${name}".`);
        return chunk;
      };
      const tag = (fileName: string, preload = false): HtmlTagDescriptor => {
        const address = `/editor/${fileName}`;
        return preload
          ? {
              tag: 'link',
              attrs: { rel: 'modulepreload', crossorigin: true, href: address },
              injectTo: 'head',
            }
          : { tag: 'script', attrs: { type: 'module', crossorigin: true, src: address }, injectTo: 'head' };
      };
      const [loader, main, page] = [chunkOf('loader'), chunkOf('main'), chunkOf('page')];
      return [
        { ...tag(loader.fileName), injectTo: 'head-prepend' },
        tag(page.fileName),
        ...page.imports.filter((name) => name !== main.fileName).map((name) => tag(name, true)),
      ];
    },
  },
};

/** The editor's page, for `/editor/` of the service. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/editor/',
  envDir: false,
  publicDir: false,
  plugins: [namedScripts],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'esnext',
    // The page's policy allows files alone, and the browsers that run it preload modules by themselves.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Emit the licences of bundled packages.
    license: { fileName: 'LICENSES.txt' },
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: { index: path('index.html'), loader: path('src/loader.ts'), page: path('src/page.ts') },
      // Slow builds are not actionable.
      checks: { bundlerTimings: false },
    },
  },
});
