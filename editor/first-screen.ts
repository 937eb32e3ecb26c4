import { fileURLToPath } from 'node:url';
import type { Plugin, Rolldown } from 'vite';

/**
 * Packs what the editor needs until a draft can be edited into few files, and names them all in the page, so that a browser
 * asks for all of them at once: on a slow line, a file that is only found in another one costs a round trip of its own.
 * They are five scripts and a style sheet, because with HTTP/1.1 a browser has six connections.
 *
 * - `loader` sees to it that the others come.
 * - `main` greets the launcher and asks for the draft, which must not wait for the rest.
 * - `page` is the editor, without CodeMirror.
 * - `view` and `text` are CodeMirror. They are two files because connections are slow at their start, so that two of them
 *   carry more than one; and they stay the same, and in caches, when the editor itself changes.
 *
 * Everything else is loaded later, and how that is packed is left to the bundler.
 */
export function firstScreen(): Plugin {
  return {
    name: 'first-screen',
    config: () => ({
      build: {
        rolldownOptions: {
          input: { index: path('index.html'), loader: path('src/loader.ts'), page: path('src/page.ts') },
          // An entry may export more than its source does: what others need of it.
          preserveEntrySignatures: 'allow-extension',
          output: {
            codeSplitting: {
              // The name decides about each module alone.
              includeDependenciesRecursively: false,
              groups: [{ name: chunkNameOf }],
            },
          },
        },
      },
    }),
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const address = (name: string) => {
          const chunk = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === name);
          if (!chunk) throw new Error(`The build made no chunk "${name}".`);
          return `/editor/${chunk.fileName}`;
        };
        const preload = (name: string) => `<link rel="modulepreload" crossorigin href="${address(name)}" />`;
        const script = (name: string) => `<script type="module" crossorigin src="${address(name)}"></script>`;
        // With HTTP/1.1 the first gets the connection that the page itself came by, and so a head start: the largest.
        const ahead = [preload('view'), preload('text'), script('loader')].join('\n    ');
        return (
          html
            // The bundler names some of them too, after its own script.
            .replace(/\n *<link rel="modulepreload"[^>]*>/g, '')
            .replace('<!-- loaded-ahead -->', ahead)
            .replace('</head>', `  ${script('page')}\n  </head>`)
        );
      },
    },
  };
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const MAIN = /\/editor\/src\/main\.ts$/;
const PAGE = /\/editor\/src\/page\.ts$/;
const VIEW =
  /\/node_modules\/(?:@codemirror\/(?:state|view)|style-mod|crelt|w3c-keyname|@marijn\/find-cluster-break)\//;
const TEXT = /\/node_modules\/(?:@codemirror|@lezer)\//;

/** Names the chunk of a module; `null` leaves it to the bundler. */
function chunkNameOf(id: string, context: Rolldown.ChunkingContext): string | null {
  /** Whether one that is `wanted` needs the module at once, by itself or by others. */
  const isNeededBy = (wanted: RegExp) => {
    const seen = new Set([id]);
    for (const one of seen) {
      if (wanted.test(one)) return true;
      for (const importer of context.getModuleInfo(one)?.importers ?? []) seen.add(importer);
    }
    return false;
  };
  if (isNeededBy(MAIN)) return 'main';
  if (!isNeededBy(PAGE)) return null;
  if (VIEW.test(id)) return 'view';
  return TEXT.test(id) ? 'text' : 'page';
}
