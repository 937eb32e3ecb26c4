import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type SourceMapSegment, decode, encode } from '@jridgewell/sourcemap-codec';
import { transform } from 'lightningcss';
import { type MinifyOutput, minify } from 'terser';
import { type Plugin, type Rolldown, type UserConfig, build, defineConfig } from 'vite';

/** Every entry of the export map is one file directly in src/. */
const entries = readdirSync('src').filter((name) => name.endsWith('.ts'));

const shared = { target: 'es2022' } as const;

/** `'use client'` is kept, and tested; the slowest plugin is the minifier. */
const quiet = {
  checks: { pluginTimings: false },
  onLog: (level, log, handler) => {
    if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handler(level, log);
  },
} satisfies Rolldown.RolldownOptions;

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

/** `virtual:stand-in-page`: the script of the page that stands in for an editor, with all that it imports, as text. */
const standInScript: Plugin = {
  name: 'stand-in-script',
  resolveId: (id) => (id === 'virtual:stand-in-page' ? resolve('src/testing/stand-in-script.js') : undefined),
  load: {
    filter: { id: /\/stand-in-script\.js$/ },
    async handler() {
      const made = await build({
        configFile: false,
        logLevel: 'warn',
        build: {
          ...shared,
          write: false,
          lib: { entry: resolve('src/testing/stand-in-page.ts'), formats: ['es'] },
          rolldownOptions: { output: { minify: true } },
        },
      });
      const [{ output }] = made as Rolldown.RolldownOutput[] as [Rolldown.RolldownOutput];
      // It is put into HTML, where this would end the script.
      const code = output[0].code.trim().replaceAll('</script', '<\\/script');
      return `export default ${JSON.stringify(code)};`;
    },
  },
};

/** Says that it is a module, which the bundler leaves out: without, some import whatever they like from an empty file. */
const emptyModule: Plugin = {
  name: 'empty-module',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk' && !file.code.trim()) file.code = 'export {};\n';
    }
  },
};

/**
 * For npm: one output file per source file; dependencies are left to the application's bundler. What it says of itself is
 * in the declarations, and as it is not minified, it needs no source maps.
 */
const npm: UserConfig = {
  plugins: [minifiedStyles, standInScript, emptyModule],
  build: {
    ...shared,
    lib: { entry: entries.map((name) => `src/${name}`), formats: ['es'] },
    minify: false,
    rolldownOptions: {
      ...quiet,
      external: /^(lit|react|zod|node:)/,
      // Each file is one source file, and need not name it.
      experimental: { attachDebugInfo: 'none' },
      output: {
        preserveModules: true,
        preserveModulesRoot: 'src',
        entryFileNames: '[name].js',
        comments: { jsdoc: false },
      },
    },
  },
};

/**
 * What is for npm, made in memory: so the source map of a script leads to readable files that are published beside it, and
 * need not hold them.
 */
async function fromNpmBuild(): Promise<Plugin> {
  const made = await build({
    ...npm,
    configFile: false,
    logLevel: 'warn',
    build: { ...npm.build, write: false },
  });
  const [{ output }] = made as Rolldown.RolldownOutput[] as [Rolldown.RolldownOutput];
  const codes = new Map<string, string>();
  for (const file of output) {
    if (file.type !== 'chunk') continue;
    if (BEYOND_LIT_OF_TODAY.test(file.code)) {
      throw new Error(`${file.fileName} uses what is left out of Lit here; see UNUSED_IN_LIT`);
    }
    codes.set(resolve('dist', file.fileName), withoutIndents(file.code));
  }
  // gzip looks back 32 KB and finds what is near at less cost. So Lit goes first, that it does not lie between what is ours,
  // and the styles and texts of both elements stand together.
  const entry = resolve('dist/index.js');
  const first = ['lit', ...['styles', 'features-styles', 'strings', 'features-strings'].map(inElements)];
  codes.set(entry, first.map((id) => `import '${id}';`).join('') + codes.get(entry));
  return {
    name: 'from-npm-build',
    enforce: 'pre',
    resolveId(id, importer = '') {
      const path = resolve(importer, '..', id);
      return codes.has(path) ? path : undefined;
    },
    load: (id) => codes.get(id),
  };
}

/**
 * What the script-tag file needs of Lit less than other users of it do, as replacements in Lit's own code. They are tests
 * whose outcome is known here, so that the minifier finds what hangs on them to be dead code; together 0.5 KB.
 */
const UNUSED_IN_LIT: Record<string, [pattern: RegExp, known: string][]> = {
  // Style sheets can be constructed, in every browser that has what else the elements need.
  'css-tag': [[/\w\.ShadowRoot&&.*?"replace"in CSSStyleSheet\.prototype/, '!0']],
  'reactive-element': [
    // Nor does any polyfill of shadow roots come with such a browser.
    [/\w\.reactiveElementPolyfillSupport/, 'void 0'],
    // No property is declared by a decorator.
    [/Symbol\.metadata\?\?=Symbol\("metadata"\),\w\.litPropertyMetadata\?\?=new WeakMap;/, ''],
    [/this\[Symbol\.metadata\]/, 'null'],
    [/\(\w\.reactiveElementVersions\?\?=\[\]\)\.push\(/, '('],
  ],
  'lit-html': [
    [/\w\.litHtmlPolyfillSupport/, 'void 0'],
    [/\(\w\.litHtmlVersions\?\?=\[\]\)\.push\(/, '('],
    // The templates of the elements are all that there are. They are HTML, not SVG or MathML,
    [/[23]===\w(?=\?"<|\|\||\))/g, '!1'],
    // without directives and what they alone read,
    [/(function \w\(\w,(\w),\w=\w,\w\)\{)if\(.*?,\2\}/, '$1return $2}'],
    [/get (?:startNode|endNode|parentNode|tagName|_\$AU)\(\)\{[^}]*\}|this\._\$AN=void 0,/g, ''],
    [/this\._\$AP\?\.\([^)]*\)/g, '0'],
    // without attributes of which an expression is only a part,
    [/\w\.length>2(?:\|\|""!==\w\[\d\]){2}/, '!1'],
    [/void 0===\w(?=\)\w=\w\(this,)/, '!0'],
    // and without expressions in a comment, a text of `<textarea>` or its like, or a tag that they are no attribute of.
    [/else\{let \w=-1;for\(.*?type:7.*?\}(?=\w\+\+)/, ''],
    [/\w\.test\(\w(\.tagName|\[2\])\)/g, '!1'],
    [/\w\.startsWith\(\w\)(?=&&\(\w\.push\(\{type:6)|6===\w\.type/g, '!1'],
    [/\w\?\.creationScope\?\?/, ''],
  ],
  'lit-element': [
    [/\w\.litElementPolyfillSupport/, 'void 0'],
    [/\(\w\.litElementVersions\?\?=\[\]\)\.push\(/, '('],
  ],
};

/** Directives, and attributes of which an expression is only a part. */
const BEYOND_LIT_OF_TODAY = /from ["']lit\/|\s[\w-]+=["'][^"'\n]*\$\{|<!--|\b(?:svg|mathml)`/;

const litOfToday: Plugin = {
  name: 'lit-of-today',
  transform: {
    filter: { id: /\/(css-tag|reactive-element|lit-html|lit-element)\.js$/ },
    handler(code, id) {
      let short = code;
      for (const [pattern, known] of UNUSED_IN_LIT[basename(id, '.js')] ?? []) {
        const shorter = short.replace(pattern, known);
        // Another version of Lit, most likely: what it does now has to be looked at.
        if (shorter === short) throw new Error(`${id} has nothing like ${String(pattern)}`);
        short = shorter;
      }
      return { code: short, map: null };
    },
  },
};

const inElements = (name: string) => `./element/${name}.js`;

const ES = 'plugin-editor.js';
const CLASSIC = 'plugin-editor.iife.js';
const MAP = `${ES}.map`;

/**
 * Properties of objects that never leave the script-tag file, by the interfaces and classes that declare them. No minifier
 * shortens a property by itself, because it cannot know who else reads it; these are read by nobody else, and shorter names
 * save 0.3 KB. A name belongs here only if nothing that is public has it too: no member of an element, event or error, no
 * field of a message, record or option, nothing of the browser's own. A test compares the list with what is published.
 */
export const INTERNAL_NAMES = [
  // Attribute, Schema, FailedTry, RequestOptions, Instant, HeldToken, ReceivedToken, Ident
  'initial effect keywords safeParse issues expected attempt tries maxBytes wall mono life since environment tenant',
  // EditorController, PluginReporter, SettingsSync
  'sendSettings hostMoved reporter setState setDirty openedConfig openedPlugin reportReady reportFailure reportExpiring editorMessage unwatch defer stopDeferring takeAll takeChanges',
  // UnsavedWorkHost, UnsavedWork
  'release isReleasing isGuarded canSave confirmDiscard hasPending',
  // Launch, LaunchHost, EditorTabs
  'connection canDeliver onFrame takeAllSettings closeWaiting',
  // EditorConnection, ConnectionOptions, EditorFrame
  'awaitsReady editorFrame withToken knownTokens isBlank callers endSession hasGreeted supports canPost dispose iframe onMessage onLoad onBlocked setAttributes',
  // TokenHolder, TokenHolderHost
  'obtain renew scheduleRenewal scheduleTokenRequest getToken onUnauthorized',
  // FeaturesStore, FeaturesView
  'subscribe unsubscribe locked onInput onChange',
].flatMap((names) => names.split(' '));

const INTERNAL_NAME = new RegExp(`^(${INTERNAL_NAMES.join('|')})$`);

/**
 * A second pass over what Vite's own minifier made takes off another 2 %. A classic script differs from a module in its
 * first line, which no code stands in, and in the names at its end; so one map serves both.
 */
const terser = (file: string): Plugin => ({
  name: 'terser',
  async generateBundle(_, bundle) {
    const chunk = bundle[file];
    const map = bundle[`${file}.map`];
    if (chunk?.type !== 'chunk' || map?.type !== 'asset') throw new Error(`There is no ${file} with a map`);
    const minified = await minify(chunk.code, {
      ecma: 2020,
      module: true,
      format: { preamble: LICENCES },
      sourceMap: { content: String(map.source), url: MAP, asObject: true },
      compress: { passes: 3, hoist_props: true, keep_fargs: false, pure_getters: true, unsafe_arrows: true },
      mangle: { properties: { regex: INTERNAL_NAME, builtins: true, keep_quoted: true } },
    });
    const { code, mappings } = withoutTemplateLines(minified);
    chunk.code = file === CLASSIC ? asClassicScript(code) : code;
    if (file === CLASSIC) delete bundle[`${file}.map`];
    else map.source = JSON.stringify({ ...(minified.map as EncodedSourceMap), ...byLine(mappings) });
  },
});

type EncodedSourceMap = Exclude<MinifyOutput['map'], string | undefined>;

/** The line breaks of our templates mean as little as their indents. What the map says of a line moves with it. */
function withoutTemplateLines({ code = '', map }: MinifyOutput) {
  const lines: string[] = [];
  const mappings: SourceMapSegment[][] = [];
  const decoded = decode((map as EncodedSourceMap).mappings);
  for (const [i, line] of code.split('\n').entries()) {
    const before = lines.at(-1) ?? '';
    // The other breaks are behind the licences and behind the end of the code.
    const isInTemplate = i > 1 && !before.endsWith(';');
    if (isInTemplate) {
      const joint = before + (/[>`]$/.test(before) || /^[<>`]/.test(line) ? '' : ' ');
      lines[lines.length - 1] = joint + line;
      for (const [column, ...rest] of decoded[i] ?? [])
        mappings.at(-1)?.push([joint.length + column, ...rest] as SourceMapSegment);
    } else {
      lines.push(line);
      mappings.push(decoded[i] ?? []);
    }
  }
  return { code: lines.join('\n'), mappings };
}

/** One place for each line of a source: enough to step through it, at a fifth of the size. */
function byLine(mappings: SourceMapSegment[][]) {
  const lines = mappings.map((segments) =>
    segments
      .filter(([, source, line], i) => source !== segments[i - 1]?.[1] || line !== segments[i - 1]?.[2])
      // Without the name.
      .map((segment) => segment.slice(0, 4) as SourceMapSegment),
  );
  return { names: [], sourcesContent: undefined, mappings: encode(lines) };
}

function asClassicScript(code: string): string {
  const [, names] = /\bexport\{([^}]+)\};\n/.exec(code) ?? [];
  if (!names) throw new Error('The module does not end with its exports');
  const fields = names.split(',').map((name) => name.split(' as ').toReversed().join(':'));
  return code
    .replace(LICENCES, () => `${LICENCES}var PluginEditorElements=(()=>{"use strict";`)
    .replace(/\bexport\{[^}]+\};\n/, () => `return{${fields.join()}}})();\n`);
}

const LICENCES = '/*! plugin-editor: MIT; with Lit: BSD-3-Clause, (c) Google LLC */';

/** The indents of our templates mean nothing. The lines stay until the source map has counted them. */
const withoutIndents = (code: string) => code.replace(/^[ \t]+/gm, '');

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
const cdn = async (file: string): Promise<UserConfig> => ({
  plugins: [await fromNpmBuild(), litOfToday, terser(file), integrity],
  build: {
    ...shared,
    sourcemap: true,
    outDir: 'dist/cdn',
    emptyOutDir: false,
    // What is bundled wants its licence to go with it.
    license: { fileName: 'LICENSES.txt' },
    lib: { entry: resolve('dist/index.js'), formats: ['es'], fileName: () => file },
    rolldownOptions: {
      ...quiet,
      output: {
        minify: true,
        // As seen from dist/cdn, wherever the packages and this build lie: every build of a version has the same bytes.
        sourcemapPathTransform: (path) =>
          path.replace(/^.*\/(?=node_modules\/)/, '../../').replace(/^(?:.*\/)?dist\//, '../'),
      },
    },
  },
});

export default defineConfig(async ({ mode }) => {
  if (mode === 'cdn') return cdn(ES);
  if (mode === 'iife') return cdn(CLASSIC);
  return npm;
});
