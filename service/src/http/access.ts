import { pluginOfPath, requireEnvironmentToken } from './auth.ts';
import type { ServiceInterface } from './context.ts';
import { issueEditorToken } from './editor-token-issue.ts';
import { route } from './routes.ts';
import { defaultPermissions } from '../plugins/permissions.ts';

/** The access interface: an editor token for one plugin, in exchange for an environment token. */
export const access: ServiceInterface = {
  routes(app, context) {
    const { editorTokenTtl } = context;
    route(app, '/auth/v2/access/:identifier/:namespace/:ext', {
      GET: async (c) => {
        const plugin = pluginOfPath(c, 'ext');
        await requireEnvironmentToken(c, context, plugin.environment);
        const token = await issueEditorToken(
          context,
          { scope: plugin, permissions: defaultPermissions },
          editorTokenTtl,
        );
        return c.json({ token, expires_in: editorTokenTtl });
      },
    });
  },
};
