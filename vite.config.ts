import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'lightningcss';
import { minify } from 'terser';
import { type Plugin, type UserConfig, defineConfig } from 'vite';

/** Every entry of the export map is one file directly in src/. */
const entries = readdirSync('src').filter((name) => name.endsWith('.ts'));

const shared = { target: 'es2022', sourcemap: true } as const;

/** The styles of the elements hold nothing that their minifier could miss: no `${}`, which it would refuse. */
const minifiedStyles: Plugin = {
  name: 'minified-styles',
  enforce: 'pre',
  transform: {
    filter: { id: /styles\.ts$/ },
    handler: (code) => ({
      code: code.replace(/css`([^`]*)`/g, (_, css: string) => `css\`${minifyCss(css)}\``),
      // Nobody steps through a style sheet's text.
      map: { mappings: '' },
    }),
  },
};

const minifyCss = (css: string) =>
  transform({ filename: 'styles.css', code: Buffer.from(css), minify: true }).code.toString();

/** For npm: one output file per source file; dependencies are left to the application's bundler. */
const npm: UserConfig = {
  plugins: [minifiedStyles],
  build: {
    ...shared,
    lib: { entry: entries.map((name) => `src/${name}`), formats: ['es'] },
    minify: false,
    rolldownOptions: {
      external: /^(lit|react|zod|node:)/,
      output: { preserveModules: true, preserveModulesRoot: 'src', entryFileNames: '[name].js' },
    },
  },
};

/** A second pass over what Vite's own minifier made takes off another 2 %. */
const terser = (format: 'es' | 'iife'): Plugin => ({
  name: 'terser',
  async generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      const map = bundle[`${file.fileName}.map`];
      const { code = '', map: newMap } = await minify(withoutIndents(file.code), {
        ecma: 2020,
        // A classic script's one variable is what its users know it by.
        module: format === 'es',
        format: { preamble: LICENCES },
        sourceMap: { content: map?.type === 'asset' ? String(map.source) : '', url: `${file.fileName}.map` },
        compress: { passes: 3, hoist_props: true, keep_fargs: false },
      });
      file.code = code;
      if (map?.type === 'asset') map.source = newMap as string;
    }
  },
});

const LICENCES = '/*! plugin-editor: MIT. Includes Lit: BSD-3-Clause, (c) Google LLC. */';

/** The indents of our templates mean nothing, and no other text of ours holds a line break. */
const withoutIndents = (code: string) => code.replace(/\n +/g, '\n');

/** What a page puts into `integrity` to refuse a script that somebody changed, for all scripts in the directory. */
const integrity: Plugin = {
  name: 'integrity',
  writeBundle({ dir = '' }) {
    const names = readdirSync(dir).filter((name) => name.endsWith('.js'));
    const files = Object.fromEntries(
      names.toSorted().map((name) => [name, sri(readFileSync(join(dir, name)))]),
    );
    writeFileSync(join(dir, 'integrity.json'), JSON.stringify({ version, files }, null, 2) + '\n');
  },
};

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const sri = (bytes: Buffer) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;

/** For script tags: everything in one file, once as a module and once for a classic script. */
const cdn = (format: 'es' | 'iife', file: string): UserConfig => ({
  plugins: [minifiedStyles, terser(format), integrity],
  build: {
    ...shared,
    outDir: 'dist/cdn',
    emptyOutDir: false,
    // What is bundled wants its licence to go with it.
    license: { fileName: 'LICENSES.txt' },
    lib: { entry: 'src/index.ts', formats: [format], name: 'PluginEditorElements', fileName: () => file },
    rolldownOptions: { output: { minify: true } },
  },
});

export default defineConfig(({ mode }) => {
  if (mode === 'cdn') return cdn('es', 'plugin-editor.js');
  if (mode === 'iife') return cdn('iife', 'plugin-editor.iife.js');
  return npm;
});
