import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type MarkdownIt, extendMarkdown } from './markdown.ts';
import { excludedPages, root, sidebars, sitePage } from './pages.ts';

// The built module and not the source, because only the build puts the script of the page into it.
const testing = `${root}dist/testing.js`;
const { standInPage } = (await import(testing)) as typeof import('../../src/testing.ts');

/** The ids of headings are those of GitHub, so that a link is right in both places. */
const slugify = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** The features and languages of the service behind the site's live elements. The site serves them as a file. */
const features = {
  features: ['testing', 'stream_builds'],
  languages: [
    { identifier: 'javascript', pretty: 'JavaScript', short: 'JS' },
    { identifier: 'typescript', pretty: 'TypeScript', short: 'TS' },
    { identifier: 'assemblyscript', pretty: 'AssemblyScript', short: 'AS' },
  ],
};

/** The path of that file in the site: it is that of the builder interface's operation, below the address of the service. */
const FEATURES_PATH = 'example-service/api/v1/features';

/** Files of the site beside its pages, by their paths. */
const files: Readonly<Record<string, string>> = {
  'stand-in-editor/index.html': standInPage({ exists: true }).replace(
    '<head>',
    '<head><meta name="color-scheme" content="light dark"><style>body{font:15px system-ui}textarea{width:100%;height:8em}</style>',
  ),
  'LICENSE.txt': readFileSync(join(root, 'LICENSE'), 'utf8'),
  [FEATURES_PATH]: JSON.stringify(features),
};

interface Server {
  middlewares: {
    use(
      handle: (request: { url?: string }, response: { end(body: string): void }, next: () => void) => void,
    ): void;
  };
}

/** The settings of VitePress. */
export default {
  title: 'plugin-editor',
  description: 'A plugin editor for your users, in your web app',
  srcDir: root,
  srcExclude: excludedPages,
  rewrites: (path: string) => sitePage(path) ?? path,
  cacheDir: join(root, 'node_modules/.cache/plugin-editor/site'),
  outDir: join(root, 'tools/site/dist'),
  lastUpdated: false,
  // The addresses of the local service, which runs on the reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    config: (md: MarkdownIt) => extendMarkdown(md),
    anchor: { slugify },
    // Braces in a page are text, as on GitHub.
    attrs: { disable: true },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: {
    // The one at the root builds the launcher.
    configFile: false,
    // The only files that the development server may serve: none of the repository's others, and never the data of the service.
    server: {
      fs: {
        allow: [
          'docs',
          'src',
          'tools/site',
          'node_modules',
          'test/docs',
          'test/bench',
          'editor/README.md',
        ].map((path) => join(root, path)),
      },
    },
    plugins: [
      {
        name: 'plugin-editor-live-elements',
        configureServer({ middlewares }: Server) {
          middlewares.use(({ url = '' }, response, next) => {
            const path = url.slice(1).split('?')[0] ?? '';
            const body = files[path] ?? files[`${path}index.html`];
            if (body === undefined) next();
            else response.end(body);
          });
        },
      },
    ],
  },
  buildEnd({ outDir }: { outDir: string }) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(outDir, path)), { recursive: true });
      writeFileSync(join(outDir, path), text);
    }
    // The pages as they are written, which is where llms.txt leads.
    for (const path of ['docs', 'README.md', 'llms.txt'])
      cpSync(join(root, path), join(outDir, path), { recursive: true });
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start/' },
      { text: 'Guides', link: '/guides/' },
      { text: 'Service', link: '/service/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Security', link: '/security/' },
      { text: 'Contribute', link: '/contribute/' },
    ],
    sidebar: sidebars(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // Somebody who searches does not look for what an older release did.
        _render: (
          text: string,
          env: { relativePath: string },
          md: { render(text: string, env: unknown): string },
        ) => (env.relativePath === 'CHANGELOG.md' ? '' : md.render(text, env)),
      },
    },
  },
};
