import { fileURLToPath } from 'node:url';

import type { TestRunnerConfig, TestRunnerPlugin } from '@web/test-runner';
import { build } from 'vite';
import type { Rolldown } from 'vite';

type Middleware = NonNullable<TestRunnerConfig['middleware']>[number];

const root = fileURLToPath(new URL('../..', import.meta.url));
const BASE = '/bundled/';

/** The libraries that are bundled, by the specifiers that the sources and the tests import. */
const SPECIFIERS = [
  '@open-wc/testing',
  'fast-check',
  'lit',
  'lit/html.js',
  'lit/directives/keyed.js',
  'lit/directives/live.js',
  'lit/directives/repeat.js',
  'zod/mini',
];
const nameOf = (specifier: string) => specifier.replace(/\.js$/, '');
const packages = /^(?:@open-wc\/testing|fast-check|lit|zod)(?:\/|$)/;

/**
 * Serves the libraries as a few files, because every page of tests loads them: unbundled, two thirds of what it requests are
 * their modules, and WebKit keeps none from one page to the next. They are bundled together, so that each module has one
 * instance, at the first request. The package's own modules are served one by one.
 */
export function bundledModules(): { middleware: Middleware; plugin: TestRunnerPlugin } {
  let bundled: Promise<Map<string, string>> | undefined;
  return {
    middleware: async (context, next) => {
      if (!context.path.startsWith(BASE)) {
        await next();
        return;
      }
      // In middleware, because the runner would parse a plugin's responses for imports each time.
      bundled ??= bundle();
      const code = (await bundled).get(context.path.slice(BASE.length));
      if (code === undefined) return;
      context.type = 'js';
      context.body = code;
    },
    plugin: {
      name: 'bundled-modules',
      resolveImport({ source }) {
        if (!packages.test(source)) return undefined;
        if (SPECIFIERS.includes(source)) return `${BASE}${nameOf(source)}.js`;
        // Unbundled, it would come with second instances of the modules that it shares with the others.
        throw new Error(
          `Add "${source}" to SPECIFIERS in bundled-modules.ts, so that browser tests can import it.`,
        );
      },
    },
  };
}

/** The code of all files by their names below `BASE`. */
async function bundle(): Promise<Map<string, string>> {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'error',
    // Lit reports more mistakes in this mode.
    resolve: { conditions: ['development', 'browser', 'module'] },
    // axe-core, which is large, is loaded by the few tests that use it: as a script, since bundled it is a CommonJS module.
    define: { require: 'undefined' },
    plugins: [
      {
        name: 'axe-apart',
        enforce: 'pre',
        resolveId: (id) =>
          id === 'axe-core/axe.min.js' ? { id: `/node_modules/${id}`, external: 'absolute' } : null,
      },
    ],
    build: {
      write: false,
      target: 'esnext',
      minify: false,
      lib: {
        entry: Object.fromEntries(
          SPECIFIERS.map((name) => [nameOf(name), fileURLToPath(import.meta.resolve(name))]),
        ),
        formats: ['es'],
      },
      rolldownOptions: {
        treeshake: false,
        output: { entryFileNames: '[name].js', chunkFileNames: 'shared/[name].js' },
      },
    },
  });
  const [{ output }] = built as [Rolldown.RolldownOutput];
  return new Map(
    output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code] as const] : [])),
  );
}
