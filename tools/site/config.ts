import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Where the built editor is. */
const editor = `${root}service/dist/editor/`;

/** Files of the site beside its pages, by their paths. */
const files: Readonly<Record<string, string | Buffer>> = {
  // The editor of the front page, which a service worker answers from a recording.
  ...Object.fromEntries(
    globSync('**/*.{css,js,svg,txt,woff2}', { cwd: editor }).map((path) => [
      `try/editor/${path}`,
      readFileSync(editor + path),
    ]),
  ),
  'try/editor/index.html': readFileSync(`${editor}index.html`, 'utf8').replace('__ADDRESS_TOKENS__', 'off'),
  'try/service-worker.js': readFileSync(`${root}tools/site/try/service-worker.js`),
  'try/recording.json': readFileSync(`${root}tools/site/try/recording.json`),
  'icon.svg': readFileSync(`${root}editor/icon.svg`),
  'stand-in-editor/index.html': standInPage({ exists: true }).replace(
    '<head>',
    '<head><meta name="color-scheme" content="light dark"><style>body{font:15px system-ui}textarea{width:100%;height:8em}</style>',
  ),
  'LICENSE.txt': readFileSync(join(root, 'LICENSE'), 'utf8'),
  [FEATURES_PATH]: JSON.stringify(features),
};

/** The content types of those files, which browsers demand of scripts and styles. */
const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  json: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

interface DevResponse {
  setHeader(name: string, value: string): void;
  end(body: string | Buffer): void;
}

interface Server {
  middlewares: {
    use(handle: (request: { url?: string }, response: DevResponse, next: () => void) => void): void;
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
  // The base of the site is only known to VitePress, which adds it to the addresses of the theme but not to these. The head is not
  // transformed by `npm run docs`, but pages are.
  transformPageData(
    { frontmatter }: { frontmatter: { head?: unknown[] } },
    { siteConfig }: { siteConfig: { site: { base: string } } },
  ) {
    const icon = ['link', { rel: 'icon', href: `${siteConfig.site.base}icon.svg`, type: 'image/svg+xml' }];
    frontmatter.head = [...(frontmatter.head ?? []), icon];
  },
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
        // VitePress names what Vite is to bundle as dependencies of `vitepress`, for which Vite looks beside the pages.
        configResolved({ optimizeDeps }: { optimizeDeps: { include?: string[] } }) {
          optimizeDeps.include = (optimizeDeps.include ?? []).map((id) =>
            id.replace(/^vitepress(?= > )/, '../tools/site/node_modules/vitepress'),
          );
        },
        configureServer({ middlewares }: Server) {
          middlewares.use(({ url = '' }, response, next) => {
            const path = url.slice(1).split('?')[0] ?? '';
            const found = files[path] === undefined ? `${path}index.html` : path;
            const body = files[found];
            if (body === undefined) return next();
            const type = contentTypes[found.split('.').at(-1) ?? ''];
            if (type !== undefined) response.setHeader('content-type', type);
            response.end(body);
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
    logo: { src: '/icon.svg', alt: '' },
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
