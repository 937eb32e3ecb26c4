import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Plugin, type Rolldown, type UserConfig, build, defineConfig } from 'vite';

const shared = { target: 'es2022' } as const;

/** Rolldown warns of `'use client'`, which it keeps. */
const onLog: Rolldown.RolldownOptions['onLog'] = (level, log, handler) => {
  if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handler(level, log);
};

/** `virtual:stand-in-page`: the script of the page that stands in for an editor, with all that it imports, as text. */
const standInScript: Plugin = {
  name: 'stand-in-script',
  resolveId: (id) => (id === 'virtual:stand-in-page' ? resolve('src/testing/stand-in-script.js') : undefined),
  load: {
    filter: { id: /\/stand-in-script\.js$/ },
    async handler() {
      const built = await build({
        configFile: false,
        logLevel: 'warn',
        build: {
          ...shared,
          write: false,
          lib: { entry: resolve('src/testing/stand-in-page.ts'), formats: ['es'] },
          rolldownOptions: { output: { minify: true } },
        },
      });
      const [{ output }] = built as Rolldown.RolldownOutput[] as [Rolldown.RolldownOutput];
      // It is put into HTML, where this would end the script.
      const code = output[0].code.trim().replaceAll('</script', '<\\/script');
      return `export default ${JSON.stringify(code)};`;
    },
  },
};

/** Emits `export {}` so that an empty chunk stays an ES module. */
const emptyModule: Plugin = {
  name: 'empty-module',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk' && !file.code.trim()) file.code = 'export {};\n';
    }
  },
};

/** For npm: one file for each source file. Dependencies are left to the application's bundler. */
const npm: UserConfig = {
  plugins: [standInScript, emptyModule],
  build: {
    ...shared,
    // Every file directly in src is one entry of the export map.
    lib: {
      entry: readdirSync('src')
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `src/${name}`),
      formats: ['es'],
    },
    minify: false,
    rolldownOptions: {
      onLog,
      external: /^(lit|react|zod|node:)/,
      experimental: { attachDebugInfo: 'none' },
      output: {
        preserveModules: true,
        preserveModulesRoot: 'src',
        entryFileNames: '[name].js',
        // The declarations have them.
        comments: { jsdoc: false },
      },
    },
  },
};

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** Writes `integrity.json`: the hashes by which a page can refuse a script that was changed. */
const integrity: Plugin = {
  name: 'integrity',
  writeBundle({ dir = '' }) {
    const hash = (name: string) => createHash('sha384').update(readFileSync(join(dir, name)));
    const names = readdirSync(dir).filter((name) => name.endsWith('.js'));
    const files = Object.fromEntries(names.map((name) => [name, `sha384-${hash(name).digest('base64')}`]));
    writeFileSync(join(dir, 'integrity.json'), JSON.stringify({ version, files }, null, 2) + '\n');
  },
};

/** For script tags: everything in one file, as a module and as a classic script. The modules for npm are the readable form. */
const cdn: UserConfig = {
  plugins: [integrity],
  build: {
    ...shared,
    outDir: 'dist/cdn',
    // Emit the licences of bundled packages.
    license: { fileName: 'LICENSES.txt' },
    lib: {
      entry: 'src/index.ts',
      formats: ['es', 'iife'],
      name: 'PluginEditorElements',
      fileName: (format) => (format === 'es' ? 'plugin-editor.js' : 'plugin-editor.iife.js'),
    },
    rolldownOptions: {
      output: {
        minify: true,
        // Nothing that bundles this file needs the marks of pure calls.
        comments: false,
        postBanner: '/*! plugin-editor: MIT; with Lit: BSD-3-Clause, (c) Google LLC */',
      },
    },
  },
};

export default defineConfig(({ mode }) => (mode === 'cdn' ? cdn : npm));
