import { pluginOfPath, requireEditorToken } from './auth.ts';
import type { ServiceInterface } from './context.ts';
import { route } from './routes.ts';

/**
 * How far a plugin is, for an editor that says so when it opens. Not of the interface. Answers
 * `{ built, deployed? }`: whether the draft as it is has a successful build, and the newest version, if there is one,
 * with whether it is of the draft as it is.
 */
export const progress: ServiceInterface = {
  routes(app, context) {
    const { drafts, builds, versions } = context.storage.tables;
    route(app, '/api/v1/progress/:identifier/:namespace/:pluginName', {
      GET: async (c) => {
        const plugin = pluginOfPath(c);
        await requireEditorToken(c, context, plugin, 'read');
        const draft = await drafts.find(plugin);
        const newest = await versions.newest(plugin);
        return c.json({
          built: draft !== undefined && (await builds.find(plugin, draft.source)) !== undefined,
          ...(newest && {
            deployed: {
              version: newest.version,
              current: draft?.digest === newest.digest,
            },
          }),
        });
      },
    });
  },
};
