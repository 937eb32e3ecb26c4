import { pluginOfPath, requireEditorToken } from './auth.ts';
import { builtDraft } from './built-draft.ts';
import type { ServiceInterface } from './context.ts';
import { route } from './routes.ts';

/** The builder interface's deploys: the built draft becomes the plugin's next version, for good. */
export const deploy: ServiceInterface = {
  routes(app, context) {
    const { store, now } = context;
    route(app, '/api/v1/draft/:identifier/:namespace/:pluginName/promote', {
      POST: (c) => {
        const plugin = pluginOfPath(c);
        requireEditorToken(c, context, plugin);
        const version = store.transaction(() => {
          const { source, program } = builtDraft(store, plugin);
          return store.versions.add(plugin, source, program, now());
        });
        return c.json({ version });
      },
    });
  },
};
