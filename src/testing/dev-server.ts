import type { StandInSettings } from './commands.ts';
import { standInPage } from './page.ts';

// The parts of Node's and the tools' types that are used here, so that this package depends on none of their versions.

interface ServerResponse {
  setHeader(name: string, value: string): void;
  end(body: string): void;
}

interface ViteServer {
  middlewares: { use(path: string, handle: (request: unknown, response: ServerResponse) => void): void };
}

/** A plugin for Vite, Vitest and Web Test Runner. */
export interface StandInPlugin {
  name: string;
  configureServer(server: ViteServer): void;
  serve(context: { path: string }): { body: string; type: string } | undefined;
}

export interface PluginOptions extends Partial<StandInSettings> {
  /** The path of the stand-in editor. Default `/stand-in-editor/`. */
  path?: string;
}

/** Serves the stand-in editor on the origin of the tests. */
export function standInPlugin({
  path = '/stand-in-editor/',
  ...settings
}: PluginOptions = {}): StandInPlugin {
  const body = standInPage(settings);
  return {
    name: 'plugin-editor-stand-in',
    // It returns nothing, because Vite would call a function that it returns.
    configureServer: ({ middlewares }) => {
      middlewares.use(path, (_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(body);
      });
    },
    serve: (context) => (context.path === path ? { body, type: 'html' } : undefined),
  };
}
